package grammar

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/print"
	"toolnorm/chat/schema"
)

// anything is a place without constraints.
var anything = &schema.Place{Kinds: schema.Any}

// choice is one alternative that a schema allows for a value: a single value of an enum, or all
// values of a kind. A single value is written like other values at its place, such as True in
// Python, or "a" without quotation marks in a tag.
type choice struct {
	kind  schema.Kinds // 0: any kind, or the kind of the target of the reference n
	value string       // JSON; empty for any value of the kind that n allows
	n     *schema.Place
}

// allKinds are the JSON types in the order of a grammar's alternatives.
var allKinds = []schema.Kinds{schema.String, schema.Number, schema.Integer, schema.Boolean,
	schema.Object, schema.Array, schema.Null}

// choices returns the alternatives for a value at the place n of a schema, or nil if no value is
// allowed there. If there is an enum, they are its values, and types and references do not matter.
// Otherwise each type is one, because strings, numbers and objects are written in different ways.
// Integers are no alternative of their own beside numbers.
func choices(n *schema.Place) (all []choice) {
	if n.Alternatives != nil {
		for _, a := range n.Alternatives {
			all = append(all, choices(a)...)
		}
		return all
	}
	k := n.Types()
	switch {
	case n.Never:
		return nil
	case n.Enum != nil:
		for _, v := range n.Enum {
			all = append(all, choice{kind: schema.KindOf(v), value: v})
		}
		return all
	case n.Reference() != "" || k == schema.Any:
		return []choice{{n: n}}
	}
	for _, kind := range allKinds {
		if k&kind != 0 && (kind != schema.Integer || k&schema.Number == 0) {
			all = append(all, choice{kind: kind, n: n})
		}
	}
	return all
}

// choicesIn returns the choices that the schema allows at the place n, as far as the spelling s
// writes them differently. If s writes each kind of value in its own way, each choice has one kind:
// references are followed, and a place that allows anything has a choice for each kind. For
// example, some families write True for a keyword argument, as Python does, but write a list as
// JSON.
func choicesIn(n *schema.Place, s *print.Spelling) (all []choice) {
	if !s.ByKind() {
		return slices.DeleteFunc(choices(n), func(c choice) bool {
			return s.NoNull && c.kind == schema.Null
		})
	}
	there := choices(n.Follow())
	for _, c := range there {
		all = append(all, ofOneKind(c)...)
	}
	if !s.Untyped() {
		return all
	}
	// The text in a tag has no quotation marks, so its type comes from the schema: 5 is "5" in a
	// tag of a string, and 5 in a tag of a number. For a place of unknown type the string covers
	// all other kinds, and null cannot be distinguished from a string.
	text := func(c choice) bool { return c.kind == schema.String }
	anyKind, some := len(there) == 1 && there[0].kind == 0, slices.ContainsFunc(there, text)
	return slices.DeleteFunc(all, func(c choice) bool {
		return c.value == "" && !text(c) && (anyKind || some && c.kind == schema.Null)
	})
}

// ofOneKind divides the choice c into choices that each allow values of one kind only, such as
// strings, and returns them. It follows references. If the schema says nothing about the type,
// there is a choice for each kind, with integers included in numbers.
func ofOneKind(c choice) (all []choice) {
	switch {
	case c.kind != 0:
		return []choice{c}
	case c.n.Reference() != "":
		for _, more := range choices(c.n.Follow()) {
			all = append(all, ofOneKind(more)...)
		}
		return all
	}
	for _, kind := range allKinds {
		if kind != schema.Integer {
			all = append(all, choice{kind: kind, n: anything})
		}
	}
	return all
}

// value returns an expression for the values that the schema allows at the place n, as the spelling
// s writes them. If the schema allows none, the expression is for any value, since the model could
// not continue otherwise, and the place is reported as dropped. Kinds of values with an empty
// expression are left out, except for the constant "", which in a tag is the empty text.
func (g *values) value(n *schema.Place, s *print.Spelling) string {
	var all []string
	for _, c := range choicesIn(n, s) {
		if expr := seq(lit(s.Type(c.kind)), g.choice(c, s.For(c.kind))); expr != "" ||
			c.value == `""` {
			all = append(all, expr)
		}
	}
	if len(all) == 0 {
		g.doc.Drop(n.At, "")
		return g.any(s.For(schema.String))
	}
	return alt(all...)
}

// reference returns a rule for the schema to which the $ref at the place n points. The rule has a
// name of its own, so that recursion ends. Each spelling has its own rule, because the same value
// may be written as text in a tag and as JSON in a list. The key of the rule contains the tool,
// because "#/$defs/node" is a different schema in each tool.
func (g *values) reference(n *schema.Place, s *print.Spelling) string {
	hint := g.tool.Name + "-" + n.Reference()
	return g.once(s.Name+" "+hint, hint, func() string { return g.value(n.Follow(), s) })
}

// choice returns an expression for the values of one choice that a schema allows. Objects and lists
// become rules named after their place in the schema, because their text may occur several times in
// the grammar.
func (g *values) choice(c choice, s *print.Spelling) string {
	switch {
	case c.value != "":
		return lit(s.Value(c.value))
	case c.n.Reference() != "":
		return g.reference(c.n, s)
	}
	switch c.kind {
	case schema.String:
		return g.text(c.n, s)
	case schema.Integer, schema.Number:
		return g.rule("number", g.number(c.n, c.kind))
	case schema.Boolean:
		return alt(lit(s.True), lit(s.False))
	case schema.Null:
		return lit(s.Null)
	case schema.Object:
		return g.rule(g.hint(), g.object(c.n, s))
	case schema.Array:
		return g.rule(g.hint(), g.array(c.n, s))
	}
	return g.any(s)
}

// hint returns a readable name for the rule of the place in the schema at which g is, such as
// get_weather-city.
func (g *values) hint() string {
	if g.step == "" {
		return g.tool.Name + "-arguments"
	}
	return g.tool.Name + "-" + g.step
}

// any returns the name of a rule for all values, as the spelling s writes them. The rule may
// contain itself, and all places where anything is allowed share it. If s writes raw text, as
// between tags, the rule is that for text, because 5 and true are texts there as well.
func (g *values) any(s *print.Spelling) string {
	return g.once("any "+s.Name, "any", func() string {
		if s.NoNull || len(s.Quotes) == 0 {
			return g.text(anything, s)
		}
		defer g.enter("any")()
		return alt(each(ofOneKind(choice{n: anything}), func(c choice) string {
			return g.choice(c, s)
		})...)
	})
}

// span returns the smallest and the largest allowed length of a string or list, from the bounds
// least and most in the schema; high is -1 if there is no limit. llama.cpp refuses numbers above
// maxRepeat in a repetition. So a larger minimum is reduced to maxRepeat, a larger maximum is left
// out, and both are reported as dropped. A minimum that exceeds the maximum is reduced to the
// maximum.
func (g *values) span(least, most *schema.Count) (low, high int) {
	held := func(bound *schema.Count, none, beyond int) int {
		switch {
		case bound == nil:
			return none
		case bound.N > maxRepeat:
			g.doc.Drop(bound.At, bound.Keyword)
			return beyond
		}
		return bound.N
	}
	low, high = held(least, 0, maxRepeat), held(most, -1, -1)
	if high >= 0 {
		low = min(low, high)
	}
	return low, high
}

// array returns an expression for a list. In a schema with prefixItems, each of the first elements
// has a schema of its own. All of these are required here, although JSON Schema allows fewer,
// because an incomplete list of this kind is mostly a mistake. items: false means that no more
// elements follow; without prefixItems it means that the list is empty. uniqueItems cannot be
// expressed, because a grammar has no memory of earlier elements.
func (g *values) array(n *schema.Place, s *print.Spelling) string {
	defer g.enter("items")()
	low, high := g.span(n.MinItems, n.MaxItems)
	first := each(n.Prefix, func(p *schema.Place) string { return g.item(p, s) })
	if high >= 0 {
		first = first[:min(len(first), high)]
		high -= len(first)
	}
	low = max(low-len(first), 0)
	closed := n.Items != nil && n.Items.Never
	if len(n.Prefix) > 0 {
		closed = (closed || n.Items == nil) && low == 0
	}
	if closed {
		high = 0
	}
	// without brackets an empty list is the empty text
	none := s.Open == "" && low == 0 && len(first) == 0
	if none {
		low = 1
	}
	comma, rest := lit(s.List.Comma), ""
	switch {
	case high == 0:
	case len(first) > 0:
		rest = repeat(seq(comma, g.item(n.Items, s)), low, high)
	default:
		rest = list(g.item(n.Items, s), s.List.Comma, low, high)
	}
	all := seq(lit(s.List.Open), strings.Join(first, " "+comma+" "), rest, lit(s.List.Close))
	if none {
		return optional(all)
	}
	return all
}

// item returns an expression for an element of a list, by the schema n of the element.
func (g *values) item(n *schema.Place, s *print.Spelling) string {
	return g.short(g.value(possible(n), s))
}

// possible returns the place n of a schema if it allows a value. If n is nil or allows none, it
// returns a place that allows any value, because some value has to be written there.
func possible(n *schema.Place) *schema.Place {
	if n == nil || n.Never {
		return anything
	}
	return n
}

// short returns an expression unchanged, or the name of a rule for it if the expression is long.
func (g *values) short(expr string) string {
	if len(expr) < longExpr {
		return expr
	}
	return g.rule(g.hint(), expr)
}

// enter goes one step down in the schema, such as to a member, and returns a function that goes
// back. Rules that are defined in between are named after the step.
func (g *values) enter(step string) func() {
	before := g.step
	g.step = step
	return func() { g.step = before }
}
