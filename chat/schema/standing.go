package schema

import (
	"encoding/json"
	"strings"

	"toolnorm/chat"
)

// Standing is what stands of an object or array that does not fit as a whole. What is neither here nor asked for by a part
// without a value is not to be written.
// A model that writes a call a second time changes what was right: other values, other spellings of numbers. So what fits is
// kept byte for byte, and only what did not fit is taken from the new call.
type Standing struct {
	Array bool
	Parts []Part // members or elements, in their order
	More  bool   // others may follow
}

// Part is one member or element: Raw when it stands, Open when some of it does, neither when it is to be written anew.
// A part with neither is asked for by its name, and the constraint gives it the schema's own place.
type Part struct {
	Name string
	Raw  string
	Open *Standing

	begun string // a string of which some has left: its source from the quote on
}

// maxHeld is how much of a value that stands the model has to repeat: the value takes the place of what the model wrote
// anyway, and a whole file would take minutes.
// It is cut here alone; With puts the whole value back.
const maxHeld = 400

// standing is what has left of an object or array, as what stands of it: more may follow what has not ended.
func (v *value) standing() *Standing {
	s := &Standing{Array: v.raw[0] == '[', More: v.open}
	for _, m := range v.members {
		s.Parts = append(s.Parts, m.v.part(m.name))
	}
	for _, item := range v.items {
		s.Parts = append(s.Parts, item.part(""))
	}
	return s
}

// part is what has left of a member or element; of a member that may be its key alone.
func (v *value) part(name string) Part {
	switch {
	case v == nil:
		return Part{Name: name}
	case !v.open:
		return Part{Name: name, Raw: v.raw}
	case v.kind() == String:
		return Part{Name: name, begun: v.raw}
	}
	return Part{Name: name, Open: v.standing()}
}

// repeated is a value that the model has to repeat. What has left is repeated whole, since what follows goes on from there.
func (c *constrainer) repeated(raw string) string {
	if c.o.Stands == nil || len(raw) <= maxHeld {
		return raw
	}
	return abridged(raw)
}

// abridged is a long text's beginning, or an empty list or object in place of a long one.
// The ellipsis marks a text as cut.
func abridged(raw string) string {
	var text string
	switch {
	case raw[0] == '[':
		return "[]"
	case raw[0] == '{':
		return "{}"
	case raw[0] != '"' || json.Unmarshal([]byte(raw), &text) != nil:
		return raw
	}
	return Quote(strings.ToValidUTF8(text[:min(len(text), maxHeld)], "") + "…")
}

// With is the value with what a new one says of the parts that do not stand; those that do are byte for byte as they were. It
// answers false when the new one has nothing for an element, or is of another type.
// The new call was constrained to repeat what stands, but servers write constants their own way and some hold to none, so its
// version of such a part is not even looked at.
func (s *Standing) With(raw json.RawMessage) (json.RawMessage, bool) {
	out, ok := s.with(nil, parse(raw))
	return out, ok
}

// with appends the value. Members keep their old order, and new ones come behind them. A part to be written anew that
// the new call lacks is left out; of a name that it has twice the last value counts.
func (s *Standing) with(dst []byte, from *value) ([]byte, bool) {
	if s.Array {
		return s.withElements(dst, from)
	}
	if from.kind() != Object {
		return nil, false
	}
	dst = append(dst, '{')
	begin := len(dst)
	key := func(name string) {
		if len(dst) > begin {
			dst = append(dst, ',')
		}
		dst = append(chat.AppendQuoted(dst, name), ':')
	}
	// A member that stood is not taken a second time from the new call, whatever that says of it.
	said, done := map[string]*value{}, map[string]bool{}
	for _, m := range from.members {
		said[m.name] = m.v
	}
	for _, p := range s.Parts {
		done[p.Name] = true
		one := said[p.Name]
		// The constraint listed it, but some servers hold to none.
		if one == nil && p.Raw == "" {
			continue // the new one does without it
		}
		key(p.Name)
		var ok bool
		if dst, ok = p.with(dst, one); !ok {
			return nil, false
		}
	}
	for _, m := range from.members {
		if s.More && !done[m.name] {
			done[m.name] = true
			key(m.name)
			dst = append(dst, said[m.name].raw...)
		}
	}
	return append(dst, '}'), true
}

// withElements is with for an array. Elements have no names, so those of the new call are matched by their numbers: one with
// fewer elements leaves places open, and is none that can be joined.
func (s *Standing) withElements(dst []byte, from *value) ([]byte, bool) {
	all := from.list()
	if from.kind() != Array || len(all) < len(s.Parts) {
		return nil, false
	}
	dst = append(dst, '[')
	if !s.More {
		all = all[:len(s.Parts)]
	}
	for i, one := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		if i >= len(s.Parts) {
			dst = append(dst, one.raw...)
			continue
		}
		var ok bool
		if dst, ok = s.Parts[i].with(dst, one); !ok {
			return nil, false
		}
	}
	return append(dst, ']'), true
}

// with is what stands of a part, and what a new value says of the rest.
func (p Part) with(dst []byte, from *value) ([]byte, bool) {
	switch {
	case p.Raw != "":
		return append(dst, p.Raw...), true
	case p.Open != nil:
		return p.Open.with(dst, from)
	}
	return append(dst, from.raw...), true
}
