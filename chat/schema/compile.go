package schema

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
)

// Compile reads a schema. A broken one gives nil, which allows everything: arguments are then read as they are written, and
// nothing is turned into another type on the word of a schema that cannot be understood.
func Compile(raw json.RawMessage) *Type {
	root := parse(raw)
	if root.kind() != Object {
		return nil
	}
	c := compiler{Doc: &Doc{root: root}, done: map[*value]*Type{}}
	return c.compile(root, 0)
}

// compiler follows the references of one document. Each place is compiled once, which makes recursion end, and keeps what a
// Type holds linear in the schema: it is a graph with the schema's own circles, unlike a Place, where what applies is merged.
type compiler struct {
	*Doc
	done map[*value]*Type
}

// compile is the Type of one place, nil where everything is allowed. The Type is noted before what lies in it is read: a tree
// whose nodes refer to the tree finds it there, and the graph gets its circle. A place that is nothing but a reference is its
// target, so that a chain of references costs no step at look-up.
// Beside a $ref other keywords count, as since draft 2019-09; up to draft 7 they were ignored, but who writes both means both.
func (c *compiler) compile(v *value, depth int) *Type {
	if v.kind() != Object || depth > maxDepth {
		return nil
	}
	if t, ok := c.done[v]; ok {
		return t
	}
	t := &Type{kinds: known(kindsOf(v.get("type"))), required: v.get("required").words()}
	c.done[v] = t
	// The target takes this place's entry, too: whoever refers here later gets it without a detour.
	if target := c.target(v, "$ref", depth); target != nil && lone(v, "$ref") {
		c.done[v] = target
		return target
	}
	t.values(v)
	t.members(c, v, depth)
	t.elements(c, v, depth)
	t.besides(c, v, depth)
	// Without a type everything may stand already, null too.
	if n := v.get("nullable"); n != nil && n.raw == "true" && t.kinds != 0 {
		t.kinds |= Null
	}
	return t
}

// known is what a Type says of kinds: all of them are as good as none. {"type": "any"} is then like a place without a type, and
// no value is changed for it.
func known(k Kinds) Kinds {
	if k == Any {
		return 0
	}
	return k
}

// target compiles what a reference leads to, nil when there is none. A reference out of the document leads nowhere: nothing
// is loaded from elsewhere, and what it would have said is unknown.
func (c *compiler) target(v *value, keyword string, depth int) *Type {
	ref := v.get(keyword)
	if ref.kind() != String {
		return nil
	}
	to, _ := c.resolve(ref.text)
	return c.compile(to, depth+1)
}

// values takes over enum and const, and the types they imply. Values of other types stay: a call that has one of them is
// left as it is, and the check says what is wrong with it.
// "enum": [1, 2] without a type says that numbers are wanted, so "2" becomes 2.
func (t *Type) values(v *value) {
	var implied Kinds
	for _, one := range listed(v) {
		t.enum = append(t.enum, one.raw)
		implied |= KindOf(one.raw)
	}
	t.kinds = cmp.Or(t.kinds, implied)
}

// members compiles the keywords of objects. A pattern of names that Go cannot read (look-around) is left out: its members are
// then read as any others. "properties" without a type means an object.
func (t *Type) members(c *compiler, v *value, depth int) {
	for _, m := range v.get("properties").fields() {
		t.put(m.name, c.compile(m.v, depth+1))
	}
	for _, m := range v.get("patternProperties").fields() {
		if re, err := regexp.Compile(GoPattern(m.name)); err == nil {
			t.named = append(t.named, namedType{re, c.compile(m.v, depth+1)})
		}
	}
	// true and false are no objects and compile to nil: of other members nothing is known, or there are none.
	t.rest = c.compile(v.get("additionalProperties"), depth+1)
	if t.props != nil && t.kinds == 0 {
		t.kinds = Object
	}
	t.order = requiredFirst(t.order, t.required)
}

// put notes a member. The order is that of first mention and the Type that of the last, as in value.get.
func (t *Type) put(name string, p *Type) {
	if t.props == nil {
		t.props = map[string]*Type{}
	}
	if _, ok := t.props[name]; !ok {
		t.order = append(t.order, name)
	}
	t.props[name] = p
}

// elements compiles the keywords of arrays, in the spelling of any draft.
func (t *Type) elements(c *compiler, v *value, depth int) {
	prefix, items, _ := elements(v)
	for _, one := range prefix {
		t.prefix = append(t.prefix, c.compile(one, depth+1))
	}
	t.items = c.compile(items, depth+1)
}

// besides notes references, allOf, anyOf and oneOf, and the types and values that follow from them. They stay apart instead
// of being merged, since looking up a member asks one after the other, and most are never asked.
// Of an allOf the first part with a type decides; of a union the type is what all alternatives together allow.
// Without that, {"anyOf": [{"type": "integer"}, {"type": "null"}]}, which pydantic writes for an optional number, would leave
// "3" a text.
func (t *Type) besides(c *compiler, v *value, depth int) {
	for _, k := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if to := c.target(v, k, depth); to != nil && to != t {
			t.all = append(t.all, to)
		}
	}
	for _, one := range v.get("allOf").list() {
		if b := c.compile(one, depth+1); b != nil {
			t.all = append(t.all, b)
		}
	}
	for _, b := range t.all {
		t.kinds = cmp.Or(t.kinds, b.kinds)
		if t.enum == nil {
			t.enum = b.enum
		}
	}
	for _, one := range append(slices.Clip(v.get("anyOf").list()), v.get("oneOf").list()...) {
		t.any = append(t.any, c.compile(one, depth+1))
	}
	if u := either(t.any); u != nil {
		t.kinds = cmp.Or(t.kinds, u.kinds)
		if t.enum == nil {
			t.enum = u.enum
		}
	}
}

// either is what one of several allows, nil when that is everything. One alternative that is unknown makes the whole union
// unknown: to turn "5" into 5 because the other alternative is a number could destroy a text.
// {"const": "a"} or {"const": "b"} is a list of two values; with a number as a third alternative it is no list any more.
func either(list []*Type) *Type {
	if len(list) == 0 || slices.Contains(list, nil) {
		return nil
	}
	// All alternatives are one Type, as when they refer to one definition.
	if !slices.ContainsFunc(list, func(t *Type) bool { return t != list[0] }) {
		return list[0]
	}
	// The alternatives stay, so that members are looked up in each of them; kinds and values say what the place as a whole takes.
	u := &Type{any: list}
	listed := true
	for _, t := range list {
		if t.kinds == 0 {
			return &Type{any: list}
		}
		u.kinds |= t.kinds
		values := t.countable()
		if listed = listed && values != nil && len(u.enum) < maxListed; listed {
			u.enum = append(u.enum, values...)
		}
	}
	if !listed {
		u.enum = nil
	}
	return u
}

// maxListed bounds the values of a union.
// It is the bound of one enum in the budget. Unions of unions repeat lists, so their sum has to have a bound of its own.
const maxListed = 5000

// countable are the values that t allows, nil when they are not countable. null counts as a list of one, so that an enum that
// may be null, {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}, is still an enum for FromText.
func (t *Type) countable() []string {
	switch {
	case t.enum != nil:
		return t.enum
	case t.kinds == Null:
		return []string{"null"}
	case t.kinds == Boolean:
		return []string{"true", "false"}
	}
	return nil
}
