package schema

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"

	"toolnorm/internal/jsontree"
)

// Compile reads a schema. It returns nil, which allows everything, for a broken schema. Arguments
// are then read as they are written, and no value gets another type because of a schema that cannot
// be understood.
func Compile(raw json.RawMessage) *Type {
	root := parse(raw)
	if root == nil {
		return nil
	}
	c := compiler{Doc: &Doc{root: root}, done: map[*jsontree.Value]*Type{}}
	return c.compile(root, 0)
}

// compiler follows the references of one document. Each place (subschema) is compiled once, so
// recursion ends, and the size of a Type is linear in the schema. A Type is a graph with the
// schema's own cycles, unlike a Place, in which everything that applies is merged.
type compiler struct {
	*Doc
	done map[*jsontree.Value]*Type
}

// compile returns the Type of one subschema, or nil if everything is allowed. The Type is stored
// before its contents are read. So if the contents refer to the subschema itself, as the nodes of a
// tree do, the stored Type is found, and the graph gets a cycle. A subschema that is only a
// reference gets the Type of its target, so that a chain of references costs nothing at look-up.
// Other keywords beside a $ref apply as well, as they do since draft 2019-09. Up to draft 7 they
// were ignored, but an author who writes both means both.
func (c *compiler) compile(v *jsontree.Value, depth int) *Type {
	if kind(v) != Object || depth > maxDepth {
		return nil
	}
	if t, ok := c.done[v]; ok {
		return t
	}
	t := &Type{from: v, props: v.Get("properties"), types: c.done, kinds: kindsOf(v.Get("type")),
		required: words(v.Get("required"))}
	// A place that allows all types is like a place without a type: no value is changed for
	// {"type": "any"}.
	if t.kinds == Any {
		t.kinds = 0
	}
	c.done[v] = t
	// The entry of this place gets the target as well, so that a later reference to this place
	// finds it without a detour.
	if target := c.target(v, "$ref", depth); target != nil && lone(v, "$ref") {
		c.done[v] = target
		return target
	}
	t.values(v)
	t.inside(c, v, depth)
	t.besides(c, v, depth)
	// A place without a type allows everything already, including null.
	if v.Get("nullable").Raw == "true" && t.kinds != 0 {
		t.kinds |= Null
	}
	return t
}

// target compiles the target of a reference, and returns nil if there is none. A reference out of
// the document has none, because nothing is loaded from elsewhere, so its constraints are unknown.
func (c *compiler) target(v *jsontree.Value, keyword string, depth int) *Type {
	ref := v.Get(keyword)
	if kind(ref) != String {
		return nil
	}
	to, _ := c.resolve(ref.Text)
	return c.compile(to, depth+1)
}

// values reads enum and const, and the types that they imply. "enum": [1, 2] without a type says
// that numbers are required, so "2" becomes 2. Values of other types than the schema's stay in the
// list. So a call with such a value is not changed here, and the package that checks calls reports
// the error.
func (t *Type) values(v *jsontree.Value) {
	var implied Kinds
	for _, one := range enumValues(v) {
		t.enum = append(t.enum, one.Raw)
		implied |= KindOf(one.Raw)
	}
	t.kinds = cmp.Or(t.kinds, implied)
}

// inside compiles the schemas of members and elements, and notes the names of members. A pattern of
// names that Go cannot read (look-ahead) is left out, so additionalProperties applies to its
// members. "properties" without a type means an object. The schemas true and false compile to nil:
// nothing is known of values under true, and none exist under false.
func (t *Type) inside(c *compiler, v *jsontree.Value, depth int) {
	for _, m := range t.props.Members {
		t.order = append(t.order, m.Name)
		c.compile(m.Value, depth+1)
	}
	if len(t.order) > 0 {
		t.order = requiredFirst(each(t.order), t.required)
		t.kinds = cmp.Or(t.kinds, Object)
	}
	for _, m := range v.Get("patternProperties").Members {
		if re, err := regexp.Compile(GoPattern(m.Name)); err == nil {
			t.named = append(t.named, namedType{re, c.compile(m.Value, depth+1)})
		}
	}
	prefix, items, _ := elements(v)
	for _, one := range append(slices.Clip(prefix), items, v.Get("additionalProperties")) {
		c.compile(one, depth+1)
	}
}

// besides compiles the schemas in $ref, allOf, anyOf and oneOf, and sets the types and values of t
// that follow from them. An allOf has the type of its first part with a type, and a union has the
// types of all its alternatives. For example, pydantic writes {"anyOf": [{"type": "integer"},
// {"type": "null"}]} for an optional number, and "3" would stay a text if the types of the union
// were not known. The members of these schemas are not merged into t. They are searched when a
// member is looked up, since most never are.
func (t *Type) besides(c *compiler, v *jsontree.Value, depth int) {
	for _, k := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if to := c.target(v, k, depth); to != nil && to != t {
			t.all = append(t.all, to)
		}
	}
	for _, one := range v.Get("allOf").Items {
		if b := c.compile(one, depth+1); b != nil {
			t.all = append(t.all, b)
		}
	}
	for _, b := range t.all {
		t.take(b)
	}
	for _, one := range append(slices.Clip(v.Get("anyOf").Items), v.Get("oneOf").Items...) {
		t.any = append(t.any, c.compile(one, depth+1))
	}
	if u := either(t.any); u != nil {
		t.take(u)
	}
}

// take copies the types and the values of b, where t itself has none.
func (t *Type) take(b *Type) {
	t.kinds = cmp.Or(t.kinds, b.kinds)
	if t.enum == nil {
		t.enum = b.enum
	}
}

// either returns a Type that allows every value that one of several Types allows, or nil if that is
// every value. One unknown alternative makes the whole union unknown, because to turn "5" into 5
// only because the other alternative is a number could destroy a text. {"const": "a"} or {"const":
// "b"} becomes a list of two values, but with {"type": "number"} as a third the list is dropped.
func either(list []*Type) *Type {
	if len(list) == 0 || slices.Contains(list, nil) {
		return nil
	}
	// All alternatives are one Type, as when they refer to one definition.
	if !slices.ContainsFunc(list, func(t *Type) bool { return t != list[0] }) {
		return list[0]
	}
	// The alternatives are not merged, so that members are looked up in each of them. kinds and
	// enum say what the place as a whole allows.
	u := &Type{from: jsontree.Absent, props: jsontree.Absent, any: list}
	listed := true
	for _, t := range list {
		if t.kinds == 0 {
			return &Type{from: jsontree.Absent, props: jsontree.Absent, any: list}
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

// maxListed bounds how many values a union lists. The budget has the same bound for one enum, but
// unions of unions repeat lists, so their sum needs a bound of its own.
const maxListed = 5000

// countable returns the values that t allows, or nil if they cannot be listed. The types null and
// boolean have one and two values. So {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}, an enum
// that may be null, is still one list of values for FromText.
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
