package claim

import (
	_ "embed"
	"strings"
	"unicode"
)

// words has words for look-ups: all that words.txt lists for one kind, such as the labels of
// results.
type words struct {
	whole  map[string]bool // words that are compared as a whole
	inside []string        // words in scripts without blanks; they may be inside others
}

//go:embed words.txt
var lists string

// The kinds of words; words.txt explains them.
var (
	labels  = listed("label")
	reports = listed("report")
)

// listed returns the words of the given kind from words.txt.
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

// glued reports whether a letter belongs to a script that writes no blanks between words, or
// attaches endings to words.
func glued(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// in reports whether one of the words occurs in a text, ignoring case.
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
