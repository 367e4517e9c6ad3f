package lenient

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// MaxDepth bounds how deep arguments may nest. What is deeper cuts the call, and is noted as
// tooDeep.
const (
	MaxDepth = 512
	tooDeep  = "too-deep"
)

// Capture runs a reading function with the output kept apart, before a call is committed. The bytes
// are valid until the next scratch. It answers cut when an element was cut, no when nothing was
// there. What it reads leaves no trace in the call: its output is apart, and so are its holds. A
// doubt inside counts as a mismatch, since nothing that has two readings may decide which tool is
// called, or with what.
func (r *Reader) Capture(read func()) ([]byte, scan.Match) {
	saved, depth := r.Out, len(r.open)
	r.Spare = NewOutput("", nil, r.Spare.JSON)
	r.Out = &r.Spare
	read()
	r.Out, r.open = saved, r.open[:depth]
	switch {
	case r.Spare.Broken:
		return nil, scan.Incomplete
	case r.Spare.Doubt:
		return nil, scan.Mismatch
	case len(r.Spare.JSON) == 0:
		return nil, scan.IncompleteAtEnd(r.At(0), scan.Mismatch)
	}
	return r.Spare.JSON, scan.Matched
}

// Value reads one value as t wants it, and answers false when there is none. What is written is
// strict JSON. Valid JSON is copied byte for byte, spelling of numbers and white space included. A
// nil t knows nothing and lets every value be what it is; a plain value without quotes is a number,
// a literal, or a phrase that lost them.
func (r *Reader) Value(t *schema.Type) bool {
	c := r.At(0)
	switch {
	case c < 0:
		return false
	case c == '{' || c == '[' || c == '(':
		r.container(c, t)
		return true
	}
	if q, ok := r.QuoteAt(0); ok {
		r.StringValue(q, t)
		return true
	}
	return r.scalar(t)
}

// container reads an object, a list or a tuple. Under a schema of strings its text is the value.
// {"content": {"a": 1}} with content a string is the common case of write_file and a JSON file:
// what the model wrote is what the file should hold. {…} for a list of objects is its only element.
// {{…}} is copied from templates, where a brace is doubled to be printed.
func (r *Reader) container(c int, t *schema.Type) {
	asText := t.Only(schema.String | schema.Null)
	r.Out.doubt(asText && c == '[' && r.open.inList()) // a bracket that was doubled, perhaps
	set := c == '{' && r.isSet(t)
	wrap := c == '{' && !set && t.Only(schema.Array|schema.Null) && t.Item().Allows(schema.Object) && r.At(1+r.Space(1)) != '}'
	at := 0
	switch {
	case asText:
		// its source text, held until it is whole
		at = r.HoldOn()
		t = nil
	case wrap:
		// {"steps": {"do": "x"}} for [{"do": "x"}]
		r.PutByte('[')
		t = t.Item()
	}
	doubled := c == '{' && r.At(1) == '{'
	if doubled {
		r.Pos++
		r.Repaired("doubled-braces")
	}
	kind := byte(c)
	if set {
		kind = aSet
	}
	if set || c == '(' { // {1, 2} or (1, 2)
		r.Repaired("tuples")
	}
	r.Container(kind, t)
	if doubled && r.At(0) == '}' {
		r.Pos++
	}
	switch {
	case asText:
		text := string(r.Held(at))
		r.TakeBack(at)
		r.Out.doubt(boxed(text))
		r.Out.JSON = chat.AppendQuoted(r.Out.JSON, text)
		r.HoldOff()
	case wrap:
		r.PutByte(']')
	}
}

// boxed reports whether a JSON text holds one text and nothing else, ["ls"] or {"value": "ls"}:
// that may be what was meant where a text is wanted, or its source text is.
func boxed(value string) bool {
	if fields := scan.Fields(value); len(fields) == 1 {
		return fields[0].Value[0] == '"' && slices.Contains([]string{"value", "text", "string", "content"}, fields[0].Key)
	}
	var list []string
	return json.Unmarshal([]byte(value), &list) == nil && len(list) == 1
}

// isSet reports whether the brace here opens a set, {1, 2}: no colon follows its first element.
// Empty braces are a set where the schema wants a list of other things than objects. {"red",
// "blue"} is how Python and mathematics write a set. A lone text in braces, {"red"}, may also be a
// member that has lost its value; in Python, and where a list is wanted, it is a set.
func (r *Reader) isSet(t *schema.Type) bool {
	if !t.Allows(schema.Array) {
		return false
	}
	i := 1 + r.Space(1)
	switch c := r.At(i); c {
	case '}':
		return t.Only(schema.Array|schema.Null) && !t.Item().Allows(schema.Object)
	case '(', '[':
		// no key can begin so
		return true
	}
	n := r.itemEnd(i)
	c := r.At(n)
	return n > i && (c == ',' || c == '}' && (r.Python || t.Known() || !r.StartsString(i)))
}

// Container reads an object, a list, a tuple or a set, from its opening byte on. Deeper than
// MaxDepth nobody nests arguments; [[[[… is a model in a loop, or somebody who tries what recursion
// costs.
func (r *Reader) Container(kind byte, t *schema.Type) {
	r.Pos++
	if len(r.open) >= MaxDepth {
		r.Out.Broken = true
		r.Repaired(tooDeep)
		r.Put("null")
		return
	}
	r.Items(kind, t)
}

// Items reads what a container holds whose opener was read, or lost, and what closes it. Each
// member of an object is held, with the comma in front of it, until its value begins: a comma may
// turn out to be a trailing one, and a member may be left out (null-omitted, truncated). A missing
// comma is written once the next member is sure to come. An element streams from its first byte; a
// key in the place of one ends the list (listLost).
func (r *Reader) Items(kind byte, t *schema.Type) {
	object, brackets := kind == '{', "[]"
	if object {
		brackets = "{}"
	}
	r.Enter(kind, t)
	r.PutByte(brackets[0])
	seen := len(r.Seen)
	for n := 0; ; n++ {
		at, more := r.next(kind, n)
		if more && !object && r.listLost(t) {
			r.drop(at)
			more = false
		}
		if !more {
			break
		}
		if object && r.pair(t, seen) || !object && r.element(t.ItemAt(n)) {
			continue
		}
		r.drop(at)
		n-- // what was none counts for no comma
	}
	if object && len(r.open) == 1 {
		r.Unwrap()
	}
	r.open = r.open[:len(r.open)-1]
	r.PutByte(brackets[1])
	r.Seen = r.Seen[:seen]
}

// next goes over to member or element n of a container, and says whether there is one: what stands
// in front of it is held, and where that begins in the output is answered. A comma that nothing
// follows goes, one that is missing is written. The hold begins in front of the comma, since a
// comma that has left cannot be taken back: {"a": 1,} must not become {"a":1,}.
func (r *Reader) next(kind byte, n int) (at int, more bool) {
	at = r.HoldOn()
	comma := r.between(n > 0)
	switch {
	case r.containerEnds(kind):
		if comma >= 0 {
			r.TakeBack(comma)
			r.Repaired("trailing-comma")
		}
		r.HoldOff()
		return at, false
	case n > 0 && comma < 0:
		r.PutByte(',')
		r.Repaired("missing-comma")
	}
	return at, true
}

// doubtKey looks at a key that the object's schema, which has members, does not know: it may belong
// to another object, or be no key. {"title": "a", "days: 3, "tags": []} gives the key `days: 3, `
// by the letter; no parameter is called so. A key that fits an object around this one, or inside a
// member before it, says that a brace may be missing or too early.
func (r *Reader) doubtKey(t *schema.Type, key string, seen []string) {
	if t.Has(key) {
		return
	}
	r.strayKey = r.strayKey || r.open[:len(r.open)-1].knows(key)
	r.Out.doubt(strings.ContainsAny(key, OddInKeys) || strings.HasPrefix(key, ".") || strings.TrimRight(key, ":, ") != key || knownInside(t, key, seen))
}

// OddInKeys are bytes of structure that no key has.
const OddInKeys = "\"\n;<>[]{}|`"

// pair reads a key, a colon and a value; the hold of the key ends where its value begins. It
// answers false when there is no value, with the hold still open. The object's keys so far are
// r.seen[seen:]. A text or a container streams, so from there on the member cannot be left out any
// more; every other value waits with its key until it is whole, since it may become another type,
// or nothing.
func (r *Reader) pair(t *schema.Type, seen int) bool {
	start := r.Out.Written()
	r.Key(r.Quotes != nil)
	written := r.Held(start)
	if len(written) == 0 {
		r.Out.doubt(len(r.Seen) > seen && (r.At(0) == '{' || r.At(0) == '[')) // an element of a list around, perhaps
		if c := r.At(0); c >= 0 && strings.IndexByte("/#-<", byte(c)) >= 0 {
			r.Repaired("comments") // and what stands behind it may be one's
		}
		r.Pos++ // no key can begin with this byte
		return false
	}
	key := scan.Unquote(bytes.TrimSpace(written))
	if len(t.Members()) > 0 {
		if name := r.Meant(t, key, r.Seen[seen:]); name != key {
			key = name
			r.TakeBack(start)
			r.Out.JSON = chat.AppendQuoted(r.Out.JSON, key)
		}
		r.doubtKey(t, key, r.Seen[seen:])
		if r.Seen = append(r.Seen, key); len(r.Seen) == seen+1 {
			r.HoldWrapper(t, key, start)
		}
	}
	r.blanks()
	r.Out.doubt(r.At(0) == ',' || r.At(0) == '}') // {"red", "blue"} or {"a", "b": 1}: a set, or half of a member
	r.colon()
	r.blanks()
	c := r.At(0)
	if c < 0 || c == ',' || scan.IsCloser(c) || r.IsMark(0) { // {"a": 1, "b or {"a": 1, "b": : nothing is a value here
		r.Out.doubt(c == ']' || c == ')') // the opener of a list may be missing
		r.Repaired("truncated")
		r.Unclosed = true
		r.Out.Broken = r.Out.Broken || c < 0
		return false
	}
	typ := t.Prop(key)
	if r.streams(typ) {
		r.HoldOff()
		return r.Value(typ)
	}
	from := r.Out.Written()
	if !r.Value(typ) { // an expression, or a sign that begins no value
		r.Out.doubt(true)
		r.Put("null")
		r.Pos++
	}
	if string(r.Held(from)) == "null" && r.Omitted(t, key) {
		return false
	}
	r.HoldOff()
	return true
}

// streams reports whether the value that begins here leaves as it comes; anything else waits with
// its key. A container streams whatever its schema says: its members hold by themselves.
func (r *Reader) streams(t *schema.Type) bool {
	c := r.At(0)
	if c == '{' || c == '[' || c == '(' {
		return true
	}
	_, ok := r.QuoteAt(0)
	return ok && t.Allows(schema.String) && t.Enum() == nil
}

// colon steps over what stands between key and value. What stands for it: = and => (Python, Ruby,
// PHP), the full-width colon of Chinese models, nothing at all. A quote too many in front of it,
// {"path"": …}, goes too.
func (cp *copier) colon() {
	cp.PutByte(':')
	if n := 1 + cp.Space(1); scan.IsQuote(cp.At(0)) && (cp.At(n) == ':' || cp.At(n) == '=') {
		cp.Pos += n // a quote too many
		cp.Repaired("extra-closer")
	}
	c, n := cp.At(0), cp.ColonAt(0)
	cp.Pos += n
	switch {
	case n == 0:
		// {"a" 1}
		cp.noColons = true
		cp.Out.doubt(bytes.HasSuffix(cp.Out.JSON, []byte(`"":`))) // a quote that was doubled, perhaps
		cp.Repaired("missing-colon")
	case c == '=':
		// {a=1}, and "b"=>2 of Ruby and PHP
		if cp.At(0) == '>' {
			cp.Pos++
		}
		cp.Repaired("equals")
	case c != ':':
		cp.Repaired("full-width")
	}
	// {"path":: "a.txt"} gave the value `: "a.txt"` before there was this
	for n := cp.Space(0); c == ':' && (cp.At(n) == ':' || cp.At(n) == '='); n = cp.Space(0) {
		cp.Pos += n + 1
		cp.Repaired("equals")
	}
}

// element reads an element of a list, whose hold ends where it begins. It answers false when there
// is none, with the hold still open: dots for "and so on", [1, 2, ...], are dropped.
func (r *Reader) element(t *schema.Type) bool {
	if r.Has(0, "...") {
		r.Pos += 2
		r.Repaired("ellipsis")
	} else if c := r.At(0); c != '=' && c != ':' { // neither begins an element
		r.HoldOff()
		if r.Value(t) {
			return true
		}
		r.HoldOn()
		r.Out.doubt(true) // an expression, perhaps
	}
	r.Pos++
	return false
}

// between copies the white space in front of a member and one comma; behind the first member (some)
// the comma counts. It answers where the comma stands in the output, -1 without one.
// [,1,,2] has commas with nothing before them: those go (extra-comma).
func (r *Reader) between(some bool) int {
	comma := -1
	for {
		r.blanks()
		n := r.CommaAt(0)
		if n == 0 {
			return comma
		}
		if n > 1 {
			r.Repaired("full-width")
		}
		r.Pos += n
		if some && comma < 0 {
			comma = r.Out.Written()
			r.PutByte(',')
		} else {
			r.Repaired("extra-comma")
		}
	}
}
