package notation

import (
	_ "embed" // the word lists
	"slices"
	"strings"
	"unicode"
)

//go:embed words.txt
var wordLists string

// role says what a word can mean in a notation, such as the word "value" before a value. It is a
// set, with one bit for each meaning.
type role uint8

// The roles, one bit each.
const (
	structural role = 1 << iota // the word names a call or a part of one
	valueWord                   // it may come between a parameter and its value
	endWord                     // it may end a call
	shownWord                   // it shows that the text is an example or a record
	linkWord                    // it comes between two parts, and never first
)

// roles maps words to their roles, as they are in words.txt.
var roles = func() map[string]role {
	all := map[string]role{}
	for line := range strings.Lines(wordLists) {
		kind, list, _ := strings.Cut(strings.TrimSpace(line), " ")
		is := map[string]role{"call": structural, "value": valueWord | structural,
			"link": structural | linkWord, "end": endWord, "shown": shownWord}[kind]
		if is == 0 {
			continue
		}
		for word := range strings.SplitSeq(list, ", ") {
			all[word] |= is
		}
	}
	return all
}()

// roleOf returns what a word can mean in a notation, such as the word "value" before a value, or 0
// if it has no meaning in any. A word of several parts, such as TOOL_CALL or toolCall, has the
// roles that its parts have in common.
func roleOf(word string) role {
	if r := roles[strings.ToLower(word)]; r != 0 {
		return r
	}
	all, n := structural|valueWord|endWord, 0
	for _, part := range partsOf(word) {
		r := roles[part]
		if r&shownWord != 0 {
			return shownWord
		}
		if r == endWord && n > 0 || n > 0 && all == endWord {
			r, all = endWord|structural, endWord|structural // END_CALL, CALL_END
		}
		all &= r
		n++
	}
	if n < 2 {
		return 0
	}
	return all
}

// partsOf returns the parts of a word in small letters. A part ends before a sign, and before a
// capital letter that follows a small one.
func partsOf(word string) (parts []string) {
	from, before := 0, rune(0)
	add := func(to int) {
		if to > from {
			parts = append(parts, strings.ToLower(word[from:to]))
		}
	}
	for i, r := range word {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			add(i)
			from = i + len(string(r))
		case unicode.IsUpper(r) && unicode.IsLower(before):
			add(i)
			from = i
		}
		before = r
	}
	add(len(word))
	return parts
}

// fold returns a word in small letters, without underscores, hyphens and dots.
func fold(word string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(word))
}

// hasWords reports whether a text has words that are not part of the notation. The words of
// notations, such as "tool", are in words.txt.
func hasWords(text string) bool {
	return slices.ContainsFunc(lex(text), func(t token) bool {
		return (t.kind == aWord || t.kind == aText) && roleOf(t.inner) == 0
	})
}
