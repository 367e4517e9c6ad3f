package adapters

import (
	"strings"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
)

// maxStopped bounds, in bytes, the arguments for which it is checked whether they were cut.
const maxStopped = 1 << 16

// stopsInside reports whether the arguments that begin at position from have no error up to the end
// of the reply, and the reply stops inside a string or before a value. Such arguments were cut,
// whatever finish reason the server gives. It returns false if the text contains the closing tag of
// the call, or is too long to search.
//
//	{"path": "src/[id]                     cut: the text has no error
//	{"path": "src/a.go}}</tool_call>       not cut: a quote is missing before the closing tag
func (ar *arguments) stopsInside(from int) bool {
	if from < ar.Base || ar.Pos-from > maxStopped {
		return false
	}
	n := 0
	for n < maxStopped && ar.At(n) >= 0 {
		n++
	}
	if ar.At(n) >= 0 {
		return false
	}
	text := string(ar.Slice(from, ar.Pos+n))
	for _, l := range ar.trial.closing.Close {
		if closer := l.Key(); len(closer) > 1 && strings.Contains(text, closer) {
			return false
		}
	}
	return unfinished(text, lenient.DelimsOf(ar.trial.closing.Family.Quotes))
}

// unfinished reports whether a text is correct notation that stops inside a string or a word, where
// a member or an element is due, or after a key. It returns false if only closing brackets are
// missing, because models that stop by themselves forget those.
func unfinished(text string, quotes []lenient.Delim) bool {
	s := stopping{last: '{'}
	for i := 0; i < len(text); {
		c := text[i]
		open, closer, raw := quoteAt(text[i:], quotes)
		switch {
		case open != "" && strings.IndexByte("{[(,:=", s.last) < 0:
			return false // two strings, or a word and one
		case open != "":
			n := stringLen(text[i+len(open):], closer, raw)
			if n < 0 {
				return true
			}
			s.last, i = '"', i+len(open)+n
		case scan.IsSpace(int(c)):
			i++
		case s.sign(c):
			if i++; s.over {
				return false
			}
		case s.last == '"' || scan.IsCloser(int(s.last)):
			return false // something after a value
		default:
			s.last, i = 'a', i+1
		}
	}
	return strings.IndexByte("{[(,:=", s.last) >= 0 || s.inKey() || text != "" && s.last == 'a' &&
		!scan.IsSpace(int(text[len(text)-1]))
}

// stopping is what is known after reading the first part of some arguments: the last bracket,
// comma, colon or equals sign, the open brackets, and whether a value of the innermost object has
// begun.
type stopping struct {
	last  byte
	open  []byte
	value bool
	over  bool // every bracket that was open has been closed
}

// sign updates the state if the byte c is a bracket, a comma, a colon or an equals sign, and
// reports whether it is one.
func (s *stopping) sign(c byte) bool {
	switch {
	case strings.IndexByte("{[(", c) >= 0:
		s.open, s.value = append(s.open, c), false
	case scan.IsCloser(int(c)):
		s.open, s.value = s.open[:max(len(s.open)-1, 0)], true
		s.over = len(s.open) == 0
	case c == ',':
		s.value = false
	case c == ':' || c == '=':
		s.value = true
	default:
		return false
	}
	s.last = c
	return true
}

// inKey reports whether the text stops in or after the key of a member, before its value.
func (s *stopping) inKey() bool {
	return len(s.open) > 0 && s.open[len(s.open)-1] == '{' && !s.value
}

// quoteAt returns the quote with which a text begins, the quote that ends its string, and whether a
// backslash in the string is data. It returns "" for open if the text does not begin with a quote.
func quoteAt(text string, quotes []lenient.Delim) (open, closer string, raw bool) {
	for _, q := range quotes {
		if strings.HasPrefix(text, q.Open) {
			open, closer, raw = q.Open, q.Close, q.Raw
		}
	}
	if c := text[:1]; open == "" && (c == `"` || c == "'" && quotes == nil) {
		open, closer = c, c
	}
	return open, closer, raw
}

// stringLen returns how many bytes of a text belong to a string that has been opened, including the
// closer, or -1 if the string is not closed.
func stringLen(text, closer string, raw bool) int {
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], closer):
			return i + len(closer)
		case text[i] == '\\' && !raw:
			i++
		}
	}
	return -1
}
