package claim

import (
	_ "embed"
	"strings"
	"unicode"
)

// words holds the words of a kind in words.txt.
type words struct {
	whole  map[string]bool // whole words
	inside []string        // words in scripts without blanks between words
}

//go:embed words.txt
var lists string

// The kinds of words; words.txt explains them.
var (
	labels  = listed("label")
	reports = listed("report")
)

// listed returns the words of a kind.
func listed(kind string) words {
	w := words{whole: map[string]bool{}}
	for line := range strings.Lines(lists) {
		rest, ok := strings.CutPrefix(line, kind+" ")
		if !ok {
			continue
		}
		for word := range strings.SplitSeq(strings.TrimSpace(rest), ", ") {
			if strings.ContainsFunc(word, glued) {
				w.inside = append(w.inside, word)
			} else {
				w.whole[word] = true
			}
		}
	}
	return w
}

// glued reports whether a letter is of a script without blanks between words, or with endings
// attached to words.
func glued(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// in reports whether one of the words occurs in a text.
func (w words) in(text string) bool {
	text = strings.ToLower(text)
	for _, word := range w.inside {
		if strings.Contains(text, word) {
			return true
		}
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return !isWord(r) && r != '\'' && r != '’'
	}) {
		if w.whole[word] {
			return true
		}
	}
	return false
}
