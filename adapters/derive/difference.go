package derive

import (
	"regexp"
	"strings"
	"unicode"
)

// difference returns the part of the text b between the common beginning and the common end of the
// texts a and b. The part is widened to whole marks: of <|a|> and <|b|> only "a" and "b" differ.
func difference(a, b string) string {
	from := commonPrefix(a, b)
	to := len(b) - commonSuffix(a[from:], b[from:])
	from = markStart(b, from)
	if openMark(b[from:to]) >= 0 && !strings.HasPrefix(b[to:], "<") {
		to += strings.IndexByte(b[to:], '>') + 1
	}
	if strings.Contains(b[from:to], "<<") && strings.HasPrefix(b[to:], ">") {
		to++ // <<call>>
	}
	return b[from:to]
}

// markStart returns the start of the mark, such as <tool_call>, that contains the given offset, or
// the offset itself if it is not inside a mark.
func markStart(text string, offset int) int {
	offset = min(offset, len(text))
	if i := openMark(text[:offset]); i >= 0 {
		return i
	}
	return offset
}

// openMark returns the offset of the last "<" in a text if the mark that begins there, such as
// <tool_call>, is not complete. Otherwise it returns -1. A "<" with a blank or a newline somewhere
// after it is an operator or prose.
func openMark(text string) int {
	i := strings.LastIndexByte(text, '<')
	if i < 0 || strings.ContainsAny(text[i:], "> \n") {
		return -1
	}
	return i
}

// markEnd takes two adjacent texts, front and behind. It returns how many bytes at the start of the
// second belong to a mark that begins in the first, or 0 if the first does not end inside a mark.
// It is needed because the common end of <calls><call> and </call><call> is ><call>, and only
// <call> opens a call.
func markEnd(front, behind string) int {
	for _, signs := range [][2]string{{"<", ">"}, {"[", "]"}, {"⟪", "⟫"}, {"◁", "▷"}, {"⟦", "⟧"},
		{"«", "»"}} {
		at, end := strings.LastIndex(front, signs[0]), strings.Index(behind, signs[1])
		if at >= 0 && end >= 0 && !strings.Contains(front[at:], signs[1]) &&
			!strings.ContainsAny(front[at:]+behind[:end], " \n") &&
			!strings.Contains(behind[:end], signs[0]) {
			return end + len(signs[1])
		}
	}
	return 0
}

// commonPrefix returns how many bytes two texts have in common at the beginning. It may end inside
// a rune, since callers widen the result to whole marks.
func commonPrefix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// commonSuffix returns how many bytes two texts have in common at the end. Callers remove the
// common beginning first, so that no byte is counted in both.
func commonSuffix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// opener returns the mark that opens each of two calls or two arguments. The text a is before the
// first of them, and b is between the two. The mark is in the end that a and b have in common.
// opener returns "" if that common end has no mark, and a if it is all of a.
func opener(a, b string) string {
	n := commonSuffix(a, b)
	if n == len(a) {
		return a
	}
	tail := a[len(a)-n:]
	// the end of the mark before
	if end, start := strings.IndexByte(tail, '>'), strings.IndexByte(tail, '<'); end >= 0 &&
		end < start {
		return strings.TrimLeft(tail[end+1:], "\n")
	}
	if i := strings.IndexAny(tail, "<["); i >= 0 {
		return tail[i:]
	}
	return ""
}

// commonStart returns the common beginning of a and b, without newlines at its end and without an
// incomplete mark, such as the < with which two different marks begin.
func commonStart(a, b string) string {
	s := a[:commonPrefix(a, b)]
	if i := strings.LastIndexByte(s, '<'); i >= 0 && !strings.Contains(s[i:], ">") {
		s = s[:i]
	}
	return strings.TrimRight(s, "\n")
}

// aMark matches a word in angle brackets, or in capitals in square brackets, such as [THINK].
// ◁think▷ is Kimi's. The longest mark of a known family, one of plamo3's, has 36 bytes, so 64 is a
// safe bound.
const aMark = `(?:<[^<>\s]{1,64}>|\[/?[A-Z_ ]{2,40}\]|◁[^◁▷\s]{1,32}▷)`

var (
	anyMark     = regexp.MustCompile(aMark)
	leadingMark = regexp.MustCompile(`^\s*` + aMark + `\n*`)
	// Gemma's <|channel>thought has a word after the mark.
	trailingMark = regexp.MustCompile(`\n?` + aMark + `[a-z_]{0,16}\n*$`)
)

// hasMark reports whether a text contains a mark such as <tool_call> or [ARGS].
func hasMark(s string) bool { return anyMark.MatchString(s) }

// firstMark returns the mark, such as <tool_call>, that a text begins with, or "" if there is none.
// White space before the mark and newlines after it are included.
func firstMark(text string) string { return leadingMark.FindString(text) }

// lastMark returns the mark, such as <tool_call>, that a text ends with, or "" if there is none.
func lastMark(text string) string { return trailingMark.FindString(text) }

// trimSpaced returns a text without a prefix and the white space before the prefix. A text without
// the prefix is returned unchanged. White space after the prefix is kept, since it may belong to
// the call there.
func trimSpaced(text, prefix string) string {
	prefix = strings.TrimSpace(prefix)
	if rest, ok := strings.CutPrefix(strings.TrimLeftFunc(text, unicode.IsSpace), prefix); ok &&
		prefix != "" {
		return rest
	}
	return text
}
