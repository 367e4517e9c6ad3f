package valid

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A compiled schema is a graph, with cycles where it refers to itself. This file walks it to find
// out what has to be known before anything is checked: which parts cannot be checked at all, and
// how much work a value may make.

// most limits the work of one check, which is places of the schema times values of the arguments.
const most = 2e6

// place is one schema of a graph. The graph has all schemas inside a schema, and the references
// between them. A place has the places to which its schema leads, and those that lead to it.
type place struct {
	*jsonschema.Schema
	here          []*place // see here
	either, every []*place // see within
	from          []*place // the places that refer to it in any way

	work  [2]float64 // for a value at an even depth, and at an odd one; see meet
	known int        // number of depths for which work is computed
	open  bool       // work is being computed
}

// graph returns the schema and everything reachable from it, each once. Definitions under $defs to
// which nothing refers are not included.
func graph(root *jsonschema.Schema) []*place {
	known := map[*jsonschema.Schema]*place{root: {Schema: root}}
	all := []*place{known[root]}
	for i := 0; i < len(all); i++ {
		named := func(list []*jsonschema.Schema) []*place {
			places := make([]*place, len(list))
			for j, s := range list {
				if known[s] == nil {
					known[s] = &place{Schema: s}
					all = append(all, known[s])
				}
				places[j] = known[s]
				places[j].from = append(places[j].from, all[i])
			}
			return places
		}
		either, every := within(all[i].Schema)
		all[i].here = named(here(all[i].Schema))
		all[i].either, all[i].every = named(either), named(every)
	}
	return all
}

// here returns the schemas that apply to the same value as s, such as those of $ref, allOf and if.
// None of them goes deeper into the value, so a cycle among them would never end; the method meet
// finds such a cycle.
func here(s *jsonschema.Schema) (all []*jsonschema.Schema) {
	all = append(all, s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else)
	if s.DynamicRef != nil {
		all = append(all, s.DynamicRef.Ref)
	}
	all = slices.Concat(all, s.AllOf, s.AnyOf, s.OneOf,
		slices.Collect(maps.Values(s.DependentSchemas)))
	for _, d := range s.Dependencies {
		all = append(all, asSchema(d))
	}
	return present(all)
}

// within returns the schemas that apply to the members and elements of a value, in two lists. Of
// the schemas in the list either, only one applies to a given member, such as one of the keyword
// properties. Those in the list every may all apply to the same member, such as those of several
// patterns that match its name. Therefore the list every makes the work grow faster. The keyword
// additionalProperties belongs to the list either, since it applies to members that no other
// keyword covers.
func within(s *jsonschema.Schema) (either, every []*jsonschema.Schema) {
	either = append(slices.Collect(maps.Values(s.Properties)), asSchema(s.AdditionalProperties),
		asSchema(s.AdditionalItems), asSchema(s.Items), s.Items2020)
	if list, ok := s.Items.([]*jsonschema.Schema); ok {
		either = append(either, list...)
	}
	either = append(either, s.PrefixItems...)
	every = append(slices.Collect(maps.Values(s.PatternProperties)), s.PropertyNames, s.Contains,
		s.UnevaluatedItems, s.UnevaluatedProperties)
	return present(either), present(every)
}

// asSchema returns v if it is a schema, and nil otherwise. The library uses a field of any type if
// a keyword may be true, false, a list or a schema.
func asSchema(v any) *jsonschema.Schema {
	s, _ := v.(*jsonschema.Schema)
	return s
}

// present removes the schemas that are nil from a list, and returns the list. A keyword that a
// schema does not have is nil. The list is changed, so it must be the caller's own.
func present(all []*jsonschema.Schema) []*jsonschema.Schema {
	return slices.DeleteFunc(all, func(s *jsonschema.Schema) bool { return s == nil })
}

// placeOf returns the place of a schema in its document as a JSON pointer. The library has it as
// the fragment of a URL, with % escapes.
func placeOf(s *jsonschema.Schema) string {
	_, at, _ := strings.Cut(s.Location, "#")
	if plain, err := url.PathUnescape(at); err == nil {
		return plain
	}
	return at
}

// workOf returns, for each depth of the arguments, how many schemas may have to be checked for one
// value at that depth. The last figure is valid for all deeper ones. It returns an error for a
// schema that refers to itself without going deeper.
//
// In unions of recursive schemas the work grows with the depth. For example, "anyOf": [{"$ref":
// "#"}, {"$ref": "#"}] under a member doubles it with each level, to 2^20 at the twentieth. The
// figures end at the first depth with more work than is ever allowed. They are the worst case, so
// deeply nested arguments may be refused although their check would have been quick. They depend
// only on the schema, so they are computed once.
func workOf(all []*place) (work []float64, err error) {
	// The figures of one depth follow from those of the previous depth. Once two depths are equal,
	// all deeper ones are, which happens soon without recursion.
	for depth := range maxDepth {
		same := depth > 0
		for _, p := range all {
			if err := p.meet(depth); err != nil {
				return nil, err
			}
			same = same && p.work[0] == p.work[1]
		}
		if same {
			break
		}
		if work = append(work, all[0].work[depth%2]); work[depth] > most {
			break
		}
	}
	return work, nil
}

// meet computes how many checks a value of the given depth may need against p, and stores the
// number in p.work. The numbers of the previous depth must be known for all places. The places that
// apply to the same value as p are computed first. If one of these is not finished yet, the schema
// refers to itself at the same value, and a check would never end, so meet returns an error.
//
// At depth 0 a place adds 1 for itself, and 1 for each sixteen values of its enum, because these
// are compared one by one. At greater depths, a member or element is checked by one place of
// p.either and by all places of p.every. So the largest number of p.either is added, and all
// numbers of p.every.
func (p *place) meet(depth int) error {
	switch {
	case p.open:
		return &SchemaError{Place: placeOf(p.Schema), Text: "it refers to itself without end"}
	case p.known > depth:
		return nil
	}
	p.open = true
	now, before := depth%2, (depth+1)%2
	n := 0.0
	if depth == 0 {
		n = 1
		if p.Enum != nil {
			n += float64(len(p.Enum.Values)) / 16
		}
	}
	for _, next := range p.either {
		n = max(n, next.work[before])
	}
	for _, next := range p.every {
		n += next.work[before]
	}
	for _, next := range p.here {
		if err := next.meet(depth); err != nil {
			return err
		}
		n += next.work[now]
	}
	// Larger figures are never needed, and a float that keeps growing would end as infinity.
	p.work[now] = min(n, 2*most)
	p.open, p.known = false, depth+1
	return nil
}

// loosen removes the patterns that Go cannot compile, and reports whether it removed anything. It
// also removes the keywords that could refuse a valid value once such a pattern is gone. For
// example, a member whose name no pattern matches is checked by additionalProperties, so a false
// there would refuse the members that the removed pattern accepts. And under "not", a schema that
// accepts more makes the whole accept less.
func loosen(all []*place) bool {
	var todo []*place
	for _, p := range all {
		if unknown(p.Pattern) {
			p.Pattern = nil
			todo = append(todo, p)
		}
		// It is not known which names the pattern matches, so no name may count as additional.
		for re := range p.PatternProperties {
			if unknown(re) {
				delete(p.PatternProperties, re)
				p.AdditionalProperties = nil
				todo = append(todo, p)
			}
		}
	}
	// The edges are followed backwards from all of them at once. Following them forward from each
	// schema took 1.9 s for a schema of 1,900 nots.
	leads := map[*jsonschema.Schema]bool{}
	for i := 0; i < len(todo); i++ {
		if p := todo[i]; !leads[p.Schema] {
			leads[p.Schema] = true
			todo = append(todo, p.from...)
		}
	}
	for _, p := range all {
		loosenRest(p.Schema, leads)
	}
	return len(leads) > 0
}

// loosenRest removes keywords of s after a schema inside them was loosened, which means that it
// accepts more than before. The keywords "not", "oneOf", "maxContains" and "unevaluatedProperties"
// are removed because they would then refuse valid values, and "if" because another branch might
// apply. An "anyOf" or "allOf" stays, because it can only accept more. The map leads has the
// loosened schemas and all that contain one.
func loosenRest(s *jsonschema.Schema, leads map[*jsonschema.Schema]bool) {
	if leads[s.Not] {
		s.Not = nil
	}
	if leads[s.If] {
		s.If = nil
	}
	if slices.ContainsFunc(s.OneOf, func(one *jsonschema.Schema) bool { return leads[one] }) {
		s.OneOf = nil
	}
	if leads[s.Contains] {
		s.MaxContains = nil
	}
	if leads[s] {
		s.UnevaluatedProperties = nil
	}
}
