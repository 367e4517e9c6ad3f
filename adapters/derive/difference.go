package derive

import (
	"regexp"
	"strings"
	"unicode"
)

// difference takes off what two texts begin and end with alike, and gives what is left of the
// second: no mark is cut. Texts that differ by a whole mark mostly share its first and last
// letters: of <|a|> and <|b|> only "a" and "b" differ. Widened to marks it can be cut out and
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

// markStart is at, or the start of the mark in whose middle that is.
func markStart(text string, at int) int {
	at = min(at, len(text))
	if i := openMark(text[:at]); i >= 0 {
		return i
	}
	return at
}

// openMark is where the mark begins in whose middle a text ends, -1 when it ends in none.
// A "<" with a blank or a newline behind it is an operator or prose.
func openMark(text string) int {
	i := strings.LastIndexByte(text, '<')
	if i < 0 || strings.ContainsAny(text[i:], "> \n") {
		return -1
	}
	return i
}

// commonPrefix is how many bytes two texts have in common at the beginning. Cutting a letter of
// several bytes does no harm: what is taken is widened to whole marks.
func commonPrefix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// commonSuffix is the same at the end. Of texts that differ in length alone the caller takes off
// the common beginning first, or both would count the same bytes.
func commonSuffix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// opener is the part that a and b both end with, from the first mark in it on; all of a when b ends
// with a. a is what stands in front of the first of two equal things, b what stands between both:
// the opener ends both.
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

// shared is what a and b both begin with: whole marks, without the newlines behind them.
// A letter in common behind the last whole mark is chance: </arg> and the < of whatever follows.
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

// hasMark says whether a text holds any mark: words alone open nothing that could be looked for.
func hasMark(s string) bool { return anyMark.MatchString(s) }

// firstMark is the mark that a text begins with, white space in front of it and newlines behind it
// included, or "".
func firstMark(text string) string { return leadingMark.FindString(text) }

// lastMark is the mark that a text ends with, or "".
func lastMark(text string) string { return trailingMark.FindString(text) }

// trimSpaced takes a prefix off, white space in front of it too; a text without it stays.
// The white space behind the text stays: of a call it may be glue.
func trimSpaced(text, prefix string) string {
	prefix = strings.TrimSpace(prefix)
	if rest, ok := strings.CutPrefix(strings.TrimLeftFunc(text, unicode.IsSpace), prefix); ok && prefix != "" {
		return rest
	}
	return text
}
