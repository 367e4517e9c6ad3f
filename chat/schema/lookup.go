package schema

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// lookup has the members that a subschema lists. It includes the members that are listed by its
// references, its allOf and its unions. It is computed when it is first needed and then stored,
// because a reader asks for every key of a call: a walk through 900 parts of an allOf for each of
// 900 keys took most of a minute.
type lookup struct {
	once     sync.Once
	walked   []*Type           // the types that apply, the nearest first
	sure     int               // how many of them, including the place itself, apply in any case
	listed   map[string][]said // what they say about each member, the nearest first
	members  []string
	required []string
	types    sync.Map // the types (*Type) of the listed members, by name

	alikeOnce sync.Once
	alike     map[string][]string // the members by their folded names, see letters

	insideOnce sync.Once
	inside     map[string]*Type // the types of those members that list members themselves
}

// said is what one subschema says about a member: the type that it gives to the member.
type said struct {
	by int // index of that type in walked
	is *Type
}

// look returns the members that are listed by t and by the subschemas that also apply (references,
// allOf, unions). It computes them at the first call, and stores them.
func (t *Type) look() *lookup {
	l := &t.lookup
	l.once.Do(func() {
		l.walked, l.listed = slices.Collect(t.walk), map[string][]said{}
		all := t.all[:min(len(t.all), maxJoined)]
		direct := map[*Type]bool{t: true}
		for _, o := range all {
			direct[o] = true
		}
		for l.sure < len(l.walked) && direct[l.walked[l.sure]] {
			l.sure++
		}
		for i, o := range l.walked {
			for _, name := range o.order {
				l.listed[name] = append(l.listed[name], said{i, o.types[o.props.Get(name)]})
			}
			l.members = append(l.members, o.order...)
		}
		l.required = slices.Clip(t.required)
		for _, o := range all {
			l.required = append(l.required, o.required...)
		}
		l.members = requiredFirst(each(l.members), l.required)
	})
	return l
}

// prop returns the type of the member with that name, and false if no schema lists it. A listing in
// the schema's own properties takes precedence over those reached by $ref or allOf, and these over
// those in the alternatives of a union.
func (l *lookup) prop(name string) (t *Type, listed bool) {
	all, listed := l.listed[name]
	if !listed {
		return nil, false
	}
	if known, ok := l.types.Load(name); ok {
		return known.(*Type), true
	}
	found := make([]*Type, 0, len(all))
	for _, s := range all {
		if s.is.Known() && s.by < l.sure {
			found = []*Type{s.is}
			break
		}
		found = append(found, s.is)
	}
	t = either(found)
	l.types.Store(name, t)
	return t, true
}

// HasInside reports whether the schema of a member of t lists a member with the given name. It only
// looks into those members of t that the parameter members names.
func (t *Type) HasInside(name string, members []string) bool {
	if t == nil {
		return false
	}
	l := &t.lookup
	l.insideOnce.Do(func() {
		l.inside = map[string]*Type{}
		for _, member := range t.Members() {
			if p := t.Prop(member); len(p.Members()) > 0 {
				l.inside[member] = p
			}
		}
	})
	return len(l.inside) > 0 && slices.ContainsFunc(members, func(member string) bool {
		return l.inside[member].Has(name)
	})
}

// Alike returns the listed members whose names differ from the given one only in case, _, - and
// blanks. It returns nil if there are none.
func (t *Type) Alike(name string) []string {
	if t == nil {
		return nil
	}
	l := &t.lookup
	l.alikeOnce.Do(func() {
		l.alike = map[string][]string{}
		for _, member := range t.Members() {
			l.alike[letters(member)] = append(l.alike[letters(member)], member)
		}
	})
	return l.alike[letters(name)]
}

// letters returns a name without its separators and its case. Dots are not separators here, because
// a.b is a path in some schemas and not another spelling of ab.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		for next := unicode.SimpleFold(r); ; r, next = next, unicode.SimpleFold(next) {
			if next <= r { // back at the smallest of the characters that differ in case only
				return next
			}
		}
	}, name)
}
