package valid

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"toolnorm/chat/schema"
)

// Rest returns what must follow Safe so that the text becomes the whole object that is given; ok is
// false when the text says otherwise already. It is how a repaired call goes on where its beginning
// has been sent: `{"city":"Oslo"` has left, the repair is {"days":3,"city":"Oslo"}, and the rest is
// `,"days":3}`. The order of members may differ, their values may not.
func (p *Prefix) Rest(whole json.RawMessage) (rest string, ok bool) {
	if p.safe == 0 {
		return string(whole), true
	}
	// Nothing can follow; it is right if it says the same.
	if p.state == finished {
		return "", same(p.text, whole)
	}
	doc, err := parse(whole)
	if err != nil {
		return "", false
	}
	return p.restOf(0, &doc.node)
}

// restOf completes the object or array that is open at a depth, which is to become n of the whole:
// what lies in it is closed first, since nothing can stand in front of its closer but what belongs
// in it. Then it gets what it lacks, as that is written in the whole.
func (p *Prefix) restOf(depth int, n *node) (string, bool) {
	o, end := p.stack[depth], p.safe
	closer := o.closer()
	// What is open below begins at start, with its key: an object, an array, or a string of which
	// some has left.
	inside := depth+1 < len(p.stack)
	text := !inside && p.state == inLeaf && p.safe > p.leaf.start
	begun := inside || text
	if begun {
		end = o.start
	}
	// What has left is closed for the moment, so that it can be read. A comma behind it goes.
	left, err := parse(append(slices.Clip(bytes.TrimRight(p.text[o.begin:end], ", \n\t\r")),
		closer))
	if err != nil || n.Raw[0] != p.text[o.begin] {
		return "", false
	}
	// All that has left must be in the whole, and say the same.
	all := slices.Clone(n.inside)
	take := func(name string) (one *node) {
		if at := slices.IndexFunc(all, func(a *node) bool { return a.name == name }); at >= 0 {
			one = all[at]
			all = slices.Delete(all, at, at+1)
		}
		return one
	}
	for _, one := range left.inside {
		if other := take(one.name); other == nil || !reflect.DeepEqual(one.value, other.value) {
			return "", false
		}
	}
	rest, ok := "", true
	if begun {
		one := take(o.last())
		switch {
		case one == nil:
			ok = false
		case text:
			rest, ok = p.restOfText(one)
		default:
			rest, ok = p.restOf(depth+1, one)
		}
	}
	if !ok {
		return "", false
	}
	return rest + lacking(&o, all, begun || len(left.inside) > 0), true
}

// lacking returns what an object or array lacks, with its closer. follows reports whether it has
// members already.
func lacking(o *open, all []*node, follows bool) string {
	var b strings.Builder
	for i, one := range all {
		if i > 0 || follows {
			b.WriteByte(',')
		}
		if !o.array {
			key, _ := json.Marshal(one.name)
			b.Write(append(key, ':'))
		}
		b.WriteString(one.Raw)
	}
	b.WriteByte(o.closer())
	return b.String()
}

// closer returns the byte that ends an object or array.
func (o *open) closer() byte {
	if o.array {
		return ']'
	}
	return '}'
}

// restOfText completes the string that is open, which is to become n. What has left may end within
// a character.
func (p *Prefix) restOfText(n *node) (string, bool) {
	raw := p.text[p.leaf.start:p.safe]
	at := len(raw)
	for at > 0 && !utf8.RuneStart(raw[at-1]) {
		at--
	}
	if at--; utf8.FullRune(raw[at:]) {
		at = len(raw)
	}
	var left string
	whole, is := n.value.(string)
	if !is || json.Unmarshal(append(slices.Clip(raw[:at]), '"'), &left) != nil {
		return "", false
	}
	rest, ok := strings.CutPrefix(whole, left)
	if !ok || !strings.HasPrefix(rest, string(raw[at:])) {
		return "", false
	}
	return schema.Quote(rest)[1+len(raw)-at:], true
}

// same reports whether two texts are the same value. Members may be in another order, and escapes
// spelled differently. Numbers are compared as text, so 1 and 1.0 are two values: the repair is
// held to what has left, and repeats it.
func same(a, b []byte) bool {
	x, errX := parse(a)
	y, errY := parse(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x.value, y.value)
}
