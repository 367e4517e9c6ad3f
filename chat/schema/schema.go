package schema

import (
	"regexp"
	"slices"
)

// Type is one place of a schema. A nil Type allows everything.
type Type struct {
	kinds    Kinds
	props    map[string]*Type
	order    []string // the members in the schema's order, the required ones first
	required []string
	named    []namedType // of members by pattern
	rest     *Type       // of all other members
	prefix   []*Type     // of the first elements
	items    *Type       // of the others
	enum     []string    // source text of the allowed values

	all []*Type // hold as well: references and allOf
	any []*Type // of these one holds: anyOf and oneOf
}

// namedType is the type of members whose names match.
type namedType struct {
	name *regexp.Regexp
	t    *Type
}

// maxDepth bounds how deep a schema is followed.
const maxDepth = 32

// walk visits t and what holds besides, references and unions included, each once, the nearest first: what the place itself
// says of a member goes before what is said from afar.
func (t *Type) walk(visit func(*Type)) {
	if t == nil {
		return
	}
	if !t.joined() {
		visit(t)
		return
	}
	todo, known := []*Type{t}, map[*Type]bool{t: true, nil: true}
	for i := 0; i < len(todo); i++ {
		visit(todo[i])
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
const maxJoined = 200

// joined says that others than t itself have a say.
func (t *Type) joined() bool { return len(t.all) > 0 || len(t.any) > 0 }

// Allows says whether any of the kinds may stand here.
func (t *Type) Allows(k Kinds) bool { return t == nil || t.kinds == 0 || t.kinds&k != 0 }

// Known says whether the schema names the types of this place.
func (t *Type) Known() bool { return t != nil && t.kinds != 0 }

// Only says whether the schema allows the kinds and nothing else.
func (t *Type) Only(k Kinds) bool { return t.Known() && t.kinds&^k == 0 }

// Prop is the type of a member, nil when nothing is known of it. In a union it is what any alternative lets it be.
func (t *Type) Prop(name string) *Type {
	if t == nil {
		return nil
	}
	if p := t.props[name]; p.Known() || !t.joined() && p != nil {
		return p
	}
	return t.find(func(o *Type) (*Type, bool) {
		p, ok := o.props[name]
		return p, ok
	}, func(o *Type) (*Type, bool) {
		for _, n := range o.named {
			if n.name.MatchString(name) {
				return n.t, true
			}
		}
		return o.rest, o.rest != nil
	})
}

// find asks t and what holds besides: first all of them for what is listed, then for what is left. What holds in any case
// goes before what an alternative says.
func (t *Type) find(ask ...func(*Type) (*Type, bool)) *Type {
	for _, one := range ask {
		var found []*Type
		for _, o := range append([]*Type{t}, t.all...) {
			if p, ok := one(o); ok && p.Known() {
				return p
			}
		}
		t.walk(func(o *Type) {
			if p, ok := one(o); ok {
				found = append(found, p)
			}
		})
		if len(found) > 0 {
			return either(found)
		}
	}
	return nil
}

// Has says whether the schema lists the member.
func (t *Type) Has(name string) (has bool) {
	t.walk(func(o *Type) {
		_, ok := o.props[name]
		has = has || ok
	})
	return has
}

// Members are the names the schema lists, in its order, the required ones first.
func (t *Type) Members() []string {
	if t == nil || !t.joined() {
		return t.own()
	}
	var names []string
	known := map[string]bool{}
	t.walk(func(o *Type) {
		for _, name := range o.order {
			if !known[name] {
				known[name] = true
				names = append(names, name)
			}
		}
	})
	return requiredFirst(names, t.Required())
}

// own are the members that t itself lists.
func (t *Type) own() []string {
	if t == nil {
		return nil
	}
	return t.order
}

// requiredFirst puts the required names in front, without another change of order: a call with values by position, as Python
// writes it, means the required parameters first, as a function's head would have them.
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

// Required are the members that must be there.
func (t *Type) Required() []string {
	if t == nil || len(t.all) == 0 {
		return t.must()
	}
	names := slices.Clone(t.required)
	for _, o := range t.all {
		names = append(names, o.must()...)
	}
	return names
}

// must are the members that t itself demands.
func (t *Type) must() []string {
	if t == nil {
		return nil
	}
	return t.required
}

// Item is the type of an array's elements.
func (t *Type) Item() *Type {
	if t == nil || t.items != nil && len(t.prefix) == 0 {
		return t.element()
	}
	return t.find(func(o *Type) (*Type, bool) {
		return either(append(slices.Clone(o.prefix), o.items)), o.items != nil || len(o.prefix) > 0
	})
}

// element is the type of the elements as t itself says it.
func (t *Type) element() *Type {
	if t == nil {
		return nil
	}
	return t.items
}

// ItemAt is the type of the element at a position, from 0 on.
func (t *Type) ItemAt(i int) *Type {
	if t == nil || len(t.prefix) == 0 && !t.joined() {
		return t.element()
	}
	return t.find(func(o *Type) (*Type, bool) {
		if i < len(o.prefix) {
			return o.prefix[i], true
		}
		return o.items, o.items != nil
	})
}

// Enum are the allowed values as JSON text; nil when there is no such list.
func (t *Type) Enum() []string {
	if t == nil {
		return nil
	}
	return t.enum
}
