package valid

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Prefix reads the arguments of a call while they are written, and knows how much of them can still become an object that
// fits the schema. The text must be JSON so far; what is not ends the reading.
//
// Strings that the schema leaves free are followed character by character. Every other value counts once it is whole and
// has been checked, and so does the end of an object or array.
type Prefix struct {
	rules   *Validator
	text    []byte
	pos     int // how much has been read
	safe    int // how much of it can stand
	state   state
	stack   []open
	leaf    leaf
	problem *Problem
}

// state is what may come next.
type state uint8

const (
	wantValue state = iota // a value, or the end of an empty array
	wantKey                // a key, or the end of an empty object
	inKey
	wantColon
	inText // a string that the schema leaves free
	inLeaf // a value that counts when it is whole
	wantNext
	finished
)

// open is an object or array whose end has not come.
type open struct {
	schema *jsonschema.Schema // nil: anything may be in it
	array  bool
	keys   []string // of an object, the last one's value may be missing
	n      int      // values that are complete
	begin  int      // where it begins
	start  int      // where its last key or, in an array, its last value begins
}

// leaf is the value that is being waited for.
type leaf struct {
	schema *jsonschema.Schema // nil: anything
	start  int
	depth  int  // of brackets
	quoted bool // inside a string
	chars  int  // of the string so far, at least
	enough int  // characters after which a string may be followed; 0: only when it is whole
}

// Prefix begins to read arguments that must fit the schema.
func (v *Validator) Prefix() *Prefix { return &Prefix{rules: v} }

// Whole says whether the schema speaks of the arguments as a whole (conditions, unions, numbers of members), so that none
// of them can leave before the last one is there.
func (v *Validator) Whole() bool {
	_, whole := follow(v.root, '{')
	return whole
}

// Write reads on.
func (p *Prefix) Write(fragment string) {
	p.text = append(p.text, fragment...)
	for p.problem == nil && p.pos < len(p.text) && p.step() {
	}
}

// Text is all that was written.
func (p *Prefix) Text() []byte { return p.text }

// Safe is how many bytes of the text can stand in front of an object that fits. It never shrinks.
func (p *Prefix) Safe() int { return p.safe }

// Problem is why nothing behind Safe can stand; nil as long as all is well.
func (p *Prefix) Problem() *Problem { return p.problem }

// step reads one token or what is there of it. It answers false when more is needed.
func (p *Prefix) step() bool {
	switch p.state {
	case inText:
		return p.follow()
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
		p.pos, p.state = p.pos+1, inKey
	case wantColon:
		if c != ':' {
			return p.fail("", "json", "no colon follows a name")
		}
		p.pos, p.state = p.pos+1, wantValue
	case wantNext:
		return p.next(c)
	default:
		return p.fail("", "json", "something follows the object")
	}
	return true
}

func (p *Prefix) top() *open { return &p.stack[len(p.stack)-1] }

// value begins a value.
func (p *Prefix) value(c byte) bool {
	if c == ']' && len(p.stack) > 0 && p.top().array && p.top().n == 0 {
		return p.end(c)
	}
	s, whole := follow(p.place(), c)
	if len(p.stack) > 0 && p.top().array {
		p.top().start = p.pos
	}
	switch {
	case s != nil && s.Bool != nil && !*s.Bool:
		return p.fail("", "false", "is not allowed here")
	case whole:
	case c == '{' && takes(s, "object"), c == '[' && takes(s, "array"):
		p.stack = append(p.stack, open{schema: s, array: c == '[', begin: p.pos})
		p.pos++
		p.safe, p.state = p.pos, wantValue
		if c == '{' {
			p.state = wantKey
		}
		return true
	case c == '"' && takes(s, "string") && free(s):
		p.pos++
		p.safe, p.state = p.pos, inText
		return true
	}
	p.leaf = leaf{schema: s, start: p.pos}
	if c == '"' && !whole && takes(s, "string") && freeFrom(s) {
		p.leaf.enough = *s.MinLength
	}
	p.state = inLeaf
	return true
}

// place is the schema of the value that begins, nil when anything may stand there.
func (p *Prefix) place() *jsonschema.Schema {
	if len(p.stack) == 0 {
		return p.rules.root
	}
	o := p.top()
	switch {
	case o.schema == nil:
		return nil
	case o.array:
		return items(o.schema)
	}
	if s, ok := o.schema.Properties[o.keys[len(o.keys)-1]]; ok {
		return s
	}
	s, _ := o.schema.AdditionalProperties.(*jsonschema.Schema)
	return s
}

// follow reads a string that is free up to its end or the end of the text.
func (p *Prefix) follow() bool {
	for {
		n := bytes.IndexAny(p.text[p.pos:], `"\`)
		if n < 0 {
			p.pos = len(p.text)
			p.safe = p.pos
			return false
		}
		p.pos += n
		if p.text[p.pos] == '"' {
			p.pos++
			p.done()
			return true
		}
		if p.safe = p.pos; p.pos+2 > len(p.text) {
			return false // half an escape
		}
		p.pos += 2
	}
}

// wait reads a value that counts when it is whole.
func (p *Prefix) wait() bool {
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		switch {
		case p.leaf.quoted && c == '\\':
			if p.pos+2 > len(p.text) {
				return false
			}
			p.pos++
			if p.leaf.chars++; p.text[p.pos] == 'u' {
				p.leaf.chars -= 5 // its digits are no characters; half of a pair is none either
			}
		case c == '"':
			p.leaf.quoted = !p.leaf.quoted
			if !p.leaf.quoted && p.leaf.depth == 0 {
				p.pos++
				return p.check()
			}
		case p.leaf.quoted && utf8.RuneStart(c):
			if p.leaf.chars++; p.leaf.enough > 0 && p.leaf.chars > p.leaf.enough {
				p.safe, p.state = p.pos, inText
				return true
			}
		case p.leaf.quoted:
		case c == '{' || c == '[':
			p.leaf.depth++
		case p.leaf.depth == 0 && (c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			return p.check()
		case c == '}' || c == ']':
			if p.leaf.depth--; p.leaf.depth == 0 {
				p.pos++
				return p.check()
			}
		}
		p.pos++
	}
	return false
}

// check looks at the value that is whole now.
func (p *Prefix) check() bool {
	doc, err := parse(p.text[p.leaf.start:p.pos])
	if err != nil {
		return p.fail("", "json", err.Error())
	}
	if p.rules.workFor(append(make([]int, len(p.stack)), doc.levels...)) > most {
		return p.fail("", "work", "too large or nested too deeply to be checked with this schema")
	}
	if len(doc.twice) > 0 {
		return p.stop(problem(append(p.path(""), doc.twice[0]...), "duplicate", "is there twice"))
	}
	if p.leaf.schema != nil {
		if failed, ok := p.leaf.schema.Validate(doc.value).(*jsonschema.ValidationError); ok {
			f := findings(failed)[0]
			return p.stop(problem(append(p.path(""), f.path...), f.keyword, f.text))
		}
	}
	p.done()
	return true
}

// key reads a key up to its closing quote.
func (p *Prefix) key() bool {
	o := p.top()
	end := p.pos
	for {
		n := bytes.IndexAny(p.text[end:], `"\`)
		if n < 0 || end+n+1 >= len(p.text) && p.text[end+n] == '\\' {
			return false
		}
		if end += n; p.text[end] == '"' {
			break
		}
		end += 2
	}
	var name string
	if json.Unmarshal(p.text[o.start:end+1], &name) != nil {
		return p.fail("", "json", "a member's name is no JSON")
	}
	if slices.Contains(o.keys, name) {
		return p.fail(name, "duplicate", "is there twice")
	}
	if o.schema != nil {
		if _, known := o.schema.Properties[name]; !known && o.schema.AdditionalProperties == false {
			return p.fail(name, "additionalProperties", "is not a parameter")
		}
	}
	o.keys = append(o.keys, name)
	p.pos, p.state = end+1, wantColon
	return true
}

// done notes that a value is whole.
func (p *Prefix) done() {
	p.safe, p.state = p.pos, wantNext
	if len(p.stack) == 0 {
		p.state = finished
		return
	}
	p.top().n++
}

// next reads what follows a value.
func (p *Prefix) next(c byte) bool {
	o := p.top()
	switch {
	case c != ',':
		return p.end(c)
	case !o.array:
		p.state = wantKey
	case o.schema != nil && o.schema.MaxItems != nil && o.n >= *o.schema.MaxItems:
		return p.failItems("maxItems", fmt.Sprintf("want at most %d elements, got more", *o.schema.MaxItems))
	default:
		p.state = wantValue
	}
	p.pos++
	return true
}

// end reads the end of an object or array.
func (p *Prefix) end(c byte) bool {
	o := p.top()
	if o.array && c != ']' || !o.array && (c != '}' || p.state == wantKey && len(o.keys) > 0) {
		return p.fail("", "json", "is no JSON")
	}
	if s := o.schema; s != nil {
		for _, name := range s.Required {
			if !o.array && !slices.Contains(o.keys, name) {
				return p.fail(name, "required", "is missing")
			}
		}
		if o.array && s.MinItems != nil && o.n < *s.MinItems {
			return p.failItems("minItems", fmt.Sprintf("want at least %d elements, got %d", *s.MinItems, o.n))
		}
	}
	p.stack = p.stack[:len(p.stack)-1]
	p.pos++
	p.done()
	return true
}

// fail stops the reading at what is wrong, in the member of that name or where the reading is.
func (p *Prefix) fail(name, keyword, text string) bool {
	return p.stop(problem(p.path(name), keyword, text))
}

// failItems stops the reading at an array as a whole.
func (p *Prefix) failItems(keyword, text string) bool {
	path := p.path("")
	return p.stop(problem(path[:len(path)-1], keyword, text))
}

func (p *Prefix) stop(why Problem) bool {
	p.problem = &why
	return false
}

// path is where the reading is: the names and numbers of what is open, and one more name unless that is empty.
func (p *Prefix) path(name string) (steps []string) {
	for i, o := range p.stack {
		switch {
		case o.array:
			steps = append(steps, strconv.Itoa(o.n))
		case i < len(p.stack)-1 || name == "" && o.n < len(o.keys):
			steps = append(steps, o.keys[len(o.keys)-1])
		}
	}
	if name != "" {
		steps = append(steps, name)
	}
	return steps
}
