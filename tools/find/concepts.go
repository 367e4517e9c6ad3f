package find

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
)

//go:embed concepts.txt
var conceptText string

// concept holds the words of tools for something, and the words of people for the same.
type concept struct {
	words string
	said  []string
}

// concepts reads the list.
var concepts = sync.OnceValue(func() (all []concept) {
	for line := range strings.Lines(conceptText) {
		words, said, ok := strings.Cut(strings.TrimSpace(line), " | ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		all = append(all, concept{words, strings.Split(said, ", ")})
	}
	return all
})

// meant returns the words of tools for what a text says in other words, each with a blank before
// it.
func meant(text string) string {
	text = " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
		return !unicode.In(c, unicode.L, unicode.M, unicode.N) && c != '\'' && c != '-'
	}), " ") + " "
	var b strings.Builder
	for _, c := range concepts() {
		for _, said := range c.said {
			if says(text, said) {
				b.WriteString(" " + c.words)
				break
			}
		}
	}
	return b.String()
}

// says reports whether a text in small letters, with blanks around its words, has a word or
// several.
func says(text, said string) bool {
	if strings.ContainsFunc(said, func(c rune) bool {
		return unicode.In(c, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana)
	}) {
		return strings.Contains(text, said)
	}
	if begin, ok := strings.CutSuffix(said, "*"); ok {
		return strings.Contains(text, " "+begin)
	}
	return strings.Contains(text, " "+said+" ")
}
