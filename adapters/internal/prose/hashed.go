package prose

import (
	_ "embed" // the weights
	"hash/fnv"
	"math"
	"strings"
	"unicode/utf8"
)

// Buckets is how many hashed weights there are. What has the same hash shares a weight.
const Buckets = 1 << bucketBits

const bucketBits = 18

// The bounds of hashed texts: how many characters a gram has, how many characters of the text
// before a call are its end, and how many bytes of the text after it and of the user's message are
// read.
const (
	maxGram     = 5
	maxEnd      = 40
	maxBehind   = 120
	maxQuestion = 200
)

// hashedWeights has a weight in each byte, which is signed and to be multiplied by hashedScale.
//
//go:embed hashed.bin
var hashedWeights string

// hashedScale is a line of weights.txt, because it is made together with the weights.
var hashedScale = weights["hashed"]

// hash yields a weight for each gram of the texts, and for each pair of the features, and how much
// it counts. A gram is a run of up to maxGram characters in a word with the blanks around it. So
// the endings of words, and words of languages that have no lists, have weights as well.
func hash(front, behind, question string, features []string, yield func(int, float64) bool) {
	front = oneDigit(front)
	end := []rune(front)
	end = end[max(0, len(end)-maxEnd):]
	for part, text := range []string{front, string(end) + "$", oneDigit(behind),
		oneDigit(question)} {
		all := grams(text)
		for _, gram := range all {
			if !yield(bucketOf(string(rune('0'+part)), gram), 1/math.Sqrt(float64(len(all)))) {
				return
			}
		}
	}
	// a pair counts about as much as a feature, whatever the number of pairs
	value := 2 * math.Sqrt2 / float64(len(features))
	for i, a := range features {
		for _, b := range features[:i] {
			if !yield(bucketOf(a, b), value) {
				return
			}
		}
	}
}

// bucketOf returns the number of the weight for a gram in a part of the texts, or for a pair.
func bucketOf(a, b string) int {
	hash := fnv.New32a()
	hash.Write([]byte(a))
	hash.Write([]byte{0})
	hash.Write([]byte(b))
	return int(hash.Sum32() >> (32 - bucketBits))
}

// grams returns the grams of a text, see [hash].
func grams(text string) (all []string) {
	for word := range strings.FieldsSeq(text) {
		word = " " + word + " "
		for from := range word {
			to := from
			for n := 0; n < maxGram && to < len(word); n++ {
				_, size := utf8.DecodeRuneInString(word[to:])
				to += size
				all = append(all, word[from:to])
			}
		}
	}
	return all
}

// oneDigit returns a text with 0 in place of each number.
func oneDigit(text string) string {
	var b strings.Builder
	last := ' '
	for _, r := range text {
		if '0' <= r && r <= '9' {
			r = '0'
		}
		if r != '0' || last != '0' {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}
