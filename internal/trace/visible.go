package trace

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// piece is a part of a text. Class is the style in which the page shows white space and invisible
// characters, and is empty for ordinary text.
type piece struct{ Text, Class string }

// visible splits a text into pieces, so that each has one style on the page. Spaces, tabs and
// newlines stay, so that the text can be copied from the page. Other blanks, control characters and
// direction marks are replaced with their numbers, because a no-break space or a zero-width mark
// can break a call and is not visible on a page.
func visible(s string) (all []piece) {
	from, class := 0, ""
	for i, r := range s {
		c := classOf(r)
		if i > from && (c != class || class == "n" || class == "t" || class == "u") {
			all = append(all, pieceOf(s[from:i], class))
			from = i
		}
		class = c
	}
	if from < len(s) {
		all = append(all, pieceOf(s[from:], class))
	}
	return all
}

// classOf returns the CSS class with which view.html shows a character, or "" for an ordinary one.
// The category Cf has zero-width and bidirectional marks, and Co has characters of private use.
func classOf(r rune) string {
	switch {
	case r == ' ':
		return "s"
	case r == '\t':
		return "t"
	case r == '\n':
		return "n"
	case r == utf8.RuneError, unicode.IsControl(r), unicode.IsSpace(r),
		unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co):
		return "u"
	}
	return ""
}

// pieceOf returns a piece of text with the style (class) in which the page shows it. An invisible
// character, of class "u", is replaced by its number, such as [U+200B].
func pieceOf(text, class string) piece {
	if class == "u" {
		r, _ := utf8.DecodeRuneInString(text)
		text = fmt.Sprintf("[U+%04X]", r)
	}
	return piece{text, class}
}
