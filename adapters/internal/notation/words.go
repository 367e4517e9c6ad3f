package notation

import (
	_ "embed" // the word lists
	"strings"
	"unicode"
)

//go:embed words.txt
var wordLists string

// role is what a word may be in a notation.
type role uint8

// The roles, one bit each.
const (
	structural role = 1 << iota // it names a call or a part of one
	valueWord                   // it may stand between a parameter and its value
	endWord                     // it may end a call
	shownWord                   // it makes an example or a record of the text
	linkWord                    // it stands between two parts, and begins nothing
)

// roles holds the roles of the words in words.txt.
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

// roleOf returns the roles of a word. A word of several parts, such as TOOL_CALL or toolCall, has
// the roles that all of its parts have.
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

// partsOf returns the parts of a word in small letters: those between signs, and those that begin
// with a capital behind a small letter.
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

// fold returns a word in small letters, without the signs between its parts.
func fold(word string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(word))
}
