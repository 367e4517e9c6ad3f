package schema

import (
	"encoding/json"
	"strings"
)

// sent is the beginning of a JSON value: an object or an array of which some has left.
// It is read by a parser of its own: jsonscan tells whether a text is JSON so far, but not what it holds, and
// encoding/json tells that of whole texts only.
type sent struct {
	array bool
	parts []part
	state state
}

// part is one member or element.
// At most one of raw, open and text is set.
type part struct {
	name string // of a member
	raw  string // a whole value; empty: only the key has left, or the value has just begun
	open *sent  // an object or array that has begun
	text string // a string that has begun: its source from the quote on
}

// state is what was read last.
// It decides what may come next: `{"a":1` may still get a second member, `{"a":1}` none, and `{"a"` must get its value.
type state uint8

const (
	atStart state = iota // the opening brace or bracket
	atKey
	atColon
	atValue
	atComma
	atEnd // the closing brace or bracket
)

// readSent reads the beginning of an object, nil when text is none. encoding/json reads whole values only, and here it counts
// where the text ends: behind a key, within a string, after a comma.
// What is no beginning of an object is nil, so that nothing is held, rather than something that has not left.
func readSent(text string) *sent {
	r := sentReader{strings.TrimSpace(text)}
	if !strings.HasPrefix(r.rest, "{") {
		return nil
	}
	s := r.inside(0)
	if s == nil || r.rest != "" {
		return nil
	}
	return s
}

// sentReader takes from the front of rest.
type sentReader struct{ rest string }

// space skips blanks as JSON knows them (RFC 8259, section 2).
func (r *sentReader) space() { r.rest = strings.TrimLeft(r.rest, " \t\r\n") }

// take skips space and c, and says whether c was there.
// Blanks are skipped in any case: they may stand between any two tokens.
func (r *sentReader) take(c byte) bool {
	r.space()
	if r.rest == "" || r.rest[0] != c {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

// inside reads an object or array from its opening on, as far as it goes; nil when it is none.
// Behind a part that has not ended nothing can follow: whoever sent it is in the middle of that part.
// The depth is bounded, since what has left is a model's text and may be nothing but brackets.
func (r *sentReader) inside(depth int) *sent {
	s := &sent{array: r.rest[0] == '['}
	closing := byte('}')
	if s.array {
		closing = ']'
	}
	r.rest = r.rest[1:]
	for depth < maxDepth {
		if r.space(); r.rest == "" {
			return s
		}
		// A bracket behind a comma is no JSON, and what has left is JSON.
		if s.state != atComma && r.take(closing) {
			s.state = atEnd
			return s
		}
		if s.state == atValue {
			if !r.take(',') {
				return nil
			}
			s.state = atComma
			continue
		}
		if !r.part(s, depth) {
			return nil
		}
		if last := s.parts[len(s.parts)-1]; last.open != nil && last.open.state != atEnd || last.text != "" {
			return s
		}
	}
	return nil
}

// part reads one member or element, as far as it goes.
// A key counts when it is whole: half a key is never sent, as a name decides what its value may be.
func (r *sentReader) part(s *sent, depth int) bool {
	var p part
	if !s.array {
		// Escapes in a name are read, as schemas have it without: "d\u0061ys" is days.
		key, whole := r.string()
		if !whole || json.Unmarshal([]byte(key), &p.name) != nil {
			return false
		}
		s.state = atKey
		if r.take(':') {
			s.state = atColon
		}
		r.space()
	}
	ok := true
	// Behind `{"days":` no value may have come yet; then the schema's own place is due.
	if r.rest != "" && s.state != atKey {
		ok = r.value(&p, depth)
		s.state = atValue
	}
	s.parts = append(s.parts, p)
	return ok && (s.state != atKey || r.rest == "")
}

// value reads a value, as far as it goes.
// Words and numbers must be whole. `12` at the end of the text counts as 12: of a number nothing leaves before its end.
func (r *sentReader) value(p *part, depth int) bool {
	before := r.rest
	switch r.rest[0] {
	case '{', '[':
		if p.open = r.inside(depth + 1); p.open == nil {
			return false
		}
		// One that has ended is a whole value, and held as its text.
		if p.open.state == atEnd {
			p.raw, p.open = before[:len(before)-len(r.rest)], nil
		}
		return true
	case '"':
		text, whole := r.string()
		if whole {
			p.raw = text
		} else {
			p.text = text
		}
		return true
	}
	end := strings.IndexAny(r.rest, ",]} \t\r\n")
	if end < 0 {
		end = len(r.rest)
	}
	p.raw, r.rest = r.rest[:end], r.rest[end:]
	return json.Valid([]byte(p.raw))
}

// string reads a string; whole says that it is closed.
// Half a string may end in a backslash; begun then finds no pattern for it.
func (r *sentReader) string() (text string, whole bool) {
	if !strings.HasPrefix(r.rest, `"`) {
		return "", false
	}
	for i := 1; i < len(r.rest); i++ {
		switch r.rest[i] {
		case '\\':
			i++
		case '"':
			text, r.rest = r.rest[:i+1], r.rest[i+1:]
			return text, json.Valid([]byte(text))
		}
	}
	text, r.rest = r.rest, ""
	return text, false
}
