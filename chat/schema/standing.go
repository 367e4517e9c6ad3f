package schema

import (
	"cmp"
	"encoding/json"
	"slices"

	"toolnorm/chat"
	"toolnorm/internal/clip"
	"toolnorm/internal/jsontree"
)

// Standing holds the parts that are kept of an object or array that does not fit as a whole.
// Members that it does not name are not to be written, unless More is set. A model that writes a
// call a second time also changes what was right: it writes other values, or spells numbers
// differently. So what fits is kept byte for byte, and only what did not fit is taken from the new
// call.
type Standing struct {
	Array bool
	Parts []Part // members or elements, in their order
	More  bool   // others may follow
}

// Part is one member or element: it has Raw when it is kept, Open when some of it is kept, and
// neither when it is to be written again. For a part with neither, the constraint has the schema's
// own place.
type Part struct {
	Name string
	Raw  string
	Open *Standing
	// the values of a part that is to be written again because it was written more than once: one
	// of these is meant
	Either []string
}

// maxHeld is how many bytes of a kept value the model has to repeat: the value replaces what the
// model writes anyway, and repeating a whole file would take minutes. The value is cut only in the
// constraint; With puts the whole value back.
const maxHeld = 400

// abridge returns a value as the model has to repeat it: the beginning of a long text, and an
// empty list or object for a long one. An ellipsis marks a text as cut.
func abridge(raw string) string {
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
	return Quote(clip.To(text, maxHeld) + "…")
}

// With returns the value with the parts that were not right taken from a new value; the parts that
// were right stay byte for byte as before. It returns false when the new value lacks an element, or
// is of another type. The new call was constrained to repeat the right parts, but servers write
// constants in their own way and some ignore them, so its version of these parts is not even looked
// at.
func (s *Standing) With(raw json.RawMessage) (json.RawMessage, bool) {
	return s.with(nil, cmp.Or(parse(raw), jsontree.Absent))
}

// with appends the value to dst. Members keep their old order, and new ones follow them. A part to
// be written again that the new call lacks is left out; of a name that the new call has twice, the
// last value counts.
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
		// The constraint listed it, but some servers ignore constraints: the new value does not
		// have it.
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
	// A member that was kept is not taken from the new call, whatever its value is there.
	for _, m := range from.Members {
		if s.More && !done[m.Name] {
			put(Part{Name: m.Name})
		}
	}
	return append(dst, '}'), true
}

// withElements does what with does, for an array. Elements have no names, so those of the new call
// are matched by their positions. A new call with fewer elements leaves places open, so
// withElements returns false.
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
		var p Part // nothing is kept of the elements after the old ones
		if i < len(s.Parts) {
			p = s.Parts[i]
		}
		if dst, ok = p.with(dst, one); !ok {
			return nil, false
		}
	}
	return append(dst, ']'), true
}

// with appends what was right in a part, and takes the rest from a new value.
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
// alternatives that those parts fit. When the parts fit none, the client may already have read
// them: they are all kept nevertheless, since the rest of the call must continue from there.
// Example: "kind": "b" is in from, and the schema is a union by kind: only the alternative of "b"
// stays, so the model cannot go on with members of "a".
func (d *Doc) continued(s *Place, from *Standing) *Place {
	if out := d.fixed(s, from, true); !out.Never {
		return out
	}
	return d.fixed(s, from, false)
}

// fixed does the work of continued; if strict is set, it returns a place that nothing fits where a
// part does not fit. A reference is followed in place, since its definition applies to all places
// that refer to it, but from only to one of them.
func (d *Doc) fixed(s *Place, from *Standing, strict bool) *Place {
	s = s.Follow()
	// Unions within unions were joined before; but an alternative that is a reference may lead to a
	// union, so it is followed too.
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

// kind returns the type of the kept value.
func (s *Standing) kind() Kinds {
	if s.Array {
		return Array
	}
	return Object
}

// fixedObject fixes the members of an object. Kept members come first and in their own order, since
// servers write members in the order in which the schema lists them. A member that the schema does
// not list is fixed too; a member that the schema forbids only if strict is not set.
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
	// The others follow in the schema's own order; required is written in the order of the kept
	// members, then in that of the schema.
	for _, f := range s.Members {
		if out.Member(f.Name) == nil {
			out.Members = append(out.Members, f)
		}
	}
	for _, name := range s.Required {
		// kept members are required already
		if !slices.ContainsFunc(from.Parts, func(p Part) bool { return p.Name == name }) {
			out.Required = append(out.Required, name)
		}
	}
	return out
}

// fixedPart fixes one member or element. A whole value becomes a list of one value, which is
// written as const; a value that is kept in parts is fixed part by part; a name alone gets the
// schema's own place.
func (d *Doc) fixedPart(spec *Place, p Part, strict bool) *Place {
	switch {
	case p.Open != nil:
		return d.fixed(spec, p.Open, strict)
	case p.Raw == "":
		return d.either(spec, p.Either)
	}
	// Merging the value with its place shows whether it fits, as far as a Place can tell; what it
	// cannot tell is let through.
	one := &Place{Kinds: KindOf(p.Raw), Enum: []string{abridge(p.Raw)}}
	if strict && d.merge(spec, one, 0).Never {
		return never()
	}
	return one
}

// either returns a place that takes those of the values that spec takes, or spec itself if it takes
// none of them or a value is too long to be repeated.
func (d *Doc) either(spec *Place, values []string) *Place {
	out := &Place{}
	for _, raw := range values {
		if raw != abridge(raw) || raw[0] == '{' || raw[0] == '[' {
			return spec
		}
		if one := (&Place{Kinds: KindOf(raw), Enum: []string{raw}}); !d.merge(spec, one, 0).Never &&
			!slices.Contains(out.Enum, raw) {
			out.Kinds, out.Enum = out.Kinds|one.Kinds, append(out.Enum, raw)
		}
	}
	if len(out.Enum) == 0 {
		return spec
	}
	return out
}

// moreElements is how many elements may follow the kept ones. Each number of them is an alternative
// of its own, so the bound keeps the grammar short. A model that needs more is cut short; the check
// then decides whether the result fits.
const moreElements = 4

// fixedArray fixes the elements of an array. Servers take either a number of elements of one kind
// or a list of kinds, so there is a list for each number of elements. Each list is a prefixItems
// without items after it, so the number of its places fixes its length. An array of no elements is
// expressed by maxItems instead, as an empty prefixItems is not a schema.
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
	// The schema's own bounds apply too, but never allow fewer elements than are kept.
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
