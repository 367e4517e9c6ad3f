package find

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
)

//go:embed concepts.txt
var conceptText string

// concept is one thing that tools do, with the words that tools use for it and the words that
// people use for it.
type concept struct {
	// separated by blanks
	words string
	said  []string
}

// concepts returns the list in concepts.txt. It is read once; lines that are comments or have
// another form are skipped.
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

// meant finds the words in a text that people use for a concept, and returns the words that tools
// use for the same, each with a blank before it. It returns "" if there are none. For example, it
// returns " weather" for a text with "umbrella".
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

// says reports whether a text contains the phrase said, which is a word or several words. The text
// must be in lower case, with a blank before and after each word. A * at the end of the phrase
// matches the rest of a word. Chinese, Japanese and Korean words match anywhere, since those
// scripts do not separate words as English does.
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
