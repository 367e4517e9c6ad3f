package schema

import (
	"regexp"
	"slices"

	"toolnorm/internal/jsontree"
)

// Type is one place of a schema. A nil Type allows everything. It knows what the place itself says;
// what references and unions add is asked for at each look-up, since merging it beforehand would
// multiply, and a call asks for few of a schema's members.
type Type struct {
	from     *jsontree.Value           // where it is written
	props    *jsontree.Value           // its members
	types    map[*jsontree.Value]*Type // of all places of the schema: members and elements are looked up by their text
	kinds    Kinds
	order    []string // the members in the schema's order, the required ones first
	required []string
	named    []namedType // of members by pattern
	enum     []string    // source text of the allowed values

	all []*Type // hold as well: references and allOf
	any []*Type // of these one holds: anyOf and oneOf

	lookup lookup // what others say besides; see look
}

// namedType is the type of members whose names match.
type namedType struct {
	name *regexp.Regexp
	t    *Type
}

// maxDepth bounds how deep a schema is followed.
// A real schema ends far above it; what lies deeper allows everything.
const maxDepth = 32

// walk goes through t and what holds besides, references and unions included, each once, the
// nearest first: what the place itself says of a member goes before what is said from afar. A
// schema may lead back to t, and two parts of it to the same place.
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
				if len(todo) == maxJoined { // what follows would not be visited
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

// maxJoined bounds how many types have a say in one place.
const maxJoined = 1000

// joined reports whether others than t itself have a say. Most places have none, and are then read
// without the maps of walk.
func (t *Type) joined() bool { return len(t.all) > 0 || len(t.any) > 0 }

// Allows reports whether any of the kinds may stand here. Unknown is allowed: a reader asks it
// before it reads `{` as an object, and must not refuse what nobody has ruled out.
func (t *Type) Allows(k Kinds) bool { return t == nil || t.kinds == 0 || t.kinds&k != 0 }

// Known reports whether the schema names the types of this place.
// Only where it does may a value be turned into another type.
func (t *Type) Known() bool { return t != nil && t.kinds != 0 }

// Only reports whether the schema allows the kinds and nothing else. Whoever reads text as
// something else asks this and not Allows: where a text may stand too, the text is meant as
// written.
func (t *Type) Only(k Kinds) bool { return t.Known() && t.kinds&^k == 0 }

// Prop returns the type of a member, nil when nothing is known of it. In a union it is what any
// alternative lets it be. A listed member goes before one whose name matches a pattern, and that
// before additionalProperties. The specification would have the first two hold together; for
// reading a value the nearer one says enough.
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

// find asks t and what holds besides. What holds in any case goes before what an alternative says,
// and nearly always t itself knows. Where alternatives disagree it may be what any of them lets it
// be, so "3" stays a text if one of them has a text there.
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

// Has reports whether the schema lists the member. An alternative of a union counts: a name that
// any of them lists is a parameter, and no stray key of an envelope.
func (t *Type) Has(name string) bool {
	if t == nil || !t.joined() {
		return t != nil && t.props.Get(name) != jsontree.Absent
	}
	return len(t.look().listed[name]) > 0
}

// Members returns the names the schema lists, in its order, the required ones first.
// The order is how values by position find their names: `f("Oslo", 3)`.
func (t *Type) Members() (names []string) {
	switch {
	case t == nil:
		return nil
	case !t.joined():
		return t.order
	}
	return t.look().members
}

// requiredFirst puts the required names in front, without another change of order: a call with
// values by position, as Python writes it, means the required parameters first, as a function's
// head would have them. Python's signatures have parameters without defaults in front, so that is
// how such a call counts them.
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

// Required returns the members that must be there.
// Those of unions are left out, since another alternative may do without them.
func (t *Type) Required() []string {
	switch {
	case t == nil:
		return nil
	case len(t.all) == 0:
		return t.required
	}
	return t.look().required
}

// Item returns the type of an array's elements where one is asked for all; of a tuple it is what
// any of its places lets an element be.
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

// elements returns the first elements and the type of the others, as t itself says it.
func (t *Type) elements() (prefix []*jsontree.Value, rest *Type) {
	prefix, items, _ := elements(t.from)
	return prefix, t.types[items]
}

// Endless reports whether t is a list of lists without end, as
// {"$defs":{"l":{"type":"array","items":{"$ref":"#/$defs/l"}}}} has it. Who puts a lone value into
// as many lists as the type wants must ask first: here he would never come to its elements.
func (t *Type) Endless() bool {
	for range maxDepth {
		if !t.Only(Array | Null) {
			return false
		}
		t = t.Item()
	}
	return true
}

// ItemAt returns the type of the element at a position, from 0 on. Behind a tuple's places come the
// others: `["Oslo", "3", "4"]` under a text and numbers is ["Oslo", 3, 4].
func (t *Type) ItemAt(i int) *Type {
	return t.find(func(o *Type) (*Type, bool) {
		prefix, rest := o.elements()
		if i < len(prefix) {
			return o.types[prefix[i]], true
		}
		return rest, rest != nil
	})
}

// Enum returns the allowed values as JSON text; nil when there is no such list.
// They are in the schema's order, and shared: who gets them changes nothing.
func (t *Type) Enum() []string {
	if t == nil {
		return nil
	}
	return t.enum
}
