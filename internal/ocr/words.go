package ocr

import (
	"compress/gzip"
	_ "embed" // for the lists of words
	"io"
	"strings"
	"sync"
)

// dictionary is a set of katakana words.
type dictionary map[string]struct{}

// has reports whether a word is in the dictionary.
func (d dictionary) has(word string) bool {
	_, ok := d[word]
	return ok
}

// longestWord is the length of the longest word that is looked up, in characters. A longer word
// consists of shorter ones.
const longestWord = 20

// extracted has the katakana words of the IPA dictionary, compressed; dictionary/main.go makes it,
// and NOTICE has its licence.
//
//go:embed words.txt.gz
var extracted string

// own has words that the dictionary, which is from 2007, lacks.
//
//go:embed own.txt
var own string

// words returns the dictionary. It is decompressed at the first call, in some milliseconds, because
// few programs that offer the tool ever call it. A map of 17,000 short strings takes about a
// megabyte. The dictionary with its grammar, as morphological analysers load it, would take 93 and
// half a second, although only the words are needed.
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
