package valid

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A compiled schema is a graph, with circles where it refers to itself. This file walks it, for what has to be known
// before anything is checked: which parts cannot be checked at all, and how much work a value may make.

// most bounds the work of one check: places of the schema times values of the arguments.
const most = 2e6

// here lists the schemas that apply to the same value as s.
func here(s *jsonschema.Schema) (all []*jsonschema.Schema) {
	all = append(all, s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else)
	if s.DynamicRef != nil {
		all = append(all, s.DynamicRef.Ref)
	}
	all = slices.Concat(all, s.AllOf, s.AnyOf, s.OneOf, slices.Collect(maps.Values(s.DependentSchemas)))
	for _, d := range s.Dependencies {
		all = append(all, asSchema(d))
	}
	return present(all)
}

// within lists the schemas that apply to the members and elements of a value: for each member one of either, and all of
// every.
func within(s *jsonschema.Schema) (either, every []*jsonschema.Schema) {
	either = append(slices.Collect(maps.Values(s.Properties)), asSchema(s.AdditionalProperties), asSchema(s.AdditionalItems), asSchema(s.Items), s.Items2020)
	if list, ok := s.Items.([]*jsonschema.Schema); ok {
		either = append(either, list...)
	}
	either = append(either, s.PrefixItems...)
	every = append(slices.Collect(maps.Values(s.PatternProperties)), s.PropertyNames, s.Contains, s.UnevaluatedItems, s.UnevaluatedProperties)
	return present(either), present(every)
}

// asSchema is the schema in a field that may hold something else.
func asSchema(v any) *jsonschema.Schema {
	s, _ := v.(*jsonschema.Schema)
	return s
}

func present(all []*jsonschema.Schema) []*jsonschema.Schema {
	return slices.DeleteFunc(all, func(s *jsonschema.Schema) bool { return s == nil })
}

// reachable lists s and everything that it leads to, each once.
func reachable(s *jsonschema.Schema) []*jsonschema.Schema {
	seen := map[*jsonschema.Schema]bool{s: true}
	all := []*jsonschema.Schema{s}
	for i := 0; i < len(all); i++ {
		either, every := within(all[i])
		for _, next := range slices.Concat(here(all[i]), either, every) {
			if !seen[next] {
				seen[next] = true
				all = append(all, next)
			}
		}
	}
	return all
}

// placeOf is where a schema stands, as a JSON pointer.
func placeOf(s *jsonschema.Schema) string {
	_, at, _ := strings.Cut(s.Location, "#")
	if plain, err := url.PathUnescape(at); err == nil {
		return plain
	}
	return at
}

// workOf says how many places of the schema can meet one value at each depth, the last figure standing for all deeper
// ones. Unions of recursive schemas make it grow with the depth. A schema that refers to itself without going deeper is
// an error.
func workOf(root *jsonschema.Schema) ([]float64, error) {
	order, err := inwards(root)
	if err != nil {
		return nil, err
	}
	var work []float64
	before := map[*jsonschema.Schema]float64{}
	for depth := range maxDepth {
		now := make(map[*jsonschema.Schema]float64, len(order))
		same := depth > 0
		for _, s := range order {
			n := 1 + float64(enumSize(s))/16
			if depth > 0 {
				n = inside(s, before)
			}
			for _, next := range here(s) {
				n += now[next]
			}
			now[s] = n
			same = same && n == before[s]
		}
		if same {
			break
		}
		work = append(work, now[root])
		before = now
	}
	return work, nil
}

// enumSize is how many values a place compares with.
func enumSize(s *jsonschema.Schema) int {
	if s.Enum == nil {
		return 0
	}
	return len(s.Enum.Values)
}

// inside is the work for a member or element, when that for one level less is known.
func inside(s *jsonschema.Schema, before map[*jsonschema.Schema]float64) (n float64) {
	either, every := within(s)
	for _, next := range either {
		n = max(n, before[next])
	}
	for _, next := range every {
		n += before[next]
	}
	return n
}

// inwards orders all schemas so that those which apply to the same value come before the one that names them.
func inwards(root *jsonschema.Schema) ([]*jsonschema.Schema, error) {
	const open, done = 1, 2
	state := map[*jsonschema.Schema]int{}
	var order []*jsonschema.Schema
	var visit func(s *jsonschema.Schema) error
	visit = func(s *jsonschema.Schema) error {
		switch state[s] {
		case open:
			return &SchemaError{Place: placeOf(s), Text: "it refers to itself without end"}
		case done:
			return nil
		}
		state[s] = open
		for _, next := range here(s) {
			if err := visit(next); err != nil {
				return err
			}
		}
		state[s] = done
		order = append(order, s)
		return nil
	}
	for _, s := range reachable(root) {
		if err := visit(s); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// loosen takes out what cannot be checked, so that nothing valid is refused, and lists the places.
func loosen(root *jsonschema.Schema) (dropped []string) {
	all := reachable(root)
	loose := map[*jsonschema.Schema]bool{}
	for _, s := range all {
		if _, ok := s.Pattern.(unknown); ok {
			s.Pattern = nil
			loose[s] = true
			dropped = append(dropped, placeOf(s)+"/pattern")
		}
		for re := range s.PatternProperties {
			if _, ok := re.(unknown); ok {
				delete(s.PatternProperties, re)
				s.AdditionalProperties = nil
				loose[s] = true
				dropped = append(dropped, placeOf(s)+"/patternProperties")
			}
		}
	}
	if len(loose) == 0 {
		return nil
	}
	for _, s := range all {
		dropped = append(dropped, loosenRest(s, loose)...)
	}
	slices.Sort(dropped)
	return slices.Compact(dropped)
}

// loosenRest takes out the keywords by which a looser schema refuses more: what is not to fit, or to fit only once.
func loosenRest(s *jsonschema.Schema, loose map[*jsonschema.Schema]bool) (dropped []string) {
	leads := func(to *jsonschema.Schema) bool {
		return to != nil && slices.ContainsFunc(reachable(to), func(s *jsonschema.Schema) bool { return loose[s] })
	}
	drop := func(keyword string) { dropped = append(dropped, placeOf(s)+"/"+keyword) }
	if leads(s.Not) {
		s.Not = nil
		drop("not")
	}
	if leads(s.If) {
		s.If = nil
		drop("if")
	}
	if slices.ContainsFunc(s.OneOf, leads) {
		s.OneOf = nil
		drop("oneOf")
	}
	if s.MaxContains != nil && leads(s.Contains) {
		s.MaxContains = nil
		drop("maxContains")
	}
	if s.UnevaluatedProperties != nil && leads(s) {
		s.UnevaluatedProperties = nil
		drop("unevaluatedProperties")
	}
	return dropped
}
