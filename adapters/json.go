package adapters

import (
	"bytes"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// maxDepth bounds how deep arguments may nest. What is deeper cuts the call, and is noted as tooDeep.
const (
	maxDepth = 512
	tooDeep  = "too-deep"
)

// capture runs a reading function with the output kept apart, before a call is committed. The bytes are valid until the
// next scratch. It answers cut when an element was cut, no when nothing was there.
func (d *argReader) capture(read func()) ([]byte, match) {
	saved, depth := d.call, len(d.stack)
	d.spare = call{out: d.spare.out[:0], endAt: -1}
	d.call = &d.spare
	read()
	d.call, d.stack = saved, d.stack[:depth]
	switch {
	case d.spare.broken:
		return nil, incomplete
	case d.spare.doubt:
		return nil, mismatch
	case len(d.spare.out) == 0:
		return nil, incompleteAtEnd(d.At(0), mismatch)
	}
	return d.spare.out, matched
}

// value reads one value as t wants it, and answers false when there is none. What is written is strict JSON.
func (d *argReader) value(t *schema.Type) bool {
	c := d.At(0)
	switch {
	case c < 0:
		return false
	case c == '{' || c == '[' || c == '(':
		d.container(c, t)
		return true
	}
	if q, ok := d.quoteAt(0); ok {
		d.stringValue(q, t)
		return true
	}
	return d.scalar(t)
}

// container reads an object, a list or a tuple. Under a schema of strings its text is the value.
func (d *argReader) container(c int, t *schema.Type) {
	asText := t.Only(schema.String | schema.Null)
	if asText && c == '[' && d.inList() {
		d.call.doubt = true // a bracket that was doubled, perhaps
	}
	set := c == '{' && d.isSet(t)
	wrap := c == '{' && !set && t.Only(schema.Array|schema.Null) && t.Item().Allows(schema.Object) && d.At(1+d.Space(1)) != '}'
	at := 0
	switch {
	case asText:
		at = d.holdOn()
		t = nil
	case wrap:
		d.putByte('[')
		t = t.Item()
	}
	doubled := c == '{' && d.At(1) == '{'
	if doubled {
		d.Pos++
		d.repaired("doubled-braces")
	}
	switch {
	case c == '{' && !set:
		d.object(t)
	default:
		kind := byte(c)
		if set {
			kind = aSet
		}
		if c != '[' {
			d.repaired("tuples")
		}
		d.list(t, kind)
	}
	if doubled && d.At(0) == '}' {
		d.Pos++
	}
	switch {
	case asText:
		text := string(d.held(at))
		d.takeBack(at)
		d.call.out = schema.AppendQuote(d.call.out, text)
		d.holdOff()
	case wrap:
		d.putByte(']')
	}
}

// isSet says whether the brace here opens a set, {1, 2}: behind its first element stands no colon. Nothing at all between
// the braces is one where the schema wants a list of other things than objects.
func (d *argReader) isSet(t *schema.Type) bool {
	if !t.Allows(schema.Array) {
		return false
	}
	i := 1 + d.Space(1)
	switch c := d.At(i); c {
	case '}':
		return t.Only(schema.Array|schema.Null) && t.Item().Known() && !t.Item().Allows(schema.Object)
	case '(', '[':
		return true
	}
	n := d.itemEnd(i)
	c := d.At(n)
	return n > i && (c == ',' || c == '}' && (d.python || t.Known() || !d.startsString(i)))
}

// push enters a container and steps over its opening byte. It answers false when it is too deep to be arguments.
func (d *argReader) push(kind, out byte, t *schema.Type) bool {
	d.Pos++
	if len(d.stack) >= maxDepth {
		d.call.broken = true
		d.repaired(tooDeep)
		d.put("null")
		return false
	}
	d.stack = append(d.stack, level{kind, t})
	d.putByte(out)
	return true
}

func (d *argReader) pop(out byte) {
	d.stack = d.stack[:len(d.stack)-1]
	d.putByte(out)
}

// object reads an object, from its brace on.
func (d *argReader) object(t *schema.Type) {
	if d.push('{', '{', t) {
		d.members(t)
	}
}

// members reads the members of an object, and what closes it.
func (d *argReader) members(t *schema.Type) {
	seen := len(d.seen)
	for n := 0; ; n++ {
		at := d.holdOn()
		comma := d.between(n > 0)
		if d.containerEnds('{') {
			d.dropComma(comma)
			d.holdOff()
			if len(d.stack) == 1 {
				d.unwrap()
			}
			d.pop('}')
			d.seen = d.seen[:seen]
			return
		}
		if n > 0 && comma < 0 {
			d.putByte(',')
			d.repaired("missing-comma")
		}
		if !d.pair(t, seen) {
			d.takeBack(at)
			d.holdOff()
			n--
		}
	}
}

// doubtKey looks at a key that the object's schema, which has members, does not know: it may belong to another object, or be
// no key.
func (d *argReader) doubtKey(t *schema.Type, key string, seen []string) {
	if t.Has(key) {
		return
	}
	d.strayKey = d.strayKey || d.knownOutside(key)
	d.call.doubt = d.call.doubt || strings.ContainsAny(key, oddInKeys) || strings.HasPrefix(key, ".") || strings.TrimRight(key, ":, ") != key || knownInside(t, key, seen)
}

// oddInKeys are bytes of structure that no key has.
const oddInKeys = "\"\n;<>[]{}|`"

// pair reads a key, a colon and a value; the hold of the key ends where its value begins. It answers false when there is
// no value, with the hold still open. The object's keys so far are d.seen[seen:].
func (d *argReader) pair(t *schema.Type, seen int) bool {
	start := d.call.sent + len(d.call.out)
	before := d.Pos
	d.key(d.quotes != nil)
	written := d.call.out[start-d.call.sent:]
	if len(written) == 0 {
		d.call.doubt = d.call.doubt || len(d.seen) > seen && (d.At(0) == '{' || d.At(0) == '[') // an element of a list around, perhaps
		d.Pos++                                                                                 // no key can begin with this byte
		return false
	}
	key := unquote(bytes.TrimSpace(written))
	if len(t.Members()) > 0 {
		if name := d.meant(t, key, d.seen[seen:]); name != key {
			key = name
			d.takeBack(start)
			d.call.out = schema.AppendQuote(d.call.out, key)
		}
		d.doubtKey(t, key, d.seen[seen:])
		if d.seen = append(d.seen, key); len(d.seen) == seen+1 {
			d.holdWrapper(t, key, start)
		}
	}
	d.blanks()
	if c := d.At(0); c == ',' || c == '}' {
		d.call.doubt = true // a set, or half of a member
	}
	d.colon()
	d.blanks()
	c := d.At(0)
	if c < 0 || c == ',' || scan.IsCloser(c) || d.isMark(0) {
		d.call.doubt = d.call.doubt || c == ']' || c == ')' // the opener of a list may be missing
		d.repaired("truncated")
		d.unclosed = true
		d.call.broken = d.call.broken || c < 0
		if d.Pos == before {
			d.Pos++ // never stand still
		}
		return false
	}
	typ := t.Prop(key)
	scalar := !d.streams(typ)
	if !scalar {
		d.holdOff()
	}
	from := d.call.sent + len(d.call.out)
	if !d.value(typ) {
		d.call.doubt = true
		d.put("null")
		d.Pos++
	}
	if scalar && string(d.held(from)) == "null" && d.omitted(t, key) {
		return false
	}
	if scalar {
		d.holdOff()
	}
	return true
}

// streams says whether the value that begins here leaves as it comes; anything else waits with its key.
func (d *argReader) streams(t *schema.Type) bool {
	c := d.At(0)
	if c == '{' || c == '[' || c == '(' {
		return true
	}
	_, ok := d.quoteAt(0)
	return ok && t.Allows(schema.String) && t.Enum() == nil
}

// colon steps over what stands between key and value.
func (d *argReader) colon() {
	d.putByte(':')
	if n := d.Space(1); scan.IsQuote(d.At(0)) && (d.At(1+n) == ':' || d.At(1+n) == '=') {
		d.Pos += 1 + n // a quote too many
		d.repaired("extra-closer")
	}
	switch c := d.At(0); {
	case c == ':':
		d.Pos++
		d.moreColons()
	case c == '=':
		d.Pos++
		if d.At(0) == '>' {
			d.Pos++
		}
		d.repaired("equals")
	case d.Has(0, "："):
		d.Pos += len("：")
		d.repaired("full-width")
	default:
		d.noColons = true
		d.call.doubt = d.call.doubt || bytes.HasSuffix(d.call.out, []byte(`"":`)) // a quote that was doubled, perhaps
		d.repaired("missing-colon")
	}
}

// moreColons steps over what doubles the colon that was read.
func (d *argReader) moreColons() {
	for n := d.Space(0); d.At(n) == ':' || d.At(n) == '='; n = d.Space(0) {
		d.Pos += n + 1
		d.repaired("equals")
	}
}

// list reads the elements of a list or tuple, from its bracket on.
func (d *argReader) list(t *schema.Type, open byte) {
	if !d.push(open, '[', t) {
		return
	}
	for n := 0; ; n++ {
		at := d.holdOn()
		comma := d.between(n > 0)
		if d.containerEnds(open) {
			d.dropComma(comma)
			d.holdOff()
			d.pop(']')
			return
		}
		if n > 0 && comma < 0 {
			d.putByte(',')
			d.repaired("missing-comma")
		}
		if d.listLost(t) {
			d.takeBack(at)
			d.holdOff()
			d.pop(']')
			return
		}
		if d.Has(0, "...") {
			d.Pos += 3
			d.repaired("ellipsis")
		} else if c := d.At(0); c != '=' && c != ':' {
			d.holdOff()
			before := d.Pos
			if d.value(t.ItemAt(n)) {
				continue
			}
			d.holdOn()
			d.call.doubt = true // an expression, perhaps
			if d.Pos == before {
				d.Pos++
			}
		} else {
			d.Pos++
		}
		d.takeBack(at)
		d.holdOff()
		n--
	}
}

// between copies the white space in front of a member and one comma; behind the first member (some) the comma counts. It
// answers where the comma stands in the output, -1 without one.
func (d *argReader) between(some bool) int {
	comma := -1
	for {
		d.blanks()
		n := 1
		if d.Has(0, "，") {
			n = len("，")
			d.repaired("full-width")
		} else if d.At(0) != ',' {
			return comma
		}
		d.Pos += n
		if some && comma < 0 {
			comma = d.call.sent + len(d.call.out)
			d.putByte(',')
		} else {
			d.repaired("extra-comma")
		}
	}
}

// dropComma takes back a comma that nothing followed.
func (d *argReader) dropComma(comma int) {
	if comma >= 0 {
		d.takeBack(comma)
		d.repaired("trailing-comma")
	}
}
