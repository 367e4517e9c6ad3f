package schema

import (
	"regexp"
	"slices"

	"toolnorm/internal/jsontree"
)

// Type is one place (subschema) of a schema. A nil Type allows everything. It contains the keywords
// of the place itself. References and unions are followed on demand, because merging all of them
// beforehand would multiply, and a call uses few of a schema's members.
type Type struct {
	from  *jsontree.Value // where the place is written
	props *jsontree.Value // the schemas of its members
	// types has the Types of all places of the schema, by which members and elements are found.
	types    map[*jsontree.Value]*Type
	kinds    Kinds
	order    []string // the members in the schema's order, the required ones first
	required []string
	named    []namedType // types of members whose names match a pattern
	enum     []string    // source text of the allowed values

	all []*Type // these apply as well: references and allOf
	any []*Type // one of these applies: anyOf and oneOf

	lookup lookup // what all types that apply here say; see look
}

// namedType is the type of members whose names match a pattern.
type namedType struct {
	name *regexp.Regexp
	t    *Type
}

// maxDepth bounds how deeply a schema is followed. Real schemas are not nearly as deep. Places that
// are deeper allow everything.
const maxDepth = 32

// Holding returns the type of an object with one member.
func Holding(name string, member *Type) *Type {
	v := &jsontree.Value{}
	props := &jsontree.Value{Members: []jsontree.Member{{Name: name, Value: v}}}
	return &Type{from: jsontree.Absent, kinds: Object, props: props, order: []string{name},
		types: map[*jsontree.Value]*Type{v: member}}
}

// walk yields t and the types of all schemas that apply together with it: those of its references,
// its allOf and its unions, and theirs in turn. The nearest come first, because a schema's own
// keywords about a member take precedence over those of a distant one. Each comes once, although a
// schema may lead back to t, or to the same type in two ways.
func (t *Type) walk(yield func(*Type) bool) {
	if t == nil || !yield(t) || !t.joined() {
		return
	}
	todo, known := []*Type{t}, map[*Type]bool{t: true, nil: true}
	for i := 0; i < len(todo); i++ {
		if i > 0 && !yield(todo[i]) {
			return
		}
		for _, list := range [][]*Type{todo[i].all, todo[i].any} {
			for _, o := range list {
				if len(todo) == maxJoined { // further types would not be visited
					break
				}
				if !known[o] {
					known[o] = true
					todo = append(todo, o)
				}
			}
		}
	}
}

// maxJoined bounds how many types apply to one place.
const maxJoined = 1000

// joined reports whether the schema has references, an allOf or a union, so that other types apply
// together with t. For most schemas it is false, and they are read without looking for others.
func (t *Type) joined() bool { return len(t.all) > 0 || len(t.any) > 0 }

// Allows reports whether t allows values of at least one of the types in k. If t does not say which
// types it allows, it allows all. So a text that begins with `{` is read as an object unless the
// schema is known to allow no objects.
func (t *Type) Allows(k Kinds) bool { return t == nil || t.kinds == 0 || t.kinds&k != 0 }

// Known reports whether the schema says which types t allows. A value may be turned into another
// type only if Known returns true.
func (t *Type) Known() bool { return t != nil && t.kinds != 0 }

// Only reports whether the schema is known to allow no types but those in k. It is false if the
// schema's types are unknown. Only decides whether text may be read as a number or an object. The
// method Allows would be wrong for that: where a string is allowed too, the text is meant as it is
// written.
func (t *Type) Only(k Kinds) bool { return t.Known() && t.kinds&^k == 0 }

// Prop returns the type of a member, or nil if nothing is known of it. A listed member has its own
// type. Another one has the type of a pattern that its name matches, or else of
// additionalProperties. By the specification such a pattern applies to listed members, too, but for
// reading a value the nearer type is enough. In a union the type allows every value that any
// alternative allows.
func (t *Type) Prop(name string) *Type {
	if t == nil {
		return nil
	}
	if !t.joined() {
		if m := t.props.Get(name); m != jsontree.Absent {
			return t.types[m]
		}
	} else if p, listed := t.look().prop(name); listed {
		return p
	}
	return t.find(func(o *Type) (*Type, bool) {
		for _, n := range o.named {
			if n.name.MatchString(name) {
				return n.t, true
			}
		}
		rest := o.types[o.from.Get("additionalProperties")]
		return rest, rest != nil
	})
}

// find returns what the function one returns for t or, if that is nothing, for the schemas that
// apply together with t. Those of $ref and allOf come before the alternatives of a union. If
// alternatives disagree, the result allows every value that one of them allows, so "3" remains a
// text if one of them has a text there. find returns nil if nothing is known.
func (t *Type) find(one func(*Type) (*Type, bool)) *Type {
	if t == nil {
		return nil
	}
	if p, ok := one(t); ok && (p.Known() || !t.joined()) || !t.joined() {
		return p
	}
	for _, o := range t.all {
		if p, ok := one(o); ok && p.Known() {
			return p
		}
	}
	var found []*Type
	for _, o := range t.look().walked {
		if p, ok := one(o); ok {
			found = append(found, p)
		}
	}
	return either(found)
}

// Has reports whether the schema, or any alternative of a union in it, lists the member. A model
// sometimes puts an object around the arguments, and a listed name is not the key of such an
// object.
func (t *Type) Has(name string) bool {
	if t == nil || !t.joined() {
		return t != nil && t.props.Get(name) != jsontree.Absent
	}
	return len(t.look().listed[name]) > 0
}

// Members returns the names that the schema lists, in its order, the required ones first. A call
// with values by position, as in `f("Oslo", 3)`, is read by this order. It returns nil if t is nil.
func (t *Type) Members() (names []string) {
	switch {
	case t == nil:
		return nil
	case !t.joined():
		return t.order
	}
	return t.look().members
}

// requiredFirst returns the names with the required ones first, otherwise in the same order. It is
// the order of the values in a call without names, such as f("Oslo", 3), because in Python's
// signatures the parameters without defaults come first.
func requiredFirst(names, required []string) []string {
	if len(required) == 0 {
		return names
	}
	rank := map[string]int{}
	for _, name := range required {
		rank[name] = -1
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank[a] - rank[b] })
	return names
}

// Required returns the names of the required members. Members that only an alternative requires are
// left out, because another alternative may not require them.
func (t *Type) Required() []string {
	switch {
	case t == nil:
		return nil
	case len(t.all) == 0:
		return t.required
	}
	return t.look().required
}

// Item returns one type for all elements of an array, or nil if nothing is known of them. For a
// tuple the type allows every value that any of its places allows.
func (t *Type) Item() *Type {
	if t == nil {
		return nil
	}
	if prefix, rest := t.elements(); rest != nil && len(prefix) == 0 {
		return rest
	}
	return t.find(func(o *Type) (*Type, bool) {
		prefix, rest := o.elements()
		var all []*Type
		for _, one := range prefix {
			all = append(all, o.types[one])
		}
		return either(append(all, rest)), rest != nil || len(prefix) > 0
	})
}

// elements returns the schemas of the first elements and the type of the others, from the keywords
// of t itself.
func (t *Type) elements() (prefix []*jsontree.Value, rest *Type) {
	prefix, items, _ := elements(t.from)
	return prefix, t.types[items]
}

// Endless reports whether t is a list of lists without end, as in
// {"$defs":{"l":{"type":"array","items":{"$ref":"#/$defs/l"}}}}. Code that wraps a single value in
// as many lists as the type demands must check this first, because here it would never end.
func (t *Type) Endless() bool {
	for range maxDepth {
		if !t.Only(Array | Null) {
			return false
		}
		t = t.Item()
	}
	return true
}

// ItemAt returns the type of the element at a position, counted from 0, or nil if nothing is known
// of it. If the schema lists types for the first elements only, later elements have the type of the
// rest: `["Oslo", "3", "4"]` under a text and then numbers becomes ["Oslo", 3, 4].
func (t *Type) ItemAt(i int) *Type {
	return t.find(func(o *Type) (*Type, bool) {
		prefix, rest := o.elements()
		if i < len(prefix) {
			return o.types[prefix[i]], true
		}
		return rest, rest != nil
	})
}

// Enum returns the allowed values as JSON text, or nil if they are not listed. They are in the
// schema's order, and shared, so the caller must not change them.
func (t *Type) Enum() []string {
	if t == nil {
		return nil
	}
	return t.enum
}
