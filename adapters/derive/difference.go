package derive

import (
	"regexp"
	"strings"
	"unicode"
)

// difference removes what two texts begin and end with alike, and returns what is left of the
// second, in which no mark is cut. Texts that differ by a whole mark mostly share its first and
// last letters: of <|a|> and <|b|> only "a" and "b" differ. Widened to marks it can be cut out and
// looked at by itself.
func difference(a, b string) string {
	from := commonPrefix(a, b)
	to := len(b) - commonSuffix(a[from:], b[from:])
	from = markStart(b, from)
	if openMark(b[from:to]) >= 0 && !strings.HasPrefix(b[to:], "<") {
		to += strings.IndexByte(b[to:], '>') + 1
	}
	return b[from:to]
}

// markStart returns at, or the start of the mark in whose middle it is.
func markStart(text string, at int) int {
	at = min(at, len(text))
	if i := openMark(text[:at]); i >= 0 {
		return i
	}
	return at
}

// openMark returns where the mark begins in whose middle a text ends, or -1 when it does not end in
// a mark. A "<" with a blank or a newline after it is an operator or prose.
func openMark(text string) int {
	i := strings.LastIndexByte(text, '<')
	if i < 0 || strings.ContainsAny(text[i:], "> \n") {
		return -1
	}
	return i
}

// commonPrefix returns how many bytes two texts have in common at the beginning. Cutting a letter
// of several bytes does no harm: what is taken is widened to whole marks.
func commonPrefix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// commonSuffix returns how many bytes two texts have in common at the end. Where texts differ only
// in length the caller removes the common beginning first, or both would count the same bytes.
func commonSuffix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// opener returns the part that a and b both end with, from the first mark in it on; all of a when b
// ends with a. a is the text before the first of two equal things, b the text between both: the
// opener ends both.
func opener(a, b string) string {
	n := commonSuffix(a, b)
	if n == len(a) {
		return a
	}
	tail := a[len(a)-n:]
	if end, start := strings.IndexByte(tail, '>'), strings.IndexByte(tail, '<'); end >= 0 && end < start { // the end of the mark in front
		return strings.TrimLeft(tail[end+1:], "\n")
	}
	if i := strings.IndexAny(tail, "<["); i >= 0 {
		return tail[i:]
	}
	return ""
}

// shared returns what a and b both begin with: whole marks, without the newlines after them. A
// letter in common after the last whole mark is chance: </arg> and the < of whatever follows.
func shared(a, b string) string {
	s := a[:commonPrefix(a, b)]
	if i := strings.LastIndexByte(s, '<'); i >= 0 && !strings.Contains(s[i:], ">") {
		s = s[:i]
	}
	return strings.TrimRight(s, "\n")
}

// A mark is a word in angle brackets, or in square ones when it shouts, as [THINK] does; ◁think▷ is
// Kimi's. A longer name than 64 bytes is no mark of any known family; the longest, one of plamo3's,
// has 36 with its brackets.
const aMark = `(?:<[^<>\s]{1,64}>|\[/?[A-Z_ ]{2,40}\]|◁[^◁▷\s]{1,32}▷)`

var (
	anyMark     = regexp.MustCompile(aMark)
	leadingMark = regexp.MustCompile(`^\s*` + aMark + `\n*`)
	// Gemma's <|channel>thought opens with a word behind the mark.
	trailingMark = regexp.MustCompile(`\n?` + aMark + `[a-z_]{0,16}\n*$`)
)

// hasMark reports whether a text holds any mark: words alone open nothing that could be looked for.
func hasMark(s string) bool { return anyMark.MatchString(s) }

// firstMark returns the mark that a text begins with, including white space before it and newlines
// after it, or "".
func firstMark(text string) string { return leadingMark.FindString(text) }

// lastMark returns the mark that a text ends with, or "".
func lastMark(text string) string { return trailingMark.FindString(text) }

// trimSpaced removes a prefix, and white space before it too; a text without it stays. The white
// space after the text stays: of a call it may be glue.
func trimSpaced(text, prefix string) string {
	prefix = strings.TrimSpace(prefix)
	if rest, ok := strings.CutPrefix(strings.TrimLeftFunc(text, unicode.IsSpace), prefix); ok && prefix != "" {
		return rest
	}
	return text
}
