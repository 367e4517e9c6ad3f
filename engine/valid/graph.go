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
// None of them goes deeper into the value, so a circle among them would never end; see inwards.
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
// The difference is what makes the work grow: a member is held to one of properties, but to every pattern that its name fits.
// AdditionalProperties counts as one of either, since it speaks of members that no other does.
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
// The library keeps what may be true, false, a list or a schema in a field of any type.
func asSchema(v any) *jsonschema.Schema {
	s, _ := v.(*jsonschema.Schema)
	return s
}

// present leaves out the keywords that a schema does not have.
func present(all []*jsonschema.Schema) []*jsonschema.Schema {
	return slices.DeleteFunc(all, func(s *jsonschema.Schema) bool { return s == nil })
}

// reachable lists s and everything that it leads to, each once.
// What stands under $defs and is referred to by nobody is not among it.
func reachable(s *jsonschema.Schema) []*jsonschema.Schema {
	seen := map[*jsonschema.Schema]bool{s: true}
	all := []*jsonschema.Schema{s}
	for i := 0; i < len(all); i++ {
		for _, next := range near(all[i]) {
			if !seen[next] {
				seen[next] = true
				all = append(all, next)
			}
		}
	}
	return all
}

// near are the schemas that s names.
// Whatever way it names them: for what can be reached that makes no difference.
func near(s *jsonschema.Schema) []*jsonschema.Schema {
	either, every := within(s)
	return slices.Concat(here(s), either, every)
}

// placeOf is where a schema stands, as a JSON pointer. The library has it as the fragment of a URL, with % escapes.
func placeOf(s *jsonschema.Schema) string {
	_, at, _ := strings.Cut(s.Location, "#")
	if plain, err := url.PathUnescape(at); err == nil {
		return plain
	}
	return at
}

// workOf says how many places of the schema can meet one value at each depth, the last figure standing for all deeper
// ones. Unions of recursive schemas make it grow with the depth; beyond what is ever checked nobody needs it exactly. A
// schema that refers to itself without going deeper is an error.
// "anyOf": [{"$ref": "#"}, {"$ref": "#"}] under a member doubles the work with each level, 2^20 at the twentieth. The figures
// are those of the worst value, so a deeply nested filter may be refused that would have been quick. They are computed once
// a schema; the depths of the arguments decide.
func workOf(root *jsonschema.Schema) ([]float64, error) {
	order, err := inwards(root)
	if err != nil {
		return nil, err
	}
	places, top := placesOf(order), slices.Index(order, root)
	var work []float64
	before, now := make([]float64, len(order)), make([]float64, len(order))
	// The figures of one depth follow from those of one level less. Where two are equal all deeper ones are, which without
	// recursion is soon the case.
	for depth := range maxDepth {
		same := depth > 0
		for i, p := range places {
			n := p.own
			if depth > 0 {
				n = p.inside(before)
			}
			for _, next := range p.here {
				n += now[next]
			}
			// More is never asked for, and a float that grows on would end as infinity.
			now[i] = min(n, 2*most)
			same = same && now[i] == before[i]
		}
		if same {
			break
		}
		if work = append(work, now[top]); work[depth] > most {
			break
		}
		before, now = now, before
	}
	return work, nil
}

// placeWork is one schema, its neighbours by their numbers in the order of inwards, so that one pass from the front finds all
// that it needs computed already.
type placeWork struct {
	own                 float64 // for a value at the top
	here, either, every []int
}

// placesOf numbers the schemas.
// An enum is compared value by value, so that sixteen of them count as one place more.
func placesOf(order []*jsonschema.Schema) []placeWork {
	number := make(map[*jsonschema.Schema]int, len(order))
	for i, s := range order {
		number[s] = i
	}
	numbers := func(all []*jsonschema.Schema) []int {
		out := make([]int, len(all))
		for i, s := range all {
			out[i] = number[s]
		}
		return out
	}
	places := make([]placeWork, len(order))
	for i, s := range order {
		either, every := within(s)
		places[i] = placeWork{1 + float64(enumSize(s))/16, numbers(here(s)), numbers(either), numbers(every)}
	}
	return places
}

// enumSize is how many values a place compares with.
func enumSize(s *jsonschema.Schema) int {
	if s.Enum == nil {
		return 0
	}
	return len(s.Enum.Values)
}

// inside is the work for a member or element, when that for one level less is known.
// One member meets one of either and all of every, so the sum has the largest of the first and each of the second.
func (p placeWork) inside(before []float64) (n float64) {
	for _, next := range p.either {
		n = max(n, before[next])
	}
	for _, next := range p.every {
		n += before[next]
	}
	return n
}

// inwards orders all schemas so that those which apply to the same value come before the one that names them.
// A schema that is met again while it is open applies to its own value, which no check would ever end.
func inwards(root *jsonschema.Schema) ([]*jsonschema.Schema, error) {
	// A schema that is still open when it is met again is in a circle.
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
// Only taking the pattern away would not do: a member that no pattern matches falls under additionalProperties, so false
// there would refuse what the pattern lets in, and "not" turns each loosening into a tightening.
func loosen(root *jsonschema.Schema) (dropped []string) {
	all := reachable(root)
	loose := map[*jsonschema.Schema]bool{}
	for _, s := range all {
		if _, ok := s.Pattern.(unknown); ok {
			s.Pattern = nil
			loose[s] = true
			dropped = append(dropped, placeOf(s)+"/pattern")
		}
		// Which names the pattern would take nobody knows, so none may count as additional.
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
	// Keywords that turn round what they hold are dropped wherever a loosened place lies below them.
	leads := leading(all, loose)
	for _, s := range all {
		dropped = append(dropped, loosenRest(s, leads)...)
	}
	slices.Sort(dropped)
	return slices.Compact(dropped)
}

// leading are the schemas from which one of those can be reached, themselves among them.
// It walks the arrows backwards from all of them at once. To ask for each schema what it leads to took 1.9 s for a schema of
// 1,900 nots.
func leading(all []*jsonschema.Schema, to map[*jsonschema.Schema]bool) map[*jsonschema.Schema]bool {
	from := map[*jsonschema.Schema][]*jsonschema.Schema{}
	for _, s := range all {
		for _, next := range near(s) {
			from[next] = append(from[next], s)
		}
	}
	leads := maps.Clone(to)
	todo := slices.Collect(maps.Keys(to))
	for i := 0; i < len(todo); i++ {
		for _, s := range from[todo[i]] {
			if !leads[s] {
				leads[s] = true
				todo = append(todo, s)
			}
		}
	}
	return leads
}

// loosenRest takes out the keywords by which a looser schema refuses more: what is not to fit, or to fit only once.
// Loosening an if changes which branch holds, in either direction, so the condition goes as a whole. An anyOf or allOf only
// gets looser itself and stays.
func loosenRest(s *jsonschema.Schema, loose map[*jsonschema.Schema]bool) (dropped []string) {
	leads := func(to *jsonschema.Schema) bool { return loose[to] }
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
