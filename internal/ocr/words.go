package ocr

import (
	"compress/gzip"
	_ "embed" // for the lists of words
	"io"
	"strings"
	"sync"
)

// dictionary is a set of words in katakana.
type dictionary map[string]struct{}

// has reports whether a word is in it.
func (d dictionary) has(word string) bool {
	_, ok := d[word]
	return ok
}

// longestWord is the longest word that is looked for, in characters. A longer one is made of
// shorter ones.
const longestWord = 20

// extracted are the katakana words of the IPA dictionary, made by dictionary/main.go; NOTICE has
// its licence.
//
//go:embed words.txt.gz
var extracted string

// own are words that the dictionary, which is of 2007, does not have.
//
//go:embed own.txt
var own string

// words is the dictionary. It is read at the first use, in some milliseconds: few programs that
// offer the tool ever call it. A map of 17,000 short strings takes about a megabyte; the dictionary
// with its grammar, as morphological analysers load it, takes 93 and half a second, and the rule
// needs nothing but the words.
var words = sync.OnceValue(func() dictionary {
	d := make(dictionary, 20_000)
	if z, err := gzip.NewReader(strings.NewReader(extracted)); err == nil {
		text, _ := io.ReadAll(z) // a test holds that the file can be read
		for word := range strings.FieldsSeq(string(text)) {
			d[word] = struct{}{}
		}
	}
	for line := range strings.Lines(own) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			d[word] = struct{}{}
		}
	}
	return d
})
