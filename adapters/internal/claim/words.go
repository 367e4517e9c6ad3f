package claim

import (
	_ "embed"
	"strings"
	"unicode"
)

// words are word lists by kind, as words.txt has them.
type words struct {
	whole  map[string]bool // words of their own
	inside []string        // of scripts that glue words together
}

//go:embed words.txt
var lists string

// The kinds of words. See words.txt for what they mean.
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

// glued reports whether a letter is of a script whose words are not told apart by blanks, or have
// endings glued to them.
func glued(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// in reports whether one of the words stands in a text.
func (w words) in(text string) bool {
	text = strings.ToLower(text)
	for _, word := range w.inside {
		if strings.Contains(text, word) {
			return true
		}
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !isWord(r) && r != '\'' && r != '’' }) {
		if w.whole[word] {
			return true
		}
	}
	return false
}
