// Package schema compiles a tool's JSON Schema into what reading its arguments needs: the types a place allows, its
// members, and how a value of the wrong type becomes one of the right type.
//
// It does not validate: a schema it cannot read simply allows everything.
package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Kinds is a set of JSON types. The empty set means that nothing is known, so everything is allowed.
type Kinds uint8

// The JSON types.
const (
	String Kinds = 1 << iota
	Integer
	Number
	Boolean
	Null
	Object
	Array
)

// words are the type names of JSON Schema.
var words = map[string]Kinds{
	"string": String, "integer": Integer, "number": Number | Integer, "boolean": Boolean,
	"null": Null, "object": Object, "array": Array,
}

// Type is one place of a schema. A nil Type allows everything.
type Type struct {
	kinds    Kinds
	props    map[string]*Type
	order    []string // the members in the schema's order, the required ones first
	required []string
	items    *Type
	enum     []string // source text of the allowed values
}

// maxDepth bounds how deep a schema is followed.
const maxDepth = 32

// Compile reads a schema. A broken one gives nil, which allows everything.
func Compile(raw json.RawMessage) *Type {
	c := compiler{root: raw, refs: map[string]*Type{}}
	return c.compile(raw, 0)
}

// node is a schema as it is written, as far as it matters here.
type node struct {
	Ref        string            `json:"$ref"`
	Type       json.RawMessage   `json:"type"`
	Properties properties        `json:"properties"`
	Required   []string          `json:"required"`
	Items      json.RawMessage   `json:"items"`
	Enum       []json.RawMessage `json:"enum"`
	Const      json.RawMessage   `json:"const"`
	AnyOf      []json.RawMessage `json:"anyOf"`
	OneOf      []json.RawMessage `json:"oneOf"`
	AllOf      []json.RawMessage `json:"allOf"`
	Nullable   bool              `json:"nullable"`
}

// properties are the members of an object as a schema lists them.
type properties []property

// property is one member and its schema.
type property struct {
	name   string
	schema json.RawMessage
}

// UnmarshalJSON reads an object and keeps its order.
func (p *properties) UnmarshalJSON(raw []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil || all == nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.Token() // the brace; the text is valid
	for d.More() {
		name, _ := d.Token()
		var one property
		one.name, _ = name.(string)
		if err := d.Decode(&one.schema); err != nil {
			return err
		}
		*p = append(*p, one)
	}
	return nil
}

// compiler follows the local references of one document; refs makes recursion end.
type compiler struct {
	root json.RawMessage
	refs map[string]*Type
}

func (c *compiler) compile(raw json.RawMessage, depth int) *Type {
	var n node
	if depth > maxDepth || len(raw) == 0 || json.Unmarshal(raw, &n) != nil {
		return nil
	}
	if n.Ref != "" {
		return c.follow(n.Ref, depth)
	}
	t := &Type{kinds: kindsOf(n.Type), required: n.Required}
	t.members(c, &n, depth)
	t.items = c.compile(n.Items, depth+1)
	t.values(&n)
	t.branches(c, &n, depth)
	if n.Nullable && t.kinds != 0 {
		t.kinds |= Null
	}
	return t
}

// follow compiles what a local reference points to, once.
func (c *compiler) follow(ref string, depth int) *Type {
	if t, ok := c.refs[ref]; ok {
		return t
	}
	path, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	t := new(Type)
	c.refs[ref] = t
	if found := c.compile(lookup(c.root, path), depth+1); found != nil {
		*t = *found
	}
	return t
}

// lookup walks a JSON pointer.
func lookup(doc json.RawMessage, pointer string) json.RawMessage {
	for _, step := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if step == "" {
			continue
		}
		var m map[string]json.RawMessage
		if json.Unmarshal(doc, &m) != nil {
			return nil
		}
		doc = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return doc
}

// kindsOf reads the type keyword: a word or a list of words.
func kindsOf(raw json.RawMessage) Kinds {
	var word string
	var list []string
	if json.Unmarshal(raw, &word) == nil {
		return words[word]
	}
	_ = json.Unmarshal(raw, &list)
	var k Kinds
	for _, w := range list {
		k |= words[w]
	}
	return k
}

func (t *Type) members(c *compiler, n *node, depth int) {
	for _, p := range n.Properties {
		t.put(p.name, c.compile(p.schema, depth+1))
	}
	if t.props != nil && t.kinds == 0 {
		t.kinds = Object
	}
	rank := func(name string) int {
		if slices.Contains(t.required, name) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(t.order, func(a, b string) int { return rank(a) - rank(b) })
}

func (t *Type) put(name string, p *Type) {
	if t.props == nil {
		t.props = map[string]*Type{}
	}
	if _, ok := t.props[name]; !ok {
		t.order = append(t.order, name)
	}
	t.props[name] = p
}

// values takes over enum and const, and the types they imply.
func (t *Type) values(n *node) {
	list := n.Enum
	if len(n.Const) > 0 {
		list = []json.RawMessage{n.Const}
	}
	var implied Kinds
	for _, v := range list {
		t.enum = append(t.enum, string(v))
		implied |= KindOf(string(v))
	}
	if t.kinds == 0 {
		t.kinds = implied
	}
}

// branches unites anyOf and oneOf, and adds what allOf demands.
func (t *Type) branches(c *compiler, n *node, depth int) {
	for _, raw := range n.AllOf {
		if b := c.compile(raw, depth+1); b != nil {
			t.unite(b)
			t.required = append(t.required, b.required...)
			if t.kinds == 0 {
				t.kinds = b.kinds
			}
		}
	}
	var union Kinds
	known := true
	for _, raw := range append(n.AnyOf, n.OneOf...) {
		b := c.compile(raw, depth+1)
		if b == nil || b.kinds == 0 {
			known = false
			continue
		}
		t.unite(b)
		union |= b.kinds
	}
	if t.kinds == 0 && known {
		t.kinds = union
	}
}

// unite adds the members and elements of b that t does not have.
func (t *Type) unite(b *Type) {
	for _, name := range b.order {
		if _, ok := t.props[name]; !ok {
			t.put(name, b.props[name])
		}
	}
	if t.items == nil {
		t.items = b.items
	}
	if t.enum == nil {
		t.enum = b.enum
	}
}

// Allows says whether any of the kinds may stand here.
func (t *Type) Allows(k Kinds) bool { return t == nil || t.kinds == 0 || t.kinds&k != 0 }

// Known says whether the schema names the types of this place.
func (t *Type) Known() bool { return t != nil && t.kinds != 0 }

// Only says whether the schema allows the kinds and nothing else.
func (t *Type) Only(k Kinds) bool { return t.Known() && t.kinds&^k == 0 }

// Prop is the type of a member, nil when nothing is known of it.
func (t *Type) Prop(name string) *Type {
	if t == nil {
		return nil
	}
	return t.props[name]
}

// Has says whether the schema lists the member.
func (t *Type) Has(name string) bool {
	if t == nil {
		return false
	}
	_, ok := t.props[name]
	return ok
}

// Members are the names the schema lists, in its order, the required ones first.
func (t *Type) Members() []string {
	if t == nil {
		return nil
	}
	return t.order
}

// Required are the members that must be there.
func (t *Type) Required() []string {
	if t == nil {
		return nil
	}
	return t.required
}

// Item is the type of an array's elements.
func (t *Type) Item() *Type {
	if t == nil {
		return nil
	}
	return t.items
}

// Enum are the allowed values as JSON text; nil when there is no such list.
func (t *Type) Enum() []string {
	if t == nil {
		return nil
	}
	return t.enum
}
