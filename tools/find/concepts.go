package find

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
)

//go:embed concepts.txt
var conceptText string

// concept pairs the words that tools use for something with the words that people use for the same.
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

// meant returns the words that tools use for the concepts in text that are named in other words,
// each with a blank before it. It returns "" if there are none. For example, text may say
// "umbrella" where a tool says "weather".
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

// says reports whether text contains the word or words in said. text is in lower case with a blank
// before and after each word. A final * in said matches the rest of a word. Chinese, Japanese and
// Korean words match anywhere, since those scripts do not separate words as English does.
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
