package schema

import (
	"cmp"
	"encoding/json"
	"slices"

	"toolnorm/chat"
	"toolnorm/internal/clip"
	"toolnorm/internal/jsontree"
)

// Standing says which parts of a faulty object or array are right and must not change by a byte
// when the model writes the value a second time. Only the other parts are taken from the second
// version, because a model also changes what was right: it writes other values, or spells numbers
// differently. The second version may have members that Parts does not list only if More is true.
type Standing struct {
	Array bool
	Parts []Part // members or elements, in their order
	More  bool   // others may follow
}

// Part says what is fixed of one member or element of a value that a model writes again. If all of
// it is fixed, Raw is its text. If some of it is fixed, Open says what. If neither is set, the
// model writes it again, as the schema demands.
type Part struct {
	Name string
	Raw  string
	Open *Standing
	// Either has the values of a part that has to be written again because it was written more than
	// once. One of these values is meant.
	Either []string
}

// maxHeld bounds a fixed value that the model has to repeat, in bytes. The value replaces the
// repetition anyway, and repeating a whole file would take minutes. The value is cut only in the
// constraint, and With puts the whole value back.
const maxHeld = 400

// abridge returns the parameter raw, a fixed value, shortened for the model that has to repeat it.
// If it has more than maxHeld bytes, a text is cut and ends in an ellipsis, and a list or an object
// becomes an empty one. Any other value is returned unchanged.
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

// With returns the old value that s describes, with the parts that s fixes unchanged and all other
// parts taken from the new value raw. The model was told to repeat the fixed parts in raw, but
// servers write constants in their own way and some ignore them, so raw's version of these parts is
// not used. With returns false if raw lacks an element, or is of another type.
func (s *Standing) With(raw json.RawMessage) (json.RawMessage, bool) {
	return s.with(nil, cmp.Or(parse(raw), jsontree.Absent))
}

// with appends to dst the old value, in which the parts that s fixes are unchanged, and the others
// come from the new value, which is the parameter from. Members keep their old order, and new ones
// follow them. A member that was to be written again but is missing in from is left out. Of two
// members with the same name in from the last one is used. with returns false if from is not an
// object.
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
		// The constraint listed it, but some servers ignore constraints, and the new value does not
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
	// A fixed member is not taken from the new call, whatever its value is there.
	for _, m := range from.Members {
		if s.More && !done[m.Name] {
			put(Part{Name: m.Name})
		}
	}
	return append(dst, '}'), true
}

// withElements appends to dst an array with the elements that s fixes. All other elements come from
// the parameter from, the array that the model has written anew. Elements are matched by their
// positions. It returns false if from is not an array, or has fewer elements.
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
		var p Part // the zero Part: nothing is fixed of the elements after the old ones
		if i < len(s.Parts) {
			p = s.Parts[i]
		}
		if dst, ok = p.with(dst, one); !ok {
			return nil, false
		}
	}
	return append(dst, ']'), true
}

// with appends the value of the part to dst: its fixed text, or the parameter from, the value that
// the model has written anew, if nothing of the part is fixed. If only some of its own parts are
// fixed, the other ones come from the new value. with returns false if these cannot be combined,
// because from is of another type.
func (p Part) with(dst []byte, from *jsontree.Value) ([]byte, bool) {
	switch {
	case p.Raw != "":
		return append(dst, p.Raw...), true
	case p.Open != nil:
		return p.Open.with(dst, from)
	}
	return append(dst, from.Raw...), true
}

// continued returns the schema s, restricted to values with the fixed parts of the parameter from.
// Of a union only the alternatives remain that these parts fit: if "kind": "b" is fixed, the model
// cannot continue with the members of an alternative for "a". If the parts fit no alternative, they
// are fixed in every alternative, because the client may already have read them, and the rest must
// continue from there.
func (d *Doc) continued(s *Place, from *Standing) *Place {
	if out := d.fixed(s, from, true); !out.Never {
		return out
	}
	return d.fixed(s, from, false)
}

// fixed returns the schema s, restricted to values with the fixed parts of the parameter from. A
// reference in s is replaced by a restricted copy of its target, because the definition itself
// applies elsewhere, too. If strict is true and a fixed part does not fit s, fixed returns a schema
// that no value fits.
func (d *Doc) fixed(s *Place, from *Standing, strict bool) *Place {
	s = s.Follow()
	// Unions within unions were already joined. But an alternative that is a reference may lead to
	// a union, so it is followed as well.
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

// kind returns the type of the value, Array or Object.
func (s *Standing) kind() Kinds {
	if s.Array {
		return Array
	}
	return Object
}

// fixedObject returns the object schema s restricted to objects in which the members that the
// parameter from fixes have their values. These members come first and in their own order, because
// servers write members in the order of the schema. They are added even if s does not list them. If
// strict is true and s forbids one of them, fixedObject returns a schema that no value fits.
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
	// The others follow in the schema's own order. required is written in the order of the fixed
	// members, then in that of the schema.
	for _, f := range s.Members {
		if out.Member(f.Name) == nil {
			out.Members = append(out.Members, f)
		}
	}
	for _, name := range s.Required {
		// fixed members are already required
		if !slices.ContainsFunc(from.Parts, func(p Part) bool { return p.Name == name }) {
			out.Required = append(out.Required, name)
		}
	}
	return out
}

// fixedPart returns the schema spec of a member or element, restricted to what p fixes of it. A
// fixed value becomes a const. A value of which only parts are fixed is restricted part by part. If
// nothing is fixed, fixedPart returns spec, restricted to the values in p.Either if there are any.
// If strict is true and the fixed value does not fit spec, it returns a schema that no value fits.
func (d *Doc) fixedPart(spec *Place, p Part, strict bool) *Place {
	switch {
	case p.Open != nil:
		return d.fixed(spec, p.Open, strict)
	case p.Raw == "":
		return d.either(spec, p.Either)
	}
	// Merging the value with its place shows whether it fits, as far as a Place can show it.
	// Otherwise the value is accepted.
	one := &Place{Kinds: KindOf(p.Raw), Enum: []string{abridge(p.Raw)}}
	if strict && d.merge(spec, one, 0).Never {
		return never()
	}
	return one
}

// either returns a schema that allows only those of the given values that fit spec. It returns spec
// itself if no value fits, or if a value is an object, an array, or too long to be repeated.
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

// moreElements is how many elements may follow the fixed ones. Each number of them is an
// alternative of its own, so the bound makes the grammar short. A model that needs more is cut
// short, and the check then decides whether the result fits.
const moreElements = 4

// fixedArray returns the array schema s restricted to arrays whose first elements have the values
// that the parameter from fixes. The result is a union of one prefixItems list for each possible
// length, because servers accept either a fixed number of elements or elements of one schema. No
// other elements may follow, so the list fixes the length. The empty array is expressed by maxItems
// 0, because an empty prefixItems is not a valid schema.
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
	// The schema's own bounds also apply, but never allow fewer elements than are fixed.
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
