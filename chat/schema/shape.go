package schema

import "slices"

// shape is a place of a schema in the few words that model servers hold a model to. Unions stand alone: what applies
// besides is in each alternative.
type shape struct {
	kinds  Kinds
	hints  Kinds    // the types whose keywords stand here; they count when kinds says nothing
	enum   []string // source text; nil: no list
	alts   []*shape // not nil: one of these, and all other fields are empty
	ref    *value   // not nil: as this place, which is read later; all other fields are empty
	doc    *source  // of ref and of drops
	at     string   // where it stands, for drops
	bottom bool     // nothing fits

	props    []field
	listed   bool // the schema lists members, if only none
	required []string
	more     *shape // of members that are not listed; nil: not said

	prefix             []*shape
	items              *shape
	minItems, maxItems *int

	pattern, format      string
	minLength, maxLength *int
	minimum, maximum     *int64
}

// field is one member of a shape.
type field struct {
	name string
	s    *shape
}

// Any are all types.
const Any = String | Integer | Number | Boolean | Null | Object | Array

func anything() *shape { return &shape{kinds: Any} }
func never() *shape    { return &shape{bottom: true} }

// open says that s constrains nothing.
func (s *shape) open() bool {
	return s.kinds == Any && s.hints == 0 && s.enum == nil && s.alts == nil && s.ref == nil && !s.bottom && !s.listed && len(s.required) == 0 && s.more == nil
}

// field is a listed member, nil when there is none.
func (s *shape) field(name string) *shape {
	for _, f := range s.props {
		if f.name == name {
			return f.s
		}
	}
	return nil
}

// union is one of the alternatives. Those that nothing fits fall away, unions in unions are one, and lists of values are
// one list.
func union(list []*shape) *shape {
	var alts []*shape
	for _, s := range list {
		switch {
		case s.bottom:
		case s.alts != nil:
			alts = append(alts, s.alts...)
		default:
			alts = append(alts, s)
		}
	}
	alts = joinEnums(alts)
	switch len(alts) {
	case 0:
		return never()
	case 1:
		return alts[0]
	}
	return &shape{alts: alts}
}

// joinEnums makes one list of values out of many, where the first one stands.
func joinEnums(alts []*shape) []*shape {
	var out []*shape
	var list *shape
	for _, s := range alts {
		switch {
		case s.enum == nil:
			out = append(out, s)
		case list == nil:
			list = &shape{kinds: s.kinds, enum: slices.Clone(s.enum), doc: s.doc, at: s.at}
			out = append(out, list)
		default:
			list.kinds |= s.kinds
			list.enum = append(list.enum, s.enum...)
		}
	}
	if list != nil {
		list.enum = each(list.enum)
	}
	return out
}

// each takes out what is there twice.
func each(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(v string) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
}
