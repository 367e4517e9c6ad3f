package schema

import (
	"slices"
	"strconv"

	"toolnorm/chat"
)

// raw writes a text unchanged.
func (c *constrainer) raw(text string) { c.dst = append(c.dst, text...) }

// key writes the key of a member, with a comma unless it is the first.
func (c *constrainer) key(name string) {
	if c.dst[len(c.dst)-1] != '{' {
		c.raw(",")
	}
	c.dst = append(chat.AppendQuoted(c.dst, name), ':')
}

// number writes a member that is a number, unless n is nil.
func (c *constrainer) number(name string, n *Count) {
	if n != nil {
		c.key(name)
		c.raw(strconv.Itoa(n.N))
	}
}

// put writes the schema root, which is one call or a union of several, and after it all definitions
// to which it refers, because $defs have to be in the root. Definitions may refer to others, so it
// writes them until none is missing. The two shared definitions, of any value and of any integer,
// come last, because only then is it known whether anything refers to them.
func (c *constrainer) put(root *Place) {
	// The root's last brace is removed again, and $defs are written before it.
	c.shape(root, 0)
	c.dst = c.dst[:len(c.dst)-1]
	for i := 0; i < len(c.defs); i++ {
		c.define("r" + strconv.Itoa(i))
		s := c.defs[i].Follow()
		// The definition already has a name when it turns out that nothing fits it, so it must be
		// something that a server accepts.
		if s.Never {
			s = &Place{Kinds: Null} // what refers to it cannot be satisfied
		}
		c.shape(s, 0)
	}
	if c.free {
		for depth := freeDepth; depth >= 0; depth-- {
			c.define("any" + strconv.Itoa(depth))
			c.freeValue(depth)
		}
	}
	if c.integers {
		c.define("integer")
		c.between(-c.o.integer(), c.o.integer())
	}
	if c.defined {
		c.raw("}")
	}
	c.raw("}")
}

// define begins a definition. The first one also begins $defs, because an empty $defs would only
// make the request longer.
func (c *constrainer) define(name string) {
	if !c.defined {
		c.defined = true
		c.key("$defs")
		c.raw("{")
	}
	c.key(name)
}

// freeDepth is how deeply a value of any kind may be nested, because models that may write anything
// nest without end. Four rules express it. A single rule that refers to itself would let a model
// nest until its tokens run out.
const freeDepth = 3

// freeKinds are the types that a value of any kind may have. At the lowest level the last two are
// left out.
var freeKinds = []Kinds{String, Number, Boolean, Null, Array, Object}

// freeValue writes a value of any kind, whose lists and objects contain values of one level less.
// In JSON Schema true or {} would mean the same, but servers refuse the whole request for true, and
// let a model nest without end in {}. A weak constraint has no references. In it the contents of
// lists and objects are left to the server.
func (c *constrainer) freeValue(depth int) {
	kinds := freeKinds
	if depth == 0 && !c.o.Weak {
		kinds = freeKinds[:4]
	}
	c.anyOf(len(kinds), func(i int) {
		inner := `{"$ref":"#/$defs/any` + strconv.Itoa(depth-1) + `"}`
		switch kind := kinds[i]; {
		case kind&(Array|Object) == 0:
			c.ofKind(kind, anything(), 0)
		case c.o.Weak:
			c.raw(`{"type":"` + kindNames[kind] + `"}`)
		case kind == Array:
			c.raw(`{"type":"array","items":` + inner)
			c.number("maxItems", within(nil, nil, c.o.elements()))
			c.raw("}")
		default:
			c.raw(`{"type":"object","additionalProperties":` + inner + `}`)
		}
	})
}

// list calls the function write n times, and writes commas between the results.
func (c *constrainer) list(n int, write func(i int)) {
	for i := range n {
		if i > 0 {
			c.raw(",")
		}
		write(i)
	}
}

// anyOf writes a union of n alternatives, each by a call of the function write.
func (c *constrainer) anyOf(n int, write func(i int)) {
	c.raw(`{"anyOf":[`)
	c.list(n, write)
	c.raw("]}")
}

// anyValue writes a schema that allows anything.
func (c *constrainer) anyValue() {
	if c.o.Weak {
		c.freeValue(0)
		return
	}
	c.free = true
	c.raw(`{"$ref":"#/$defs/any` + strconv.Itoa(freeDepth) + `"}`)
}

// maxWeakDepth is how deeply a weak constraint follows a schema, because deeper schemas would make
// the grammar of an old server too long. The grammars of Ollama 0.24 end at 32 KB, and each level
// that is written in place repeats everything below it.
const maxWeakDepth = 8

// shape writes one place (a subschema). Where a constraint gets too long or too deep, the rest may
// be any value, which is checked afterwards.
func (c *constrainer) shape(s *Place, depth int) {
	switch {
	case s.Open() || len(c.dst) > maxWritten || depth > maxDepth:
		c.anyValue()
	case s.ref != nil && c.o.Weak:
		c.inPlace(s, depth)
	case s.ref != nil:
		c.reference(s)
	case s.Alternatives != nil:
		c.alternatives(s.Alternatives, depth)
	default:
		c.parts(s, depth)
	}
}

// alternatives writes a union, with equal alternatives only once. Merging the keywords beside a
// union into its alternatives can make them equal, and a server would try equal ones side by side
// at each token.
func (c *constrainer) alternatives(alts []*Place, depth int) {
	seen := map[string]bool{}
	c.raw(`{"anyOf":[`)
	for _, alt := range alts {
		before := len(c.dst)
		if len(seen) > 0 {
			c.raw(",")
		}
		start := len(c.dst)
		c.shape(alt, depth+1)
		// It was written to be compared. The definitions that it added to $defs remain there, which
		// does no harm.
		if text := string(c.dst[start:]); seen[text] {
			c.dst = c.dst[:before]
		} else {
			seen[text] = true
		}
	}
	c.raw("]}")
}

// inPlace writes the target of the reference s in place of the reference. If s is inside its own
// target, as in a tree, or nested too deeply, any value is allowed in its place, and the reference
// is recorded as dropped.
func (c *constrainer) inPlace(s *Place, depth int) {
	to := s.Follow()
	if depth > maxWeakDepth || to.Never || slices.Contains(c.around, s.ref) {
		s.doc.Drop(s.from, "")
		c.anyValue()
		return
	}
	c.around = append(c.around, s.ref)
	c.shape(to, depth)
	c.around = c.around[:len(c.around)-1]
}

// reference writes a reference to a definition, which is written later. Each target has one
// definition, however many references lead to it, so that recursion ends. Names are numbers,
// because an author's own names may contain any character and occur in the schemas of two tools.
func (c *constrainer) reference(s *Place) {
	at := slices.IndexFunc(c.defs, func(d *Place) bool { return d.ref == s.ref })
	if at < 0 {
		at = len(c.defs)
		c.defs = append(c.defs, s)
	}
	c.raw(`{"$ref":"#/$defs/r` + strconv.Itoa(at) + `"}`)
}
