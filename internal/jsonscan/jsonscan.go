// Package jsonscan reads JSON while it arrives. It finds how much of a text is the beginning of a
// JSON value, and where the value ends. It decodes nothing, and allocates only a byte for each open
// container.
//
// It is for texts that are sent before they are complete. A byte of streamed arguments may be sent
// as soon as it is known to belong to JSON, and a value that is held back for a schema must be sent
// when it is complete. encoding/json reads only complete texts, and calling it for each fragment
// would take quadratic time.
//
// For example, all 12 bytes of `{"a": 12, "b` are read, and the value is neither complete nor
// wrong. Of `{"a": 012` seven bytes are read, since no JSON number continues after a leading zero.
package jsonscan

import "strings"

// MaxDepth bounds how deep containers may nest, as package adapters does for calls in text. RFC
// 8259, section 9, lets a parser set the limit. One is needed because a model that repeats itself
// writes `[[[[[` until it is stopped.
const MaxDepth = 512

// Scanner follows one JSON value (RFC 8259) as its text arrives. The zero value is ready for the
// beginning of a value. Each byte is read once, however the text is split into fragments, and the
// text is not stored.
type Scanner struct {
	Object bool // only an object is accepted

	stack []byte // open containers, { or [
	state state
	key   bool   // the string that is being read is a key
	rest  string // the rest of the word that is being read
	hex   int    // digits that are still missing in a \u escape
}

// state says what may come next. The order of the constants matters: text and escape are inside a
// string, the states from sign to expDigits are inside a number, and from complete on nothing may
// follow.
type state uint8

const (
	value     state = iota // a value
	item                   // a value or ]
	first                  // a key or }
	key                    // a key
	colon                  // :
	more                   // a comma or the closing bracket of the container
	text                   // the rest of a string
	escape                 // the byte after a backslash in it
	word                   // the rest of true, false or null
	sign                   // the first digit of a number
	zero                   // what may follow a leading 0
	digits                 // more digits, or a fraction
	point                  // the first digit of a fraction
	fraction               // more digits, or an exponent
	exponent               // the exponent's sign or first digit
	expSign                // the exponent's first digit
	expDigits              // more digits
	complete               // nothing, because the value is complete
	wrong                  // nothing, because it is not JSON
)

// Complete reports whether the value is complete. A number is complete only after another byte was
// seen, since 12 may be the beginning of 123. That byte, for example a blank, comma or bracket, is
// not read.
func (s *Scanner) Complete() bool { return s.state == complete }

// Wrong reports whether the scanner has met a byte that cannot follow the bytes before it in any
// JSON value. If so, the scanner reads no further.
func (s *Scanner) Wrong() bool { return s.state == wrong }

// InString reports whether the value is a string whose end has not been read, and the last byte was
// not part of an escape. Then any text may follow. It returns false for a string inside a list or
// an object, because the caller wants to send a text that is a value by itself.
func (s *Scanner) InString() bool { return s.state == text && len(s.stack) == 0 }

// Add reads bytes until the value is complete or wrong, and returns how many bytes it read. These
// are the bytes that belong to the value, or those before the wrong byte. What follows the value is
// not read, so the caller can continue from there.
func (s *Scanner) Add(b []byte) int {
	for i := 0; i < len(b); i++ {
		if s.state == text {
			if i += plain(b[i:]); i == len(b) {
				break
			}
		}
		switch next := s.after(b[i]); {
		case next == wrong && s.state == complete: // a number has ended before this byte
			return i
		// The byte is not read: the text before it is still a valid beginning.
		case next == wrong:
			s.state = wrong
			return i
		case next == complete:
			s.state = complete
			return i + 1
		default:
			s.state = next
		}
	}
	return len(b)
}

// plain returns how many bytes at the beginning of b are ordinary characters of a string. Most
// bytes of arguments are, so this is the hot loop.
func plain(b []byte) int {
	n := 0
	for n < len(b) && b[n] >= ' ' && b[n] != '"' && b[n] != '\\' {
		n++
	}
	return n
}

// after returns the state after the byte c, or wrong if c may not follow. A number has no closing
// character. A byte that does not belong to the number ends it, if the number is complete, and is
// then treated as the byte after a value.
func (s *Scanner) after(c byte) state {
	switch {
	case s.state >= complete:
		return wrong
	// The number ends within a container or ends the whole value; in either case the byte is read
	// again as what comes next.
	case s.state >= sign:
		if next := number(s.state, c); next != wrong {
			return next
		}
		if s.state != zero && s.state != digits && s.state != fraction && s.state != expDigits {
			return wrong
		}
		// Wrong means "not read" here, and Add sees from the state that the number is complete.
		if s.state = more; len(s.stack) == 0 {
			s.state = complete
			return wrong
		}
	case s.state == word:
		return s.word(c)
	case s.state >= text:
		return s.quoted(c)
	}
	if c == ' ' || c == '\n' || c == '\t' || c == '\r' {
		return s.state
	}
	return s.structure(c)
}

// structure returns the state after a byte outside of strings, words and numbers, or wrong if the
// byte may not follow. The states first and item allow a closing bracket. After a comma the state
// is key or value instead, so that [1,] is wrong, as in RFC 8259. The adapters read such mistakes
// leniently.
func (s *Scanner) structure(c byte) state {
	switch s.state {
	case value, item:
		if c == ']' && s.state == item {
			return s.close()
		}
		return s.begin(c)
	case first, key:
		if c == '"' {
			s.key = true
			return text
		}
		if c == '}' && s.state == first {
			return s.close()
		}
	case colon:
		if c == ':' {
			return value
		}
	case more:
		object := s.stack[len(s.stack)-1] == '{'
		switch {
		case c == ',' && object:
			return key
		case c == ',':
			return value
		case c == '}' && object, c == ']' && !object:
			return s.close()
		}
	}
	return wrong
}

// begin returns the state after the first byte of a value, or wrong if no value begins with it. For
// a word (true, false, null) it records the letters still to come. If the field Object is true,
// only a brace may begin the outermost value, because a tool's arguments are an object, and a lone
// "null" or "" must not be sent.
func (s *Scanner) begin(c byte) state {
	switch {
	case s.Object && len(s.stack) == 0 && c != '{':
		return wrong
	case c == '{' || c == '[':
		if len(s.stack) == MaxDepth {
			return wrong
		}
		s.stack = append(s.stack, c)
		if c == '{' {
			return first
		}
		return item
	case c == '"':
		return text
	}
	if s.rest = words[c]; s.rest != "" {
		return word
	}
	return number(value, c)
}

// words maps the first letter of each of JSON's words to the rest of the word.
var words = [256]string{'t': "rue", 'f': "alse", 'n': "ull"}

// close returns the state after the end of a container. The caller has checked that the bracket
// matches.
func (s *Scanner) close() state {
	s.stack = s.stack[:len(s.stack)-1]
	return s.ended()
}

// ended returns the state after a value has ended: complete if it was the outermost one, and
// otherwise more, in which a comma or a closing bracket is expected.
func (s *Scanner) ended() state {
	if len(s.stack) == 0 {
		return complete
	}
	return more
}

// quoted returns the state after a byte of a string or key, or wrong for a control character, which
// strict JSON requires to be escaped (RFC 8259, section 7). UTF-8 is not checked, because a
// fragment may end in the middle of a character.
func (s *Scanner) quoted(c byte) state {
	switch {
	case s.state == escape:
		return s.escaped(c)
	case c == '\\':
		return escape
	case c < ' ':
		return wrong
	case c != '"':
		return text
	case s.key:
		s.key = false
		return colon
	}
	return s.ended()
}

// escaped returns the state after a byte of an escape, or wrong if the byte does not belong to one.
// A half of a surrogate pair is accepted, as in encoding/json.
func (s *Scanner) escaped(c byte) state {
	switch {
	// Four digits make one escape; after the last one the string continues.
	case s.hex > 0 && strings.IndexByte("0123456789abcdefABCDEF", c) >= 0:
		if s.hex--; s.hex > 0 {
			return escape
		}
	case s.hex > 0 || strings.IndexByte(`"\/bfnrtu`, c) < 0:
		return wrong
	case c == 'u':
		s.hex = 4
		return escape
	}
	return text
}

// word returns the state after a byte of true, false or null, or wrong if the byte does not match.
// The letters are compared one by one, so that no wrong letter is sent. For example, Python's True
// is wrong at its first letter.
func (s *Scanner) word(c byte) state {
	if c != s.rest[0] {
		return wrong
	}
	if s.rest = s.rest[1:]; s.rest == "" {
		return s.ended()
	}
	return word
}

// ten are the digits.
const ten = "0123456789"

// numbers lists, for each state inside a number and for its start (value), the bytes that may
// follow and the state after each. Other bytes do not belong to a number. The grammar is that of
// RFC 8259, section 6: no plus sign, no leading zero, and digits on both sides of the point.
var numbers = [complete][]struct {
	on string
	to state
}{
	value:     {{"-", sign}, {"0", zero}, {ten, digits}},
	sign:      {{"0", zero}, {ten, digits}},
	zero:      {{".", point}, {"eE", exponent}}, // 012 is not a number
	digits:    {{ten, digits}, {".", point}, {"eE", exponent}},
	point:     {{ten, fraction}},
	fraction:  {{ten, fraction}, {"eE", exponent}},
	exponent:  {{"+-", expSign}, {ten, expDigits}},
	expSign:   {{ten, expDigits}},
	expDigits: {{ten, expDigits}},
}

// number returns the state after the byte c of a number. The parameter at is the state before it,
// which is value if c begins the number. number returns wrong if c does not belong to the number.
func number(at state, c byte) state {
	for _, n := range numbers[at] {
		if strings.IndexByte(n.on, c) >= 0 {
			return n.to
		}
	}
	return wrong
}
