package ocr

import (
	"slices"
	"strings"
)

// hyphens are the characters that OCR may write in place of a long-vowel mark.
const hyphens = "-‐‑–—−－"

// isKatakana reports whether a character is full-width katakana that can be part of a word.
func isKatakana(r rune) bool { return r >= 'ァ' && r <= 'ヺ' }

// isLatin reports whether a character is a letter or a digit of ASCII, or its full-width form.
func isLatin(r rune) bool {
	if r >= '！' && r <= '～' { // full-width forms stand in the order of ASCII
		r -= '！' - '!'
	}
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// isCandidate reports whether the character at i is a hyphen that could be a long-vowel mark. It
// must directly follow katakana that can be lengthened, and must not precede a Latin letter or
// digit, as in プラン-A.
func isCandidate(text []rune, i int) bool {
	if i == 0 || !strings.ContainsRune(hyphens, text[i]) {
		return false
	}
	if before := text[i-1]; !isKatakana(before) || before == 'ッ' {
		return false
	}
	return i+1 == len(text) || !isLatin(text[i+1])
}

// run is a sequence of katakana with at least one candidate in it (see isCandidate), such as
// マネ-ジャ-. It may consist of several words.
type run struct {
	at int // the offset of its first character in the text
	// the characters with each candidate replaced by a long-vowel mark, as in マネージャー; each has 3
	// bytes
	text    string
	n       int   // the number of characters
	hyphens []int // the offsets of the candidates in the run, in characters
}

// runsOf returns all runs of a text.
func runsOf(text []rune) (all []run) {
	for i := 0; i < len(text); {
		if !isKatakana(text[i]) {
			i++
			continue
		}
		r := run{at: i}
		for ; i < len(text); i++ {
			if isCandidate(text, i) {
				r.hyphens = append(r.hyphens, i-r.at)
			} else if !isKatakana(text[i]) && text[i] != longMark {
				break
			}
		}
		if len(r.hyphens) == 0 {
			continue
		}
		letters := slices.Clone(text[r.at:i])
		for _, h := range r.hyphens {
			letters[h] = longMark
		}
		r.text, r.n = string(letters), len(letters)
		all = append(all, r)
	}
	return all
}

// part returns the run's characters from i to j.
func (r *run) part(i, j int) string { return r.text[3*i : 3*j] }

// HasCandidate reports whether a text contains a hyphen that could be a long-vowel mark.
func HasCandidate(text string) bool {
	letters, _ := wide([]rune(text))
	return len(runsOf(letters)) > 0
}
