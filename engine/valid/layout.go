package valid

import (
	"bytes"
	"encoding/json"
)

// node is a value of a JSON text, with its place in the text. Members are cut and numbers replaced in the text itself, so that
// all the rest stays byte for byte: spaces, escapes and the digits of numbers are the model's own.
type node struct {
	start, end int
	members    []slot  // of an object, in its order
	items      []*node // of an array
}

// slot is a member of an object; start is where its key begins.
// A member that goes is cut from there, its key included.
type slot struct {
	name  string
	start int
	value *node
}

// layout reads one JSON text that has been parsed before; nil when it is none.
// It has no bound but the depth, as parse has looked at all others.
func layout(text []byte) *node {
	r := &layoutReader{text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	r.dec.UseNumber()
	return r.value(0)
}

// layoutReader takes tokens, and sees where they stand.
// It is apart from parse, since nearly all calls fit and are never edited.
type layoutReader struct {
	text []byte
	dec  *json.Decoder
}

// begin is where the next token begins.
// The decoder says where the last token ended; blanks, commas and colons lie between.
func (r *layoutReader) begin() int {
	at := int(r.dec.InputOffset())
	return at + len(r.text[at:]) - len(bytes.TrimLeft(r.text[at:], " \t\r\n,:"))
}

// value reads one value, nil when there is none.
func (r *layoutReader) value(depth int) *node {
	n := &node{start: r.begin()}
	t, err := r.dec.Token()
	if err != nil || depth > maxDepth {
		return nil
	}
	if open, ok := t.(json.Delim); ok && !r.inside(n, open == '{', depth) {
		return nil
	}
	n.end = int(r.dec.InputOffset())
	return n
}

// inside reads members or elements, and what closes them. A member begins with its key, since both are cut together.
func (r *layoutReader) inside(n *node, object bool, depth int) bool {
	for r.dec.More() {
		s := slot{start: r.begin()}
		if object {
			key, err := r.dec.Token()
			if err != nil {
				return false
			}
			s.name, _ = key.(string)
		}
		if s.value = r.value(depth + 1); s.value == nil {
			return false
		}
		if object {
			n.members = append(n.members, s)
		} else {
			n.items = append(n.items, s.value)
		}
	}
	_, err := r.dec.Token()
	return err == nil
}
