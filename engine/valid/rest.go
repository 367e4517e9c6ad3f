package valid

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// field is a member of an object as it is written.
// A list of them keeps the order, which a map would lose.
type field struct {
	key   string
	value json.RawMessage
}

// members are those of an object, in its order.
// Values are kept as they are written: what is sent must be the repaired call's own text.
func members(raw json.RawMessage) (all []field, ok bool) {
	doc, err := parse(raw)
	if err != nil {
		return nil, false
	}
	for _, m := range doc.layout.members {
		all = append(all, field{m.name, raw[m.value.start:m.value.end]})
	}
	_, ok = doc.value.(map[string]any)
	return all, ok
}

// Rest is what must follow Safe so that the text becomes the whole object that is given. It answers false when the text
// says otherwise already.
// It is how a repaired call goes on where its beginning has been sent: `{"city":"Oslo"` has left, the repair is
// {"days":3,"city":"Oslo"}, and the rest is `,"days":3}`. The order of members may differ, their values may not.
func (p *Prefix) Rest(whole json.RawMessage) (rest string, ok bool) {
	if p.safe == 0 {
		return string(whole), true
	}
	// Nothing can follow; it is right if it says the same.
	if p.state == finished {
		return "", same(p.text, whole)
	}
	return p.restOf(0, whole)
}

// restOf completes the object or array that is open at a depth: what lies in it is closed first, then it gets what it lacks.
func (p *Prefix) restOf(depth int, value json.RawMessage) (string, bool) {
	if p.stack[depth].array {
		return p.restOfArray(depth, value)
	}
	return p.restOfObject(depth, value)
}

// restOfObject adds the members that are not there. A container that has begun is completed first: nothing can stand in
// front of its closer but what belongs in it.
func (p *Prefix) restOfObject(depth int, value json.RawMessage) (string, bool) {
	all, ok := members(value)
	if !ok {
		return "", false
	}
	var b strings.Builder
	begun := depth+1 < len(p.stack)
	// What has left is closed for the moment, so that it can be read.
	written, _ := members(append(slices.Clip(p.written(depth)), '}'))
	for _, m := range written {
		at := slices.IndexFunc(all, func(a field) bool { return a.key == m.key })
		if at < 0 || !same(m.value, all[at].value) {
			return "", false
		}
		all = slices.Delete(all, at, at+1)
	}
	if begun {
		key := p.stack[depth].keys[len(p.stack[depth].keys)-1]
		// The repaired call must have the member, too, or it cannot follow from what has left.
		at := slices.IndexFunc(all, func(a field) bool { return a.key == key })
		if at < 0 {
			return "", false
		}
		inner, ok := p.restOf(depth+1, all[at].value)
		if !ok {
			return "", false
		}
		b.WriteString(inner)
		all = slices.Delete(all, at, at+1)
	}
	for i, m := range all {
		if i > 0 || begun || len(written) > 0 {
			b.WriteByte(',')
		}
		key, _ := json.Marshal(m.key)
		b.Write(append(append(key, ':'), m.value...))
	}
	return b.String() + "}", true
}

// restOfArray adds the elements that are not there. Those that have left must be the first ones of the whole, in its order.
func (p *Prefix) restOfArray(depth int, value json.RawMessage) (string, bool) {
	var all, written []json.RawMessage
	if json.Unmarshal(value, &all) != nil || json.Unmarshal(append(slices.Clip(p.written(depth)), ']'), &written) != nil {
		return "", false
	}
	n := len(written)
	begun := depth+1 < len(p.stack)
	// Elements have left that the whole does not have, or has otherwise.
	if n > len(all) || begun && n == len(all) || !slices.EqualFunc(written, all[:n], func(a, b json.RawMessage) bool { return same(a, b) }) {
		return "", false
	}
	var b strings.Builder
	if begun {
		inner, ok := p.restOf(depth+1, all[n])
		if !ok {
			return "", false
		}
		b.WriteString(inner)
		n++
	}
	for i, v := range all[n:] {
		if i+n > 0 {
			b.WriteByte(',')
		}
		b.Write(v)
	}
	return b.String() + "]", true
}

// written is the text of what is open at a depth, without what is open in it.
// A comma behind it goes, so that a bracket makes it JSON that can be parsed and compared.
// What is open below begins at start, with its key.
func (p *Prefix) written(depth int) []byte {
	end := p.safe
	if depth+1 < len(p.stack) {
		end = p.stack[depth].start
	}
	return bytes.TrimRight(p.text[p.stack[depth].begin:end], ", \n\t\r")
}

// same says whether two texts are the same value.
// Members may be in another order, and escapes spelled differently. Numbers are compared as text, so 1 and 1.0 are two values:
// the repair is held to what has left, and repeats it.
func same(a, b []byte) bool {
	x, errX := parse(a)
	y, errY := parse(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x.value, y.value)
}
