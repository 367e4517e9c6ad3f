// Command dictionary writes the katakana words of the IPA dictionary, which package ocr carries:
// "go run ." in this folder.
//
// It is a module of its own, so that the program does not depend on the 12 MB from which it takes
// 67 KB.
package main

import (
	"bytes"
	"compress/gzip"
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/ikawaha/kagome-dict/ipa"
)

// baseForm is the index of the column that holds a word as dictionaries write it. The columns
// before it describe the inflection.
const baseForm = 2

func main() {
	seen := map[string]bool{}
	for _, row := range ipa.Dict().Contents {
		if len(row) > baseForm && isKatakana(row[baseForm]) {
			seen[row[baseForm]] = true
		}
	}
	words := slices.Sorted(maps.Keys(seen)) // words that begin alike compress well side by side
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		log.Fatal(err)
	}
	// A buffer returns no errors, and Close writes the rest.
	_, _ = z.Write([]byte(strings.Join(words, "\n")))
	if err := z.Close(); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("../words.txt.gz", b.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
	log.Printf("%d words, %d bytes", len(words), b.Len())
}

// isKatakana reports whether a word is written in katakana alone.
func isKatakana(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'ァ' || r > 'ヺ') && r != 'ー'
	})
}
