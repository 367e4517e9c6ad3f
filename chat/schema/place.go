package schema

import (
	"math"
	"math/big"
	"slices"

	"toolnorm/internal/jsontree"
)

// Place is one place of a schema as every writer sees it: what the keywords there, the references
// and the members of an allOf say together. A union has no other fields: what else applies is in
// each alternative, so a place without alternatives is complete. Nothing here is reduced to what
// one writer can express; what these fields cannot express at all is in the document's Dropped.
//
// Writers read the fields, and change nothing: places are shared.
type Place struct {
	Kinds        Kinds    // Any when the schema does not say; see Types
	Enum         []string // the allowed values as JSON text; nil: no list
	Alternatives []*Place // not nil: one of these, and the other fields are empty
	Never        bool     // nothing fits
	At           string   // its position, as a JSON pointer

	Objects
	Arrays
	Scalars
	Proposed []string // values that the schema proposes: its default, then its examples

	size  int             // how many places a writer meets who walks through it, as often as each is in it
	hints Kinds           // the types whose keywords stand here
	doc   *Doc            // where references are looked up and drops are noted
	ref   *jsontree.Value // not nil: as this place, which Open reads; all other fields but At are empty
	from  string          // where the reference stands
}

// Objects holds the constraints on objects at a place.
type Objects struct {
	Members    []Member
	Listed     bool // the schema lists members, if only none
	Required   []string
	More       *Place   // of members that are not listed; nil: not said
	Barred     []string // where members stand that may not be there
	MinMembers *Count
}

// Arrays holds the constraints on arrays at a place.
type Arrays struct {
	Prefix             []*Place
	Items              *Place // of the elements after the prefix; nil: not said
	MinItems, MaxItems *Count
	Unique             bool // no two elements are the same
}

// Scalars holds the constraints on strings and numbers at a place.
type Scalars struct {
	Patterns, Formats    []Word
	MinLength, MaxLength *Count
	Minimum, Maximum     *Bound
	Step                 float64 // of multipleOf; 0: none
}

// Member is one member of an object.
type Member struct {
	Name string
	*Place
}

// Word is a keyword's text; Count is a number of things, and Bound a limit of numbers. Each knows
// where it stands, since what one writer leaves out is reported there and a place may be merged out
// of several.
type (
	Word struct {
		Text string
		Origin
	}
	Count struct {
		N int
		Origin
	}
	Bound struct {
		Value    *big.Rat
		Excluded bool // the limit itself does not fit
		Origin
	}
)

// Origin is the keyword that a constraint comes from, and its position: a writer that cannot
// enforce the constraint passes both to Doc.Drop.
type Origin struct{ At, Keyword string }

// anything returns a place that constrains nothing, never one that nothing fits. Each is a new one,
// as its reader says where it stands.
func anything() *Place { return &Place{Kinds: Any} }
func never() *Place    { return &Place{Never: true} }

// Types returns the types that fit, Any when every type does. A place that names none speaks of
// those that its keywords belong to: {"minLength": 1} lets numbers through by the letter, but who
// writes it means a text.
func (p *Place) Types() Kinds {
	if p.Kinds == Any && p.hints != 0 {
		return p.hints
	}
	return p.Kinds
}

// Open reports whether p constrains nothing. Writers have words of their own for such a place,
// since a model that may write anything has to be stopped somewhere. Only what changes what a
// writer writes is asked for: bounds imply a type by their hints, so they need not be looked at.
func (p *Place) Open() bool {
	return p.Kinds == Any && p.hints == 0 && p.Enum == nil && p.Alternatives == nil && p.ref == nil && !p.Never && !p.Listed && len(p.Required) == 0 && p.More == nil
}

// Reference names what p stands for when p is nothing but a reference: the same name for the same
// target, so that a writer gives it one rule and recursion ends; empty otherwise. Follow reads the
// target. The name is where the target stands, so two spellings of one reference, a pointer and an
// anchor, may have two names.
func (p *Place) Reference() string {
	if p.ref == nil {
		return ""
	}
	return "#" + p.At
}

// Member returns a listed member, or nil when there is none.
func (p *Place) Member(name string) *Place {
	for _, m := range p.Members {
		if m.Name == name {
			return m.Place
		}
	}
	return nil
}

// Whole returns the limit as an inclusive one of integers; step leads inwards, 1 for a minimum and
// -1 for a maximum. It returns nil beyond int64, whose ends servers take for "no bound". A minimum
// of 0.5 is 1, an exclusive maximum of 9 is 8: servers read the bounds of integers as integers.
func (b *Bound) Whole(step int64) *int64 {
	if b == nil {
		return nil
	}
	n := new(big.Int).Div(b.Value.Num(), b.Value.Denom()) // towards minus infinity
	switch {
	case step > 0 && !b.Value.IsInt():
		n.Add(n, big.NewInt(1))
	case b.Excluded && b.Value.IsInt():
		n.Add(n, big.NewInt(step))
	}
	if !n.IsInt64() || n.Int64() == math.MinInt64 || n.Int64() == math.MaxInt64 {
		return nil
	}
	whole := n.Int64()
	return &whole
}

// tighter returns the one of two limits that lets less through; side is 1 for a minimum and -1 for
// a maximum. They are compared as fractions: 0.1 and identifiers of nineteen digits are neither of
// them exact as a float. Of two equal ones the excluded one lets less through.
func tighter(a, b *Bound, side int) *Bound {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	if c := b.Value.Cmp(a.Value) * side; c > 0 || c == 0 && b.Excluded {
		return b
	}
	return a
}

// Union returns a place of which one of the alternatives holds. Those that nothing fits fall away,
// unions in unions are one, and lists of values are one list. An alternative that nothing fits
// would make a server refuse the whole, or a model try it. One that is left alone is no union any
// more, and no writer has to look for that.
func Union(list []*Place) *Place {
	var alts []*Place
	for _, p := range list {
		switch {
		case p.Never:
		case p.Alternatives != nil:
			alts = append(alts, p.Alternatives...)
		default:
			alts = append(alts, p)
		}
	}
	alts = joinEnums(alts)
	switch len(alts) {
	case 0:
		return never()
	case 1:
		return alts[0]
	}
	p := &Place{Alternatives: alts}
	p.measure(alts...)
	return p
}

// measure adds the sizes of what lies in p. Places are shared, so a few that hold each other in
// turn can be met more often than there is time for, and only this number tells.
func (p *Place) measure(inside ...*Place) {
	for _, one := range inside {
		if one != nil {
			p.size += one.size + 1
		}
	}
}

// joinEnums makes one list of values out of many, where the first one stands. Generators write an
// enum as a oneOf of constants, each with a title; as one list it is a rule of a server's grammar,
// and as fifty alternatives it is fifty. {"oneOf": [{"const": "a", "title": "A"}, {"const": "b",
// "title": "B"}]} is thus {"enum": ["a", "b"]}.
func joinEnums(alts []*Place) []*Place {
	var out []*Place
	var list *Place
	for _, p := range alts {
		switch {
		case p.Enum == nil:
			out = append(out, p)
		case list == nil:
			list = &Place{Kinds: p.Kinds, Enum: slices.Clone(p.Enum), doc: p.doc, At: p.At}
			out = append(out, list)
		default:
			list.Kinds |= p.Kinds
			list.Enum = append(list.Enum, p.Enum...)
		}
	}
	if list != nil {
		list.Enum = each(list.Enum)
	}
	return out
}

// each removes what is there twice. The values are compared as they are written, and the first one
// keeps its place.
func each(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(v string) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
}
