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

// Rest returns the text that must follow the safe text so that both together are the given object.
// It returns false if the safe text disagrees with that object. A repaired call continues in this
// way if its beginning has been sent. For example, `{"city":"Oslo"` was sent, the repair is
// {"days":3,"city":"Oslo"}, and the rest is `,"days":3}`. The order of members may differ, but
// their values must not.
func (p *Prefix) Rest(whole json.RawMessage) (rest string, ok bool) {
	if p.safe == 0 {
		return string(whole), true
	}
	// Nothing can follow, so the text must be the same value already.
	if p.state == finished {
		return "", same(p.text, whole)
	}
	doc, err := parse(whole)
	if err != nil {
		return "", false
	}
	return p.restOf(0, &doc.node)
}

// restOf returns the text that must follow the sent text so that the object or array that is open
// at the given depth becomes n. The text first completes an object, array or string that is open
// inside it. Then come the members or elements that are still missing, spelled as in n, and the
// closing bracket. restOf returns false if the text that was already sent differs from n.
func (p *Prefix) restOf(depth int, n *node) (string, bool) {
	o, end := p.stack[depth], p.safe
	closer := o.closer()
	// What is open inside begins at o.start, with its key. It is an object, an array, or a string
	// of which a part was sent.
	inside := depth+1 < len(p.stack)
	text := !inside && p.state == inLeaf && p.safe > p.leaf.start
	begun := inside || text
	if begun {
		end = o.start
	}
	// What was sent is closed for the moment, so that it can be parsed, without a comma at its end.
	left, err := parse(append(slices.Clip(bytes.TrimRight(p.text[o.begin:end], ", \n\t\r")),
		closer))
	if err != nil || n.Raw[0] != p.text[o.begin] {
		return "", false
	}
	// Everything that was sent must be in the whole, with the same value.
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

// lacking returns the text that completes the object or array o: the members or elements in the
// list all, which it lacks, and the closing bracket. If follows is true, the text begins with a
// comma, because o already has members or elements.
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

// restOfText returns what must follow the sent part of a string so that the whole is n: the rest of
// its characters and the closing quote. The sent part may end in the middle of a character.
// restOfText returns false if n is not a string, or begins differently.
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

// same reports whether two texts are the same JSON value. Members may be in another order, and
// escapes may be spelled differently. Numbers are compared as text, so 1 and 1.0 are two values,
// because a repair must repeat exactly what was sent.
func same(a, b []byte) bool {
	x, errX := parse(a)
	y, errY := parse(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x.value, y.value)
}
