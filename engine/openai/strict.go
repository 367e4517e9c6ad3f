package openai

import "strings"

// maxNesting bounds how deep arguments may nest, as it does for calls in text.
const maxNesting = 512

// strict follows one JSON object while it arrives and says how far it is one. The zero value awaits the object.
type strict struct {
	stack []byte // open containers, { or [
	state state
	rest  string // what is left of the word being read
	hex   int    // digits left of a \u escape
}

// state is what may come next.
type state uint8

const (
	wantObject    state = iota // {
	wantValue                  // a value
	wantItem                   // a value or ]
	wantKey                    // a key
	wantFirst                  // a key or }
	wantColon                  // :
	wantMore                   // a comma or what closes the container
	inString                   // the rest of a value
	inStringAfter              // the byte after a backslash
	inKey                      // the rest of a key
	inKeyAfter                 // the byte after a backslash
	inWord                     // the rest of true, false or null
	sign                       // the first digit of a number
	zero                       // what may follow a leading 0
	digits                     // more digits, or a fraction
	point                      // the first digit of a fraction
	fraction                   // more digits, or an exponent
	exponent                   // the exponent's sign or first digit
	expSign                    // the exponent's first digit
	expDigits                  // more digits
	complete                   // nothing but white space
	wrong                      // it is no JSON object
)

// add takes bytes until the object is complete or wrong. It answers how many were taken: those up to the closing brace,
// or those before the wrong one.
func (s *strict) add(text string) int {
	for i := 0; i < len(text); i++ {
		if s.state == complete {
			return i
		}
		if s.state == inString {
			i += plain(text[i:])
			if i == len(text) {
				break
			}
		}
		if s.state = s.after(text[i]); s.state == wrong {
			return i
		}
	}
	return len(text)
}

// plain counts the bytes of a string that mean only themselves.
func plain(text string) int {
	n := 0
	for n < len(text) && text[n] >= ' ' && text[n] != '"' && text[n] != '\\' {
		n++
	}
	return n
}

// after is the state behind c.
func (s *strict) after(c byte) state {
	switch {
	case s.state >= inString && s.state <= inKeyAfter:
		return s.quoted(c)
	case s.state == inWord:
		return s.word(c)
	case s.state >= sign && s.state <= expDigits:
		if next := number(s.state, c); next != wrong {
			return next
		}
		if s.state != zero && s.state != digits && s.state != fraction && s.state != expDigits {
			return wrong
		}
		s.state = wantMore // the number ended in front of c
	}
	if c == ' ' || c == '\n' || c == '\t' || c == '\r' {
		return s.state
	}
	return s.structure(c)
}

// structure is the state behind a byte between strings, words and numbers.
func (s *strict) structure(c byte) state {
	switch s.state {
	case wantObject:
		if c == '{' {
			return s.value(c)
		}
	case wantFirst, wantKey:
		if c == '"' {
			return inKey
		}
		if c == '}' && s.state == wantFirst {
			return s.close()
		}
	case wantColon:
		if c == ':' {
			return wantValue
		}
	case wantItem, wantValue:
		if c == ']' && s.state == wantItem {
			return s.close()
		}
		return s.value(c)
	case wantMore:
		return s.more(c)
	}
	return wrong
}

// value is the state behind the first byte of a value.
func (s *strict) value(c byte) state {
	switch {
	case c == '{' || c == '[':
		if len(s.stack) == maxNesting {
			return wrong
		}
		s.stack = append(s.stack, c)
		if c == '{' {
			return wantFirst
		}
		return wantItem
	case c == '"':
		return inString
	case c == '-' || c >= '0' && c <= '9':
		return number(wantValue, c)
	}
	for _, w := range [...]string{"true", "false", "null"} {
		if w[0] == c {
			s.rest = w[1:]
			return inWord
		}
	}
	return wrong
}

// more is the state behind a byte that follows a value.
func (s *strict) more(c byte) state {
	object := s.stack[len(s.stack)-1] == '{'
	switch {
	case c == ',' && object:
		return wantKey
	case c == ',':
		return wantValue
	case c == '}' && object, c == ']' && !object:
		return s.close()
	}
	return wrong
}

// close leaves a container.
func (s *strict) close() state {
	s.stack = s.stack[:len(s.stack)-1]
	if len(s.stack) == 0 {
		return complete
	}
	return wantMore
}

// quoted is the state behind a byte of a string or key.
func (s *strict) quoted(c byte) state {
	switch {
	case s.state == inStringAfter || s.state == inKeyAfter:
		return s.escaped(c)
	case c == '\\':
		return s.state + 1
	case c < ' ':
		return wrong
	case c != '"':
		return s.state
	case s.state == inKey:
		return wantColon
	}
	return wantMore
}

// escaped is the state behind a byte of an escape.
func (s *strict) escaped(c byte) state {
	switch {
	case s.hex > 0 && strings.IndexByte("0123456789abcdefABCDEF", c) >= 0:
		if s.hex--; s.hex > 0 {
			return s.state
		}
	case s.hex > 0 || strings.IndexByte(`"\/bfnrtu`, c) < 0:
		return wrong
	case c == 'u':
		s.hex = 4
		return s.state
	}
	return s.state - 1
}

// word is the state behind a byte of true, false or null.
func (s *strict) word(c byte) state {
	if c != s.rest[0] {
		return wrong
	}
	if s.rest = s.rest[1:]; s.rest == "" {
		return wantMore
	}
	return inWord
}

// number is the state behind c inside a number or at its start; wrong when c is no part of it.
func number(at state, c byte) state {
	digit := c >= '0' && c <= '9'
	switch {
	case c == '-' && at == wantValue:
		return sign
	case c == '0' && (at == wantValue || at == sign):
		return zero
	case digit && (at == wantValue || at == sign || at == digits):
		return digits
	case c == '.' && (at == zero || at == digits):
		return point
	case digit && (at == point || at == fraction):
		return fraction
	case (c == 'e' || c == 'E') && (at == zero || at == digits || at == fraction):
		return exponent
	case (c == '+' || c == '-') && at == exponent:
		return expSign
	case digit && (at == exponent || at == expSign || at == expDigits):
		return expDigits
	}
	return wrong
}
