package valid

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"toolnorm/internal/spelling"
)

// change is what has to be done to a part of the arguments so that they fit, such as writing a
// value again or removing a member. Several changes can be combined.
type change uint8

const (
	anew change = 1 << iota // the value must be written anew
	// the member is removed, because the schema has no place for it
	surplus
	doubt  // the member is removed, but its value may belong elsewhere
	wanted // the member is required and missing
	few    // it has too few members or elements
	again  // the member occurs more than once, with equal values
)

// mark is one place of the arguments that has to change, with the change that it needs. A value is
// kept unless a mark is about the value, a part of it or a value around it. A Problem is a sentence
// for a model. A mark is for the program, which combines the values that are kept with those that
// the model writes anew.
type mark struct {
	path   []string
	what   change
	over   bool               // the value is out of its bounds
	schema *jsonschema.Schema // the schema with these bounds
	now    string             // the value that replaces it; empty: none
}

// marker collects marks from the library's tree of errors. Each mark is a part of the arguments
// that has to change. A marker uses this tree and not the schema, so that marks and problems have
// the same source.
type marker struct {
	v   *Validator
	doc *document // the arguments
	all []mark
}

// marks returns a marker with the parts of the arguments that have to change. The marker is empty
// if the arguments fit. The result ok is false if the arguments are not an object that can be
// checked, or if checking takes too much work.
func (v *Validator) marks(args []byte) (m *marker, ok bool) {
	doc, _, _ := v.judge(args, true)
	if doc == nil {
		return nil, false
	}
	m = &marker{v: v, doc: doc}
	if doc.failed != nil {
		m.read(doc.failed)
	}
	m.twice()
	return m, true
}

// twice adds marks for the members that occur more than once, except for members that are removed
// anyway. For example, a member that the schema forbids is removed in any case, even if it occurs
// twice.
func (m *marker) twice() {
	if len(m.doc.twice) > 0 {
		m.doc.spread(slices.DeleteFunc(slices.Clone(m.all), func(k mark) bool {
			return k.what != surplus
		}), 0)
	}
	for _, c := range m.doc.twice {
		what := anew
		if c.alike {
			what = again // one of the two is removed, and nothing is lost
		}
		if !slices.ContainsFunc(c.nodes, func(n *node) bool { return n.is(surplus) }) {
			m.add(c.path(), what)
		}
	}
}

// add records a mark. The path is copied, because the library's errors share their paths.
func (m *marker) add(path []string, what change) {
	m.all = append(m.all, mark{path: slices.Clone(path), what: what})
}

// read adds the marks for an error. If the error is about a value as a whole, the value is marked
// to be written again. If it is about members of the value, only those members are marked, so that
// one bad element of a list does not cost the others.
func (m *marker) read(e *jsonschema.ValidationError) {
	s := m.v.places[e.SchemaURL]
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, c := range e.Causes {
			m.read(c)
		}
	// What a single branch objects to is not yet a mistake.
	case *kind.AnyOf, *kind.OneOf:
		m.union(e)
	case *kind.Required, *kind.DependentRequired, *kind.Dependency:
		for _, f := range findings(e) {
			m.add(f.path, wanted)
		}
	case *kind.AdditionalProperties:
		for _, f := range findings(e) {
			m.forbidden(f.path, s)
		}
	case *kind.PropertyNames:
		m.forbidden(slices.Concat(e.InstanceLocation, []string{k.Property}), s)
	case *kind.FalseSchema:
		m.ruledOut(e.InstanceLocation)
	default:
		one := mark{path: slices.Clone(e.InstanceLocation), what: anew,
			over: slices.Contains(bounds, keywordOf(e)), schema: s}
		switch e.ErrorKind.(type) {
		case *kind.MinItems, *kind.MinProperties:
			one.what = few // the existing ones may stay
		}
		m.all = append(m.all, one)
	}
}

// ruledOut marks a member or element whose schema is false, so that no value fits. For example,
// {"properties": {"old": false}} forbids a member by name. An element cannot be removed alone,
// since those after it would move up, so its list is marked to be written again.
func (m *marker) ruledOut(path []string) {
	n := len(path)
	if parent := path[:max(n-1, 0)]; n == 0 || !is[map[string]any](m.doc.at(parent).value) {
		m.add(parent, anew)
		return
	}
	m.forbidden(path, nil)
}

// forbidden marks the member at path, which the schema s does not allow, to be removed. The mark is
// doubt if the member may be a misplaced or misspelt one that the schema does know (see belongs),
// and otherwise surplus, which means that the member is needless.
func (m *marker) forbidden(path []string, s *jsonschema.Schema) {
	what := surplus
	if n := len(path) - 1; m.belongs(path[:n], path[n], s) {
		what = doubt
	}
	m.add(path, what)
}

// belongs reports whether a member with this name, which the schema s forbids in the object at the
// path parent, may still be meant for something. That is so if the name may be a misspelling of a
// missing member, if another part of the schema lists it, or if the object is a map whose names
// must have a form and are data, such as "path" in {"path": "x"}. Then the model writes the call
// again, because removing the member would lose information: "titel": "Q4" may be the missing
// title.
func (m *marker) belongs(parent []string, name string, s *jsonschema.Schema) bool {
	listed := map[string]bool{}
	for _, part := range append(m.v.at(parent), present([]*jsonschema.Schema{s})...) {
		for other, p := range part.Properties {
			listed[other] = listed[other] || p.Bool == nil || *p.Bool
		}
	}
	// Another part of the schema lists the name, so the schema contradicts itself; or the names of
	// the object are data.
	if listed[name] || s != nil && len(s.Properties) == 0 && formsNames(s) {
		return true
	}
	there, _ := m.doc.at(parent).value.(map[string]any)
	// A name that the call already has cannot be the one that was meant.
	for other := range listed {
		if _, ok := there[other]; !ok && listed[other] && misspelt(name, other) {
			return true
		}
	}
	return false
}

// formsNames reports whether a schema requires the names of members to have a form, such as a
// pattern. It returns false if the schema only lists the allowed names. Such a list is equivalent
// to listed members, because any other name is forbidden.
func formsNames(s *jsonschema.Schema) bool {
	return len(s.PatternProperties) > 0 ||
		slices.ContainsFunc(s.Extensions, func(rule jsonschema.SchemaExt) bool {
			return rule.(nameRule).Enum == nil
		})
}

// union adds the marks of the nearest branch of an anyOf or oneOf, which is probably the one that
// the model meant. How near a branch is depends first on how far the value is from it (see far),
// and then on how few parts would have to be written again. If several branches are equally near,
// everything to which any of them objects is marked as doubtful.
//
// For example, one branch is for {"kind": "type", "text": …}, and one for {"kind": "click", "x":
// …}. Then {"kind": "type", "text": 5} is near the first, in which only text is wrong, and not near
// the second, in which kind is wrong and x is missing. If a value fits two branches of a oneOf, no
// branch is wrong, so the whole value is written again.
func (m *marker) union(e *jsonschema.ValidationError) {
	depth := len(e.InstanceLocation)
	if k, ok := e.ErrorKind.(*kind.OneOf); ok && len(k.Subschemas) == 2 || wantedTypes(e) != nil ||
		len(e.Causes) == 0 {
		m.add(e.InstanceLocation, anew)
		return
	}
	var best [][]mark
	var least []int
	for _, c := range e.Causes {
		branch := &marker{v: m.v, doc: m.doc}
		branch.read(c)
		score := []int{0, 0}
		for _, f := range findings(c) {
			score[0] += far(f, depth) / 100
		}
		for _, k := range branch.all {
			if k.what != wanted && k.what != few { // with those no text is lost
				score[1]++
			}
		}
		if best == nil || slices.Compare(score, least) < 0 {
			best, least = nil, score
		}
		if slices.Equal(score, least) {
			best = append(best, branch.all)
		}
	}
	switch {
	// 5 is an enum or const that the whole value misses (500 of far), 10 is another type.
	case least[0] >= 5: // the value itself is of another type in all of them
		m.add(e.InstanceLocation, anew)
	case !slices.ContainsFunc(best, func(b []mark) bool { return !equalMarks(b, best[0]) }):
		m.all = append(m.all, best[0]...)
	default:
		m.add(e.InstanceLocation, few)
		m.unsure(slices.Concat(best...), depth)
	}
}

// unsure adds marks for an object that no branch of a union (anyOf, oneOf) accepts. The parameter
// all has the marks of the branches. It is not known which branch the model meant, and so which
// members are wrong. So each member with a mark is marked as a whole, to be written again. The
// parameter depth is the depth of the object.
func (m *marker) unsure(all []mark, depth int) {
	for _, k := range all {
		switch {
		case k.what == wanted || k.what == few && len(k.path) == depth:
		case len(k.path) > depth:
			m.add(k.path[:depth+1], doubt)
		default:
			m.add(k.path, anew)
		}
	}
}

// equalMarks reports whether two lists have the same places and changes, in any order. Two branches
// with equal marks need not be distinguished.
func equalMarks(a, b []mark) bool {
	less := func(x, y mark) int {
		return cmp.Or(slices.Compare(x.path, y.path), cmp.Compare(x.what, y.what))
	}
	a, b = slices.SortedFunc(slices.Values(a), less), slices.SortedFunc(slices.Values(b), less)
	return slices.EqualFunc(a, b, func(x, y mark) bool { return less(x, y) == 0 })
}

// at returns the schemas that certainly apply to the value at path. References and allOf are
// followed, but unions are not. The schemas are used for the members that they list, to distinguish
// a misspelt name from a needless one. A union lists members only for some of its branches, which
// says too little.
func (v *Validator) at(path []string) []*jsonschema.Schema {
	all := together([]*jsonschema.Schema{v.root})
	for _, step := range path {
		var next []*jsonschema.Schema
		for _, s := range all {
			i, err := strconv.Atoi(step)
			switch p, one := s.Properties[step], items(s); {
			case p != nil:
				next = append(next, p)
			case one != nil && isNumber(step):
				next = append(next, one)
			case err == nil && i < len(s.PrefixItems) && i >= 0:
				next = append(next, s.PrefixItems[i])
			}
		}
		all = together(next)
	}
	return all
}

// together returns the given schemas, and those that apply together with them by $ref or allOf.
// Each schema is added once, so cyclic references come to an end.
func together(all []*jsonschema.Schema) []*jsonschema.Schema {
	for i := 0; i < len(all) && len(all) < maxTogether; i++ {
		for _, s := range append(present([]*jsonschema.Schema{all[i].Ref}), all[i].AllOf...) {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// maxTogether is how many schemas are considered for one place. Any further ones are ignored, since
// only names depend on them.
const maxTogether = 100

// misspelt reports whether one name is probably a misspelling of the other: dat for date, cuont for
// count. They may differ by one extra letter. In names of at least five letters they may also
// differ by one wrong letter or two swapped ones. Many shorter names are different words, such as
// "id" and "is", or "from" and "form".
func misspelt(a, b string) bool {
	short, long := min(len(a), len(b)), max(len(a), len(b))
	if long-short > 1 || short < 3 || short == long && short < 5 || long > maxMisspelt {
		return false
	}
	return spelling.Distance(a, b) == 1
}

// maxMisspelt is the length of the longest name that is compared, since comparing takes quadratic
// time.
const maxMisspelt = 100
