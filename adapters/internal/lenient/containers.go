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

// MaxDepth bounds how deeply arguments may be nested. A deeper value cuts the call, and is reported
// as the repair tooDeep.
const (
	MaxDepth = 512
	tooDeep  = "too-deep"
)

// Capture calls the function read and returns the bytes that it wrote. It is for values that are
// read before it is certain that the text is a call. So read writes to an output of its own, and
// the output of the call does not change. The bytes are valid until the next Capture. The match is
// Incomplete if the text was cut in an element, and Mismatch if nothing was read. It is Mismatch
// also after a doubt (see Output.Doubt), because a value that can be read in two ways must not
// decide which tool is called, or with which arguments.
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

// Value reads one value and writes it as strict JSON of the type t. It returns false if no value
// begins at the current position. Valid JSON is copied byte for byte, including white space and the
// digits of numbers. If t is nil, every value has the type in which it is written. A value without
// quotation marks is a number, a word such as true, or a text that lost its quotation marks.
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

// container reads an object, a list or a tuple. Where the schema demands a string, the text of the
// container becomes the string. For example, {"content": {"a": 1}} is common in calls of write_file
// for a JSON file, which should get the text that the model wrote. Where it demands a list of
// objects, an object becomes the only element. Double braces {{…}} are copied from templates, in
// which a printed brace is doubled.
func (r *Reader) container(c int, t *schema.Type) {
	asText := t.Only(schema.String | schema.Null)
	r.Out.doubt(asText && c == '[' && r.open.inList()) // perhaps a doubled bracket
	set := c == '{' && r.isSet(t)
	wrap := c == '{' && !set && t.Only(schema.Array|schema.Null) &&
		t.Item().Allows(schema.Object) && r.At(1+r.Space(1)) != '}'
	at := 0
	switch {
	case asText:
		// the source text, held back until the container is complete
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

// boxed reports whether a JSON value is a list of one string, such as ["ls"], or an object with
// only one string in a member such as value, as {"value": "ls"}. Where a string is expected, either
// the inner string or the whole source text may be meant.
func boxed(value string) bool {
	if fields := scan.Fields(value); len(fields) == 1 {
		return fields[0].Value[0] == '"' &&
			slices.Contains([]string{"value", "text", "string", "content"}, fields[0].Key)
	}
	var list []string
	return json.Unmarshal([]byte(value), &list) == nil && len(list) == 1
}

// isSet reports whether the brace at the current position opens a set such as {1, 2}, because no
// colon follows its first element. Empty braces are a set where the schema demands a list whose
// elements are not objects. {"red", "blue"} is a set in Python and in mathematics. A lone string in
// braces, {"red"}, may also be a member that lost its value. In Python, and under a known schema,
// it is a set.
func (r *Reader) isSet(t *schema.Type) bool {
	if !t.Allows(schema.Array) {
		return false
	}
	i := 1 + r.Space(1)
	switch c := r.At(i); c {
	case '}':
		return t.Only(schema.Array|schema.Null) && !t.Item().Allows(schema.Object)
	case '(', '[':
		// no key begins with these
		return true
	}
	n := r.itemEnd(i)
	c := r.At(n)
	return n > i && (c == ',' || c == '}' && (r.Python || t.Known() || !r.StartsString(i)))
}

// Container reads an object, a list, a tuple or a set, starting with its opening byte. A container
// deeper than MaxDepth becomes null, and the call is treated as one that was cut off. Real
// arguments never nest so deeply: [[[[… comes from a model in a loop, or from an attack on the
// recursion.
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

// Items reads the content and the closing bracket of a container whose opening bracket was read or
// is missing. Each member of an object is held back, with the comma before it, until its value
// begins. The reason is that the comma may be a trailing one, and the member may be left out if its
// value is null (null-omitted) or was cut (truncated). A missing comma is written when the next
// member begins. An element is sent from its first byte on. A key in place of an element ends the
// list, see listLost.
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
		n-- // no member was read, so no comma is due
	}
	if object && len(r.open) == 1 {
		r.Unwrap()
	}
	r.open = r.open[:len(r.open)-1]
	r.PutByte(brackets[1])
	r.Seen = r.Seen[:seen]
}

// next reads the white space and the comma before member or element n of a container. The result
// more reports whether there is such a member or element. If so, next opens a hold and returns the
// hold's position: everything written from there on can be taken back (see HoldOn). A trailing
// comma is removed, and a missing one is written. The hold begins before the comma, because a comma
// that was sent cannot be taken back: {"a": 1,} must not become {"a":1,}.
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

// doubtKey notes a doubt (see Output.Doubt) if the object's schema t does not have the key, and the
// key may belong to another object or may not be a key. For example, {"title": "a", "days: 3,
// "tags": []} literally has the key `days: 3, `, but no parameter has such a name. If an outer
// object, or an object in an earlier member, has the key, a brace may be missing or too early.
func (r *Reader) doubtKey(t *schema.Type, key string, seen []string) {
	if t.Has(key) {
		return
	}
	r.strayKey = r.strayKey || r.open[:len(r.open)-1].knows(key)
	r.Out.doubt(strings.ContainsAny(key, OddInKeys) || strings.HasPrefix(key, ".") ||
		strings.TrimRight(key, ":, ") != key || knownInside(t, key, seen))
}

// OddInKeys are bytes that have a meaning in JSON and do not occur in keys.
const OddInKeys = "\"\n;<>[]{}|`"

// pair reads a key, a colon and a value. It returns false if the member is left out, and then the
// hold (see HoldOn) that the caller has opened is still open. The keys that were read in this
// object are r.Seen[seen:]. A string or a container is sent while it is read, so the hold ends
// where it begins. Every other value is held back with its key until it is complete, because it may
// get another type, or be left out.
func (r *Reader) pair(t *schema.Type, seen int) bool {
	start := r.Out.Written()
	r.Key(r.Quotes != nil)
	written := r.Held(start)
	if len(written) == 0 {
		// perhaps an element of an outer list
		r.Out.doubt(len(r.Seen) > seen && (r.At(0) == '{' || r.At(0) == '['))
		if c := r.At(0); c >= 0 && strings.IndexByte("/#-<", byte(c)) >= 0 {
			r.Repaired("comments") // and what follows may belong to one
		}
		r.Pos++ // no key begins with this byte
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
	// {"red", "blue"} or {"a", "b": 1}: a set, or half a member
	r.Out.doubt(r.At(0) == ',' || r.At(0) == '}')
	r.colon()
	r.blanks()
	c := r.At(0)
	// {"a": 1, "b or {"a": 1, "b": : there is no value
	if c < 0 || c == ',' || scan.IsCloser(c) || r.IsMark(0) {
		r.Out.doubt(c == ']' || c == ')') // perhaps the opener of a list is missing
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
	if !r.Value(typ) { // an expression, or a sign that does not begin a value
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

// streams reports whether the value at the current position is sent while it is read, because it is
// a container or a string that the schema allows. Other values are held back with their keys until
// they are complete. Containers are sent under every schema, because their members are held back
// one by one.
func (r *Reader) streams(t *schema.Type) bool {
	c := r.At(0)
	if c == '{' || c == '[' || c == '(' {
		return true
	}
	_, ok := r.QuoteAt(0)
	return ok && t.Allows(schema.String) && t.Enum() == nil
}

// colon reads the colon between key and value and writes it. Instead of a colon, models also write
// = and => (Python, Ruby, PHP), a full-width colon (Chinese models), or nothing. A surplus
// quotation mark before it, as in {"path"": …}, is dropped.
func (cp *copier) colon() {
	cp.PutByte(':')
	if n := 1 + cp.Space(1); scan.IsQuote(cp.At(0)) && (cp.At(n) == ':' || cp.At(n) == '=') {
		cp.Pos += n // a surplus quote
		cp.Repaired("extra-closer")
	}
	c, n := cp.At(0), cp.ColonAt(0)
	cp.Pos += n
	switch {
	case n == 0:
		// {"a" 1}
		cp.noColons = true
		cp.Out.doubt(bytes.HasSuffix(cp.Out.JSON, []byte(`"":`))) // perhaps a doubled quote
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
	// {"path":: "a.txt"} would otherwise give the value `: "a.txt"`
	for n := cp.Space(0); c == ':' && (cp.At(n) == ':' || cp.At(n) == '='); n = cp.Space(0) {
		cp.Pos += n + 1
		cp.Repaired("equals")
	}
}

// element reads an element of a list, and returns false if there is none. The caller has started a
// hold, so what is written can be taken back (see HoldOn). The hold ends where the element begins,
// and stays open if there is no element. Dots that mean "and so on", as in [1, 2, ...], are
// dropped.
func (r *Reader) element(t *schema.Type) bool {
	if r.Has(0, "...") {
		r.Pos += 2
		r.Repaired("ellipsis")
	} else if c := r.At(0); c != '=' && c != ':' { // no element begins with these
		r.HoldOff()
		if r.Value(t) {
			return true
		}
		r.HoldOn()
		r.Out.doubt(true) // perhaps an expression
	}
	r.Pos++
	return false
}

// between copies the white space before a member or element. If some is true, because this is not
// the first one, it also copies one comma. It returns the position of the comma in the output, or
// -1 if none was copied. Other commas, as in [,1,,2], are dropped (extra-comma).
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
