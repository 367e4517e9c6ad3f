package schema

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/jsontree"
)

// Standing is what stands of an object or array that does not fit as a whole. What is neither here
// nor asked for by a part without a value is not to be written. A model that writes a call a second
// time changes what was right: other values, other spellings of numbers. So what fits is kept byte
// for byte, and only what did not fit is taken from the new call.
type Standing struct {
	Array bool
	Parts []Part // members or elements, in their order
	More  bool   // others may follow
}

// Part is one member or element: Raw when it stands, Open when some of it does, neither when it is
// to be written anew. A part with neither is asked for by its name, and the constraint gives it the
// schema's own place.
type Part struct {
	Name   string
	Raw    string
	Open   *Standing
	Either []string // what was written for a part that is to be written anew, where it was written more than once: one of these is meant
}

// maxHeld is how much of a value that stands the model has to repeat: the value takes the place of
// what the model wrote anyway, and a whole file would take minutes. It is cut here alone; With puts
// the whole value back.
const maxHeld = 400

// abridged returns a value that the model has to repeat: of a long text its beginning, in place of
// a long list or object an empty one. The ellipsis marks a text as cut.
func abridged(raw string) string {
	var text string
	switch {
	case len(raw) <= maxHeld:
		return raw
	case raw[0] == '[':
		return "[]"
	case raw[0] == '{':
		return "{}"
	case raw[0] != '"' || json.Unmarshal([]byte(raw), &text) != nil:
		return raw
	}
	return Quote(strings.ToValidUTF8(text[:min(len(text), maxHeld)], "") + "…")
}

// With returns the value with what a new one says of the parts that were not right; those that were
// are byte for byte as before. It returns false when the new one has nothing for an element, or is
// of another type. The new call was constrained to repeat the right parts, but servers write
// constants their own way and some hold to none, so its version of such a part is not even looked
// at.
func (s *Standing) With(raw json.RawMessage) (json.RawMessage, bool) {
	return s.with(nil, cmp.Or(parse(raw), jsontree.Absent))
}

// with appends the value. Members keep their old order, and new ones come behind them. A part to be
// written anew that the new call lacks is left out; of a name that it has twice the last value
// counts.
func (s *Standing) with(dst []byte, from *jsontree.Value) ([]byte, bool) {
	if s.Array {
		return s.withElements(dst, from)
	}
	if kind(from) != Object {
		return nil, false
	}
	dst = append(dst, '{')
	begin, done := len(dst), map[string]bool{}
	put := func(p Part) (ok bool) {
		one := from.Get(p.Name)
		done[p.Name] = true
		// The constraint listed it, but some servers hold to none: the new one does without it.
		if one == jsontree.Absent && p.Raw == "" {
			return true
		}
		if len(dst) > begin {
			dst = append(dst, ',')
		}
		dst, ok = p.with(append(chat.AppendQuoted(dst, p.Name), ':'), one)
		return ok
	}
	for _, p := range s.Parts {
		if !put(p) {
			return nil, false
		}
	}
	// A member that stood is not taken a second time from the new call, whatever that says of it.
	for _, m := range from.Members {
		if s.More && !done[m.Name] {
			put(Part{Name: m.Name})
		}
	}
	return append(dst, '}'), true
}

// withElements does what with does, for an array. Elements have no names, so those of the new call
// are matched by their numbers: a call with fewer elements leaves places open, and cannot be
// joined.
func (s *Standing) withElements(dst []byte, from *jsontree.Value) ([]byte, bool) {
	all := from.Items
	if kind(from) != Array || len(all) < len(s.Parts) {
		return nil, false
	}
	if !s.More {
		all = all[:len(s.Parts)]
	}
	dst, ok := append(dst, '['), true
	for i, one := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		var p Part // of those behind the old ones nothing stands
		if i < len(s.Parts) {
			p = s.Parts[i]
		}
		if dst, ok = p.with(dst, one); !ok {
			return nil, false
		}
	}
	return append(dst, ']'), true
}

// with appends what was right of a part, and what a new value says of the rest.
func (p Part) with(dst []byte, from *jsontree.Value) ([]byte, bool) {
	switch {
	case p.Raw != "":
		return append(dst, p.Raw...), true
	case p.Open != nil:
		return p.Open.with(dst, from)
	}
	return append(dst, from.Raw...), true
}

// continued returns s with the parts in from held to their values. Of a union it keeps the
// alternatives that those parts fit. When none does, the client may already have read what fits
// nowhere: then all of it is held all the same, since what follows must go on from there. Example:
// "kind": "b" is in from, and the schema is a union by kind: only the alternative of "b" stays, so
// the model cannot go on with members of "a".
func (d *Doc) continued(s *Place, from *Standing) *Place {
	if out := d.fixed(s, from, true); !out.Never {
		return out
	}
	return d.fixed(s, from, false)
}

// fixed does the work of continued; strict means that what does not fit leaves nothing. A reference
// is followed in place here: the definition holds for all places that refer to it, from for one of
// them.
func (d *Doc) fixed(s *Place, from *Standing, strict bool) *Place {
	s = s.Follow()
	// A union in a union was joined before; an alternative that is a reference may lead to one, so
	// it is kept and asked.
	if s.Alternatives != nil {
		var alts []*Place
		for _, alt := range s.Alternatives {
			if alt = alt.Follow(); alt.Kinds&from.kind() != 0 || alt.Alternatives != nil {
				alts = append(alts, d.fixed(alt, from, strict))
			}
		}
		return Union(alts)
	}
	if s.Kinds&from.kind() == 0 && strict {
		return never()
	}
	if from.Array {
		return d.fixedArray(s, from, strict)
	}
	return d.fixedObject(s, from, strict)
}

// kind returns the type of what stands.
func (s *Standing) kind() Kinds {
	if s.Array {
		return Array
	}
	return Object
}

// fixedObject holds members. What stands comes first and in its own order, since servers write the
// members of a schema in the order in which it lists them. A member that is not listed is held too;
// one that the schema forbids only when nothing else fits what stands.
func (d *Doc) fixedObject(s *Place, from *Standing, strict bool) *Place {
	out := &Place{Kinds: Object, Objects: Objects{Listed: true, More: s.More}, doc: d, At: s.At}
	for _, p := range from.Parts {
		spec := s.Member(p.Name)
		if spec == nil {
			if strict && s.More != nil && s.More.Never {
				return never()
			}
			spec = orAnything(s.More)
		}
		one := d.fixedPart(spec, p, strict)
		if one.Never {
			return one
		}
		out.set(p.Name, one)
		out.Required = append(out.Required, p.Name)
	}
	if !from.More {
		out.More = never()
		return out
	}
	// The others follow in the schema's own order; required is written in the order of what stands,
	// then of the schema.
	for _, f := range s.Members {
		if out.Member(f.Name) == nil {
			out.Members = append(out.Members, f)
		}
	}
	for _, name := range s.Required {
		if !slices.ContainsFunc(from.Parts, func(p Part) bool { return p.Name == name }) { // it is not required a second time
			out.Required = append(out.Required, name)
		}
	}
	return out
}

// fixedPart holds one member or element. A whole value becomes a list of one value, which is
// written as const; what stands in parts is held part by part; for a name alone there is the
// schema's own place.
func (d *Doc) fixedPart(spec *Place, p Part, strict bool) *Place {
	switch {
	case p.Open != nil:
		return d.fixed(spec, p.Open, strict)
	case p.Raw == "":
		return d.either(spec, p.Either)
	}
	// To merge the value with its place is to ask whether it fits, as far as a Place can tell; what
	// it cannot tell is let through.
	one := &Place{Kinds: KindOf(p.Raw), Enum: []string{abridged(p.Raw)}}
	if strict && d.merge(spec, one, 0).Never {
		return never()
	}
	return one
}

// either returns a place that takes those of the values that it took before; the place itself if
// there are none, or one is too long to be repeated.
func (d *Doc) either(spec *Place, values []string) *Place {
	out := &Place{}
	for _, raw := range values {
		if raw != abridged(raw) || raw[0] == '{' || raw[0] == '[' {
			return spec
		}
		if one := (&Place{Kinds: KindOf(raw), Enum: []string{raw}}); !d.merge(spec, one, 0).Never && !slices.Contains(out.Enum, raw) {
			out.Kinds, out.Enum = out.Kinds|one.Kinds, append(out.Enum, raw)
		}
	}
	if len(out.Enum) == 0 {
		return spec
	}
	return out
}

// moreElements is how many elements may follow those that stand. Each number of them is an
// alternative of its own, so the bound is what keeps the grammar short. A model that needs more is
// cut short; whether what it wrote fits is then for the check to say.
const moreElements = 4

// fixedArray holds elements. Servers take either so many elements of one kind or a list of kinds,
// so there is a list for each number of elements. Each list is a prefixItems without items behind
// it, so its length is fixed by the number of its places. An array of no elements is said by
// maxItems instead, as an empty prefixItems is no schema.
func (d *Doc) fixedArray(s *Place, from *Standing, strict bool) *Place {
	var prefix []*Place
	at := func(i int) *Place {
		if i < len(s.Prefix) {
			return s.Prefix[i]
		}
		return orAnything(s.Items)
	}
	for i, p := range from.Parts {
		one := d.fixedPart(at(i), p, strict)
		if one.Never {
			return one
		}
		prefix = append(prefix, one)
	}
	// The schema's own bounds hold too, but never for fewer elements than stand.
	most := len(prefix) + moreElements
	if s.MaxItems != nil {
		most = min(most, max(s.MaxItems.N, len(prefix)))
	}
	if s.Prefix != nil && s.Items == nil {
		most = max(len(prefix), min(most, len(s.Prefix)))
	}
	if !from.More {
		most = len(prefix)
	}
	var alts []*Place
	for n := len(prefix); n <= most; n++ {
		if n > len(prefix) {
			// The capacity is cut, so that each alternative has an array of its own.
			prefix = append(prefix[:len(prefix):len(prefix)], at(n-1))
		}
		if s.MinItems == nil || n >= s.MinItems.N || n == most {
			alt := &Place{Kinds: Array, Arrays: Arrays{Prefix: prefix}, doc: d, At: s.At}
			if n == 0 {
				alt.MaxItems = &Count{}
			}
			alts = append(alts, alt)
		}
	}
	return Union(alts)
}
