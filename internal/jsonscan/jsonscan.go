// Package jsonscan follows JSON while it arrives: how far a text is the beginning of a value, and
// where that ends. Nothing is decoded, and nothing allocated but a byte for each open container.
//
// It serves what leaves before it is whole: arguments that a server streams, of which a byte may be
// sent once it is known to belong to JSON, and values that a schema holds back until they are
// whole. encoding/json takes whole texts only; to ask it at each fragment takes the square of the
// text's length.
//
// Of `{"a": 12, "b` all 12 bytes are taken, and the value is neither complete nor wrong; of `{"a":
// 012` seven are, since no JSON number goes on behind a leading zero.
package jsonscan

import "strings"

// MaxDepth bounds how deep containers may nest, as package adapters does for calls in text. RFC
// 8259, section 9, leaves a limit to the parser. The text is a model's, and one that repeats itself
// writes `[[[[[` until it is stopped.
const MaxDepth = 512

// Scanner follows one JSON value (RFC 8259). The zero value awaits it.
// A byte is looked at once, however the text is cut into fragments; nothing of the text is kept.
type Scanner struct {
	Object bool // only an object will do

	stack []byte // open containers, { or [
	state state
	key   bool   // the string that is being read is a key
	rest  string // what is left of the word being read
	hex   int    // digits left of a \u escape
}

// state is what may come next. The order is used: text and escape are within a string, from sign on
// a number is read, and from complete on nothing follows.
type state uint8

const (
	value     state = iota // a value
	item                   // a value or ]
	first                  // a key or }
	key                    // a key
	colon                  // :
	more                   // a comma or what closes the container
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
	complete               // nothing: the value is whole
	wrong                  // nothing: it is no JSON
)

// Complete reports whether the value is whole. A number is when something stands behind it. 12 may
// be the beginning of 123, so it is complete at a blank, comma or bracket, which is not taken.
func (s *Scanner) Complete() bool { return s.state == complete }

// Wrong reports whether no JSON value begins like this.
// It is for ever: what was taken before stays a beginning, and nothing else will be taken.
func (s *Scanner) Wrong() bool { return s.state == wrong }

// InString reports whether the value is a string that has begun, not in the middle of an escape:
// here any text may follow. Strings within containers do not count: whoever asks wants to let a
// text go on its own.
func (s *Scanner) InString() bool { return s.state == text && len(s.stack) == 0 }

// Add reads bytes until the value is complete or wrong. It returns how many it read: those of the
// value, or those before the wrong one. It does not look at what follows the value, so the caller
// can go on from there.
func (s *Scanner) Add(b []byte) int {
	for i := 0; i < len(b); i++ {
		if s.state == text {
			if i += plain(b[i:]); i == len(b) {
				break
			}
		}
		switch next := s.after(b[i]); {
		case next == wrong && s.state == complete: // a number has ended in front of this byte
			return i
		// The byte is not taken: what was before it is a beginning still.
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

// plain counts the bytes of a string that mean only themselves. Most bytes of arguments do, so this
// is the hot loop.
func plain(b []byte) int {
	n := 0
	for n < len(b) && b[n] >= ' ' && b[n] != '"' && b[n] != '\\' {
		n++
	}
	return n
}

// after returns the state behind c. A number has no closing mark: a byte that is no part of it ends
// it, if it may end there, and is then read as what follows a value.
func (s *Scanner) after(c byte) state {
	switch {
	case s.state >= complete:
		return wrong
	// It ends within the outermost container or ends the whole; in either case the byte is read
	// once more as what comes next.
	case s.state >= sign:
		if next := number(s.state, c); next != wrong {
			return next
		}
		if s.state != zero && s.state != digits && s.state != fraction && s.state != expDigits {
			return wrong
		}
		// Wrong stands for "not taken" here, and Add sees from the state that the number is
		// complete.
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

// structure returns the state behind a byte between strings, words and numbers. A comma sends the
// reader to key or value and not to first or item, so that [1,] is wrong, as RFC 8259 has it. To
// read such slips leniently is the adapters' business.
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

// begin returns the state behind the first byte of a value. Of a word the letters still to come are
// noted. With Object anything but a brace is wrong at once: the server's arguments are an object,
// and a lone "null" or "" must not leave.
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

// words are what follows the first letter of JSON's words.
var words = [256]string{'t': "rue", 'f': "alse", 'n': "ull"}

// close leaves a container. That the bracket fits was seen by the caller.
func (s *Scanner) close() state {
	s.stack = s.stack[:len(s.stack)-1]
	return s.ended()
}

// ended returns the state behind a value: the whole ends with the outermost one.
func (s *Scanner) ended() state {
	if len(s.stack) == 0 {
		return complete
	}
	return more
}

// quoted returns the state behind a byte of a string or key. Bytes are not checked for UTF-8: a
// character may be cut by a fragment, and models that write bytes do so. Control characters are
// wrong, since strict JSON wants them escaped (RFC 8259, section 7).
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

// escaped returns the state behind a byte of an escape.
// Halves of surrogate pairs are taken by themselves, as encoding/json does.
func (s *Scanner) escaped(c byte) state {
	switch {
	// Four digits make one escape; with the last one the string goes on.
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

// word returns the state behind a byte of true, false or null. The letters are compared one by one,
// so that Python's True is wrong at its first letter, and nothing of it is sent.
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

// numbers are what each state of a number goes on with, and value begins with; what is not there is
// no part of one. The grammar is that of RFC 8259, section 6: no plus sign, no leading zero, digits
// on both sides of the point.
var numbers = [complete][]struct {
	on string
	to state
}{
	value:     {{"-", sign}, {"0", zero}, {ten, digits}},
	sign:      {{"0", zero}, {ten, digits}},
	zero:      {{".", point}, {"eE", exponent}}, // 012 is no number
	digits:    {{ten, digits}, {".", point}, {"eE", exponent}},
	point:     {{ten, fraction}},
	fraction:  {{ten, fraction}, {"eE", exponent}},
	exponent:  {{"+-", expSign}, {ten, expDigits}},
	expSign:   {{ten, expDigits}},
	expDigits: {{ten, expDigits}},
}

// number returns the state behind c inside a number or, at value, at its start; wrong when c is no
// part of it.
func number(at state, c byte) state {
	for _, n := range numbers[at] {
		if strings.IndexByte(n.on, c) >= 0 {
			return n.to
		}
	}
	return wrong
}
