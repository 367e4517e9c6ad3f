package family

import (
	"regexp"
	"strings"
)

// difference takes off what two texts begin and end with alike, and gives what is left of the second: no mark is cut.
func difference(a, b string) string {
	from := commonPrefix(a, b)
	to := len(b) - commonSuffix(a[from:], b[from:])
	if i := openMark(b[:from]); i >= 0 {
		from = i
	}
	if openMark(b[from:to]) >= 0 {
		to += strings.IndexByte(b[to:], '>') + 1
	}
	return b[from:to]
}

// openMark is where the mark begins in whose middle a text ends, -1 when it ends in none.
func openMark(text string) int {
	i := strings.LastIndexByte(text, '<')
	if i < 0 || strings.ContainsAny(text[i:], "> \n") {
		return -1
	}
	return i
}

func commonPrefix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// insertion is what longer has more than shorter. Where it could begin at several places, it begins with a mark.
func insertion(shorter, longer string) string {
	from := commonPrefix(shorter, longer)
	to := len(longer) - commonSuffix(shorter[from:], longer[from:])
	for from > 0 && !startsMark(longer[from]) && longer[from-1] == longer[to-1] {
		from, to = from-1, to-1
	}
	return longer[from:to]
}

func startsMark(c byte) bool { return c == '<' || c == '[' }

// opener is the part that a and b both end with, from the first mark in it on; all of a when b ends with a.
func opener(a, b string) string {
	n := commonSuffix(a, b)
	if n == len(a) {
		return a
	}
	tail := a[len(a)-n:]
	if i := strings.IndexAny(tail, "<["); i >= 0 {
		return tail[i:]
	}
	return ""
}

// shared is what a and b both begin with: whole marks, without the newlines behind them.
func shared(a, b string) string {
	s := a[:commonPrefix(a, b)]
	if i := strings.LastIndexByte(s, '<'); i >= 0 && !strings.Contains(s[i:], ">") {
		s = s[:i]
	}
	return strings.TrimRight(s, "\n")
}

// aToken is a mark as turns end with.
var aToken = regexp.MustCompile(`^\s*(<[^<>\s]+>|\[/?[A-Z_]+\])`)

// token is the mark that a text begins with, or "".
func token(text string) string {
	if m := aToken.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
