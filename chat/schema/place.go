package schema

import (
	"math"
	"math/big"
	"slices"

	"toolnorm/internal/jsontree"
)

// Place is one subschema as the writers of constraints see it: the constraints of its keywords, its
// references and the members of its allOf, all merged. If it is a union, everything else that
// applies is put into each of its alternatives, and its other fields are empty. What the fields
// cannot express is in the document's Dropped. A Place has everything that some writer can use, and
// each writer leaves out what its server cannot.
//
// Writers read the fields and must not change them, because places are shared.
type Place struct {
	Kinds        Kinds    // Any if the schema does not say; see Types
	Enum         []string // the allowed values as JSON text; nil if they are not listed
	Alternatives []*Place // if not nil, one of these fits, and the other fields are empty
	Never        bool     // nothing fits
	At           string   // its position, as a JSON pointer

	Objects
	Arrays
	Scalars
	Proposed []string // values that the schema proposes: its default, then its examples

	// size is how many places a writer meets in it, counting a place as often as it occurs.
	size  int
	hints Kinds // the types to which keywords of this place belong
	doc   *Doc  // where references are looked up and drops are recorded
	// ref is not nil if the place is a reference to this value, which Follow reads. Then all other
	// fields except At are empty.
	ref  *jsontree.Value
	from string // the position of the reference itself; At is that of its target
}

// Objects are the constraints of a Place that concern objects.
type Objects struct {
	Members    []Member
	Listed     bool // the schema lists members, perhaps none
	Required   []string
	More       *Place   // for members that are not listed; nil if the schema does not say
	Barred     []string // the positions of members that the schema forbids
	MinMembers *Count
}

// Arrays are the constraints of a Place that concern arrays.
type Arrays struct {
	Prefix             []*Place
	Items              *Place // for the elements after Prefix; nil if the schema does not say
	MinItems, MaxItems *Count
	Unique             bool // no two elements are the same
}

// Scalars are the constraints of a Place that concern strings and numbers.
type Scalars struct {
	Patterns, Formats    []Word
	MinLength, MaxLength *Count
	Minimum, Maximum     *Bound
	Step                 float64 // of multipleOf; 0 if there is none
}

// Member is one member of an object.
type Member struct {
	Name string
	*Place
}

// Word is the text of a keyword, Count is a number of elements, members or characters, and Bound is
// a limit of numbers. Each has its Origin, because a writer reports a part that it leaves out by
// that position, and a place may be merged from several.
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

// Origin is the keyword from which a constraint comes, and its position. A writer that cannot
// enforce the constraint passes both to Doc.Drop.
type Origin struct{ At, Keyword string }

// anything returns a new place that constrains nothing. It is not shared, because the caller sets
// its position.
func anything() *Place { return &Place{Kinds: Any} }
func never() *Place    { return &Place{Never: true} }

// Types returns the types that fit, or Any if every type does. If the schema names no type, Types
// returns those to which its keywords belong. By the specification {"minLength": 1} allows numbers,
// but its author means a text.
func (p *Place) Types() Kinds {
	if p.Kinds == Any && p.hints != 0 {
		return p.hints
	}
	return p.Kinds
}

// Open reports whether p constrains nothing. Writers treat such a place specially, because a model
// that may write anything has to be stopped somewhere. A place with bounds is never open, since its
// bounds imply a type.
func (p *Place) Open() bool {
	return p.Kinds == Any && p.hints == 0 && p.Enum == nil && p.Alternatives == nil &&
		p.ref == nil && !p.Never && !p.Listed && len(p.Required) == 0 && p.More == nil
}

// Reference returns a name for p's target if p is only a reference, and "" otherwise. Follow
// returns the target itself. A writer makes one rule for each name, so that recursion ends. The
// name is the position at which the target was found, so two spellings of one reference, such as a
// pointer and an anchor, may have two names.
func (p *Place) Reference() string {
	if p.ref == nil {
		return ""
	}
	return "#" + p.At
}

// Member returns a listed member, or nil if there is none.
func (p *Place) Member(name string) *Place {
	for _, m := range p.Members {
		if m.Name == name {
			return m.Place
		}
	}
	return nil
}

// Whole returns the limit as an inclusive limit of integers. It rounds towards the allowed numbers,
// because servers read limits of integers as integers: a minimum of 0.5 becomes 1, and an exclusive
// maximum of 9 becomes 8. The parameter step is 1 for a minimum and -1 for a maximum. It returns
// nil if b is nil, or if the limit is not within int64, whose ends mean "no limit" to servers.
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

// tighter returns the limit that allows less. A nil limit allows everything. side is 1 for a
// minimum and -1 for a maximum. The two are compared as fractions, because neither 0.1 nor
// identifiers of nineteen digits are exact as a float. Of two equal limits, an exclusive one allows
// less.
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

// Union returns a place that allows every value that one of the alternatives allows. It removes
// alternatives that nothing fits, because a server would refuse the whole schema or a model would
// try them. It joins unions within unions, and lists of values into one list. If a single
// alternative is left, it is returned itself, so that no writer has to check for that. If none is
// left, nothing fits the result.
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

// measure adds the sizes of the given subschemas to the size of p. The size counts a subschema as
// often as it occurs. A few subschemas that contain each other may occur so often that walking
// through them would take too long. The size shows this beforehand.
func (p *Place) measure(inside ...*Place) {
	for _, one := range inside {
		if one != nil {
			p.size += one.size + 1
		}
	}
}

// joinEnums joins all lists of values into one, in the position of the first. Generators write an
// enum as a oneOf of constants, each with a title. As one list it is one rule of a server's
// grammar, and as fifty alternatives it is fifty. So {"oneOf": [{"const": "a", "title": "A"},
// {"const": "b", "title": "B"}]} becomes {"enum": ["a", "b"]}.
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

// each removes repeated values, which are compared by their spelling, and returns the rest. The
// first of equal values remains in its position.
func each(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(v string) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
}
