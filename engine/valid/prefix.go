package valid

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Prefix reads the arguments of a call while they are written, and decides how much of them may be
// sent. One rule holds: everything that was sent can still be completed to arguments that fit the
// schema. Text that is not JSON ends the reading.
//
// A string for which the schema has no rules may be sent character by character. Any other value,
// and the end of an object or array, may be sent only when it is complete and has been checked. So
// a keyword that a later byte can break (maxLength, pattern, enum) holds its value back, and a
// keyword about an object as a whole holds the whole object back. A member that the schema forbids
// is cut out of the text, unless its name may be a misspelt one.
type Prefix struct {
	rules   *Validator
	text    []byte // what was written, without what was cut out
	written []byte // everything that was written, kept from the first cut on; nil: nothing was cut
	rest    string // what was written but is not in text yet
	pos     int    // how much of the text has been read
	safe    int    // how much of it is safe
	state   state
	stack   []open
	leaf    leaf
	problem *Problem
	goes    bool // the member whose name was read will be cut out
}

// state says what a Prefix expects next, such as a value, a key or a colon.
type state uint8

const (
	wantValue state = iota // a value, or the end of an empty array
	wantKey                // a key, or the end of an empty object
	inKey
	wantColon
	inLeaf // in a value that is read as a leaf
	wantNext
	finished
)

// open is an object or array whose end has not come yet. Its keys are kept to detect missing and
// duplicate members.
type open struct {
	schema *jsonschema.Schema
	array  bool
	keys   []string // of an object; the value of the last one may be missing
	n      int      // values that are complete
	begin  int      // where it begins
	start  int      // where its last key or, in an array, its last value begins
}

// Prefix returns a Prefix for arguments that must fit the schema.
func (v *Validator) Prefix() *Prefix { return &Prefix{rules: v} }

// Whole reports whether the schema has rules for the arguments as a whole (conditions, unions,
// numbers of members), so that nothing can be sent before the arguments are complete.
func (v *Validator) Whole() bool {
	_, whole := follow(v.root, '{')
	return whole
}

// maxStep is how many bytes are read at once. It is limited because the text after a cut has to be
// moved.
const maxStep = 512

// Write adds more text. Text with a problem is still kept, because the repair starts from the whole
// text.
func (p *Prefix) Write(fragment string) {
	if p.Cut() {
		p.written = append(p.written, fragment...)
	}
	for len(fragment) > 0 {
		// A server that is not asked to stream writes the whole call at once.
		n := min(len(fragment), maxStep)
		p.text = append(p.text, fragment[:n]...)
		p.rest, fragment = fragment[n:], fragment[n:]
		for p.problem == nil && p.pos < len(p.text) && p.step() {
		}
	}
}

// Text returns the text that was written, without the members that were cut out because the schema
// forbids them.
func (p *Prefix) Text() []byte { return p.text }

// Safe returns how many bytes of the text, from its beginning, are certainly the beginning of an
// object that fits. The number never shrinks, because text that the client has read cannot be taken
// back.
func (p *Prefix) Safe() int { return p.safe }

// step reads one token, or the part of it that has arrived. It returns false if more text is
// needed, or at a problem.
func (p *Prefix) step() bool {
	switch p.state {
	case inLeaf:
		return p.wait()
	case inKey:
		return p.key()
	}
	c := p.text[p.pos]
	if c == ' ' || c == '\n' || c == '\t' || c == '\r' {
		p.pos++
		return true
	}
	switch p.state {
	case wantValue:
		return p.value(c)
	case wantKey:
		if c != '"' {
			return p.end(c)
		}
		p.top().start = p.pos
		p.leaf, p.state = leaf{start: p.pos}, inKey
	case wantColon:
		if c != ':' {
			return p.fail(p.path(""), "json", "no colon follows a name")
		}
		p.pos, p.state = p.pos+1, wantValue
	case wantNext:
		return p.next(c)
	default:
		return p.fail(p.path(""), "json", "something follows the object")
	}
	return true
}

// top returns the innermost object or array that is open.
func (p *Prefix) top() *open { return &p.stack[len(p.stack)-1] }

// last returns the name of the member that is being read or was read last, or the index of the next
// element.
func (o *open) last() string {
	if o.array {
		return strconv.Itoa(o.n)
	}
	return o.keys[len(o.keys)-1]
}

// value begins to read a value whose first byte is c, and returns false if the schema does not
// allow it. If an object or array needs no check as a whole, its members are checked one by one.
// Any other value is read to its end first, except a string without rules, which may be sent at
// once.
func (p *Prefix) value(c byte) bool {
	switch {
	// As in Check: nothing of a string may be sent where an object is required, even if the schema
	// would accept it.
	case len(p.stack) == 0 && c != '{':
		return p.fail(p.path(""), "type", "want an object")
	case len(p.stack) > 0 && p.top().array:
		if c == ']' && p.top().n == 0 {
			return p.end(c)
		}
		p.top().start = p.pos
	}
	p.leaf, p.state = leaf{start: p.pos}, inLeaf
	// The member's name and colon are still after safe, and are cut together with the value.
	if p.goes {
		return true
	}
	s, whole := follow(p.place(), c)
	p.leaf.schema = s
	switch {
	case s.Bool != nil && !*s.Bool:
		return p.fail(p.path(""), "false", "is not allowed here")
	// The schema needs the whole value: it is checked when it is complete, and nothing in it is
	// opened.
	case whole:
	case c == '{' && takes(s, "object"), c == '[' && takes(s, "array"):
		p.stack = append(p.stack, open{schema: s, array: c == '[', begin: p.pos})
		p.pos++
		p.safe, p.state = p.pos, wantValue
		if c == '{' {
			p.state = wantKey
		}
	case c != '"' || !takes(s, "string"):
	case free(s):
		p.leaf.flows = true
	case freeFrom(s):
		p.leaf.least, p.leaf.enough = *s.MinLength, *s.MinLength
	}
	return true
}

// place returns the schema of the value that begins now, which is the value of the member whose key
// was read last, or an element of an array. It ignores patternProperties, because objects with
// these are checked only when they are complete.
func (p *Prefix) place() *jsonschema.Schema {
	if len(p.stack) == 0 {
		return p.rules.root
	}
	o := p.top()
	s := items(o.schema)
	if !o.array {
		s = cmp.Or(o.schema.Properties[o.last()], asSchema(o.schema.AdditionalProperties))
	}
	return cmp.Or(s, anything)
}

// anything is the schema of values to which no schema applies.
var anything = &jsonschema.Schema{}

// key reads a key up to its closing quote. It returns false if more text is needed, or at a
// problem. A duplicate name is a problem, because the first value has been sent, and a client may
// use the second one.
func (p *Prefix) key() bool {
	if !p.scan() {
		return false
	}
	o := p.top()
	var name string
	if json.Unmarshal(p.text[o.start:p.pos], &name) != nil {
		return p.fail(p.path(""), "json", "a member's name is no JSON")
	}
	if slices.Contains(o.keys, name) {
		return p.fail(p.path(name), "duplicate", "is there twice")
	}
	p.state, p.goes = wantColon, o.schema.Properties[name] == nil &&
		o.schema.AdditionalProperties == false
	switch {
	case !p.goes:
		o.keys = append(o.keys, name)
	case o.mayMean(name):
		return p.fail(p.path(name), "additionalProperties", "is not a parameter")
	}
	return true
}

// done records that a value is complete, so that a comma or a closing bracket must follow, or
// nothing if it is the whole text.
func (p *Prefix) done() {
	p.safe, p.state = p.pos, wantNext
	if len(p.stack) == 0 {
		p.state = finished
		return
	}
	p.top().n++
}

// next reads the character c after a value. It returns false at a problem. Too many elements are
// detected at the comma, and not only at the end, so nothing of the next element is sent.
func (p *Prefix) next(c byte) bool {
	o := p.top()
	switch {
	case c != ',':
		return p.end(c)
	case !o.array:
		p.state = wantKey
	case o.schema.MaxItems != nil && o.n >= *o.schema.MaxItems:
		return p.failItems("maxItems", fmt.Sprintf("want at most %d elements, got more",
			*o.schema.MaxItems))
	default:
		p.state = wantValue
	}
	p.pos++
	// This is the comma after a first member that was cut out: it is cut as well.
	if o.n == 0 {
		p.cut()
	}
	return true
}

// end reads the closing bracket of an object or array. It returns false at a problem. Only required
// members and the minimum number of elements are checked here. Objects with other keywords about a
// whole object are not read member by member (see rare).
func (p *Prefix) end(c byte) bool {
	o := p.top()
	if o.array && c != ']' || !o.array && (c != '}' || p.state == wantKey && len(o.keys) > 0) {
		return p.fail(p.path(""), "json", "is no JSON")
	}
	for _, name := range o.schema.Required {
		if !o.array && !slices.Contains(o.keys, name) {
			return p.fail(p.path(name), "required", "is missing")
		}
	}
	if least := o.schema.MinItems; o.array && least != nil && o.n < *least {
		return p.failItems("minItems", fmt.Sprintf("want at least %d elements, got %d", *least,
			o.n))
	}
	p.stack = p.stack[:len(p.stack)-1]
	p.pos++
	p.done()
	return true
}

// fail records a problem with the arguments, so that reading stops. The text that was safe to send
// before it stays safe. fail always returns false, which tells the caller to stop.
func (p *Prefix) fail(path []string, keyword, text string) bool {
	why := problem(path, keyword, text)
	p.problem = &why
	return false
}

// failItems records a problem of the array that is being read, such as too many elements, so that
// reading stops. The place of the problem is the array, and not the element at which it was
// noticed. failItems always returns false.
func (p *Prefix) failItems(keyword, text string) bool {
	path := p.path("")
	return p.fail(path[:len(path)-1], keyword, text)
}

// path returns the place that is being read: the names and indexes of the open containers, and the
// given name unless it is empty.
func (p *Prefix) path(name string) (steps []string) {
	for i, o := range p.stack {
		if o.array || i < len(p.stack)-1 || name == "" && o.n < len(o.keys) {
			steps = append(steps, o.last())
		}
	}
	if name != "" {
		steps = append(steps, name)
	}
	return steps
}

// Written returns all text that was written, including the members that were cut out.
func (p *Prefix) Written() []byte {
	if p.Cut() {
		return p.written
	}
	return p.text
}

// Cut reports whether a member was cut out of the text because the schema forbids it.
func (p *Prefix) Cut() bool { return p.written != nil }

// cut removes the text that was read after the last byte that is safe to send. If this is a member,
// the comma before the member is removed as well. The first member has no comma before it, so the
// method next removes the comma after it.
func (p *Prefix) cut() {
	if !p.Cut() {
		p.written = append(slices.Clone(p.text), p.rest...)
	}
	p.text = append(p.text[:p.safe], p.text[p.pos:]...)
	p.pos = p.safe
}

// mayMean reports whether a name that the schema does not list may be a misspelling of a listed
// member that has not occurred yet. For example, `"titel":` may mean "title". To remove such a
// member would lose the title, so the call is written again instead.
func (o *open) mayMean(name string) bool {
	for other := range o.schema.Properties {
		if misspelt(name, other) && !slices.Contains(o.keys, other) {
			return true
		}
	}
	return false
}
