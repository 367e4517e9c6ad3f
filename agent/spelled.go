package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// speller corrects names that a model has copied from results with one wrong letter. Small models
// make such mistakes in long lists, above all in languages that they do not know well.
type speller struct {
	names map[int][]string // the names in the tools' results, by their length in characters
	// other texts of the conversation; a name that occurs in them is not corrected
	known string
	note  func(string) // is called with a sentence about each correction
}

// Lengths of names that are corrected, in characters. Shorter words are too similar to each other.
const (
	leastName = 5
	mostName  = 60
)

// spellerOf returns a speller for the names in the run's results, or nil if there are none.
func spellerOf(r *run) *speller {
	s := &speller{names: map[int][]string{}, note: func(text string) {
		r.out.Warnings = append(r.out.Warnings, text)
	}}
	said, others := r.origins()
	s.known = said
	for _, o := range others {
		s.known += o.text + "\n"
	}
	for _, f := range r.facts {
		var v any
		if json.Unmarshal([]byte(f.text), &v) == nil {
			s.collect(v)
		}
	}
	if len(s.names) == 0 {
		return nil
	}
	return s
}

// collect adds to s.names the names in v, which is a result of a tool, decoded from JSON.
func (s *speller) collect(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			s.collect(member)
		}
	case []any:
		for _, item := range v {
			s.collect(item)
		}
	case string:
		n := utf8.RuneCountInString(v)
		if n >= leastName && n <= mostName && isFullName(v) && !slices.Contains(s.names[n], v) {
			s.names[n] = append(s.names[n], v)
		}
	}
}

// isFullName reports whether a text is two or more words of letters, none of which begins with a
// lower-case letter.
func isFullName(text string) bool {
	words := strings.Fields(text)
	for _, w := range words {
		first, _ := utf8.DecodeRuneInString(w)
		sign := func(c rune) bool {
			return !unicode.IsLetter(c) && !unicode.IsMark(c) && !strings.ContainsRune("'’-.", c)
		}
		if unicode.IsLower(first) || strings.ContainsFunc(w, sign) {
			return false
		}
	}
	return len(words) > 1
}

// correct returns a text with its names spelled as in the results. A name is corrected if it
// differs in one letter from exactly one name in the results, and occurs nowhere else in the
// conversation.
func (s *speller) correct(text string) string {
	chars := []rune(text)
	for at := 0; at < len(chars); at++ {
		if at > 0 && unicode.IsLetter(chars[at-1]) {
			continue
		}
		for n, names := range s.names {
			if at+n > len(chars) || at+n < len(chars) && unicode.IsLower(chars[at+n]) {
				continue
			}
			wrote := string(chars[at : at+n])
			if name := nearest(wrote, names); name != "" &&
				!strings.Contains(s.known, folded(wrote)) {
				s.note(fmt.Sprintf("the model wrote %q; a tool has spelled it %q", wrote, name))
				copy(chars[at:], []rune(name))
			}
		}
	}
	return string(chars)
}

// nearest returns the only name that differs from a text in exactly one letter. It returns "" if
// there is none or several, or if a name equals the text.
func nearest(text string, names []string) (found string) {
	for _, name := range names {
		switch differ(text, name) {
		case 0:
			return ""
		case 1:
			if found != "" {
				return ""
			}
			found = name
		}
	}
	return found
}

// differ returns the number of letters in which two texts of the same length differ. It returns 2
// for more than one, and for a difference in anything but letters, such as a blank.
func differ(a, b string) (n int) {
	others := []rune(b)
	for i, c := range []rune(a) {
		if other := others[i]; c != other {
			if n++; n > 1 || !unicode.IsLetter(c) || !unicode.IsLetter(other) {
				return 2
			}
		}
	}
	return n
}

// endsName are the characters after which a name is complete.
const endsName = ",;\n、，。"
