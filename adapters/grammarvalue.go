package adapters

import (
	"bytes"
	"encoding/json"
	"strconv"

	"toolnorm/adapters/internal/print"
	"toolnorm/chat/schema"
)

// value matches what may stand at a place.
func (g *grammar) value(n *demand, s *print.Spelling) string {
	if n.Ref != "" {
		if name := g.reference(n.Ref, s); name != "" {
			return name
		}
		return g.any(s)
	}
	var all []string
	for _, c := range g.choices(n) {
		if s.NoNull && c.kind == schema.Null {
			continue
		}
		if expr := g.choice(c, s); expr != "" || c.value == `""` {
			all = append(all, expr)
		}
	}
	if len(all) == 0 {
		g.drop("no value fits")
		return g.any(s)
	}
	return alt(all...)
}

// reference matches what a reference points to, by a rule of its own, so that recursion ends. It is empty for one that
// leads back to itself before anything is written.
func (g *grammar) reference(ref string, s *print.Spelling) string {
	if g.open[ref] {
		return ""
	}
	id := s.Name + " " + ref
	if name, ok := g.refs[id]; ok {
		return name
	}
	n, ok := g.read(g.lookup(ref))
	if !ok {
		g.drop("$ref")
		n = new(demand)
	}
	name := g.name(g.tool.Name + "-" + ref)
	g.refs[id] = name
	g.open[ref] = true
	g.define(name, g.value(n, s))
	delete(g.open, ref)
	return name
}

// choice matches one thing that may stand at a place.
func (g *grammar) choice(c choice, s *print.Spelling) string {
	switch {
	case c.value != "":
		return lit(s.Value(c.value))
	case c.n.Ref != "":
		return g.reference(c.n.Ref, s)
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

// hint is a name for the rule of the present place.
func (g *grammar) hint() string {
	if len(g.path) == 0 {
		return g.tool.Name + "-arguments"
	}
	return g.tool.Name + "-" + g.path[len(g.path)-1]
}

// any matches every value, by one rule.
func (g *grammar) any(s *print.Spelling) string {
	key := "any " + s.Name
	if name, ok := g.named[key]; ok {
		return name
	}
	name := g.name("any")
	g.named[key] = name
	text := g.text(new(demand), s)
	if s.NoNull || len(s.Quotes) == 0 {
		g.define(name, text)
		return name
	}
	all := []string{text, g.rule("number", g.number(new(demand), schema.Number)), lit(s.True), lit(s.False), lit(s.Null)}
	all = append(all, seq(lit(s.Open), list(seq(g.otherKey(nil, s), name), s.Comma, 0, g.most("")), lit(s.Close)))
	all = append(all, seq(lit(s.ListOpen), list(name, s.ListComma, 0, g.most("")), lit(s.ListClose)))
	g.define(name, alt(all...))
	return name
}

// most is the bound of a list.
func (g *grammar) most(max json.Number) int {
	n, ok := count(max)
	if ok && n > maxRepeat {
		g.drop("maxItems")
		ok = false
	}
	if limit := bound(g.o.MaxItems); !ok || limit >= 0 && limit < n {
		return limit
	}
	return n
}

// count reads a length or a number of things.
func count(n json.Number) (int, bool) {
	f, err := n.Float64()
	return int(max(min(f, 1<<30), 0)), err == nil
}

// array matches a list.
func (g *grammar) array(n *demand, s *print.Spelling) string {
	defer g.enter("items")()
	prefix, items := n.Prefix, n.Items
	if tuple := bytes.TrimSpace(items); len(tuple) > 0 && tuple[0] == '[' { // as old drafts write it
		_ = json.Unmarshal(tuple, &prefix)
		items = nil
	}
	var first []string
	for _, raw := range prefix {
		first = append(first, g.item(raw, s))
	}
	low, _ := count(n.MinItems)
	high := g.most(n.MaxItems)
	if low > maxRepeat {
		g.drop("minItems")
		low = maxRepeat
	}
	if high >= 0 && low > high {
		low = high
	}
	if len(first) > 0 {
		return g.tuple(first, items, low, high, s)
	}
	if string(bytes.TrimSpace(items)) == "false" {
		high = 0
	}
	all := ""
	if high != 0 {
		all = list(g.item(items, s), s.ListComma, low, high)
	}
	if s.Open == "" && low == 0 { // without brackets there is nothing around no elements
		return optional(seq(lit(s.ListOpen), list(g.item(items, s), s.ListComma, 1, high), lit(s.ListClose)))
	}
	return seq(lit(s.ListOpen), all, lit(s.ListClose))
}

// tuple matches a list whose first elements have schemas of their own. All of them are written.
func (g *grammar) tuple(first []string, items json.RawMessage, low, high int, s *print.Spelling) string {
	if high >= 0 && high < len(first) {
		first = first[:high]
	}
	all := []string{lit(s.ListOpen)}
	for i, item := range first {
		if i > 0 {
			all = append(all, lit(s.ListComma))
		}
		all = append(all, item)
	}
	rest := -1
	if high >= 0 {
		rest = high - len(first)
	}
	if low = max(low-len(first), 0); low > 0 || len(items) > 0 && string(items) != "false" {
		all = append(all, repeat(seq(lit(s.ListComma), g.item(items, s)), low, rest))
	}
	return seq(append(all, lit(s.ListClose))...)
}

// item matches an element.
func (g *grammar) item(raw json.RawMessage, s *print.Spelling) string {
	n, ok := g.read(raw)
	if !ok {
		n = new(demand)
	}
	return g.short(g.value(n, s))
}

// short is a rule in the place of an expression that is long.
func (g *grammar) short(expr string) string {
	if len(expr) < longExpr {
		return expr
	}
	return g.rule(g.hint(), expr)
}

// enter goes one step down in the schema, where references may come again; what it gives goes back.
func (g *grammar) enter(step string) func() {
	open, path := g.open, g.path
	g.open, g.path = map[string]bool{}, append(path[:len(path):len(path)], step)
	return func() { g.open, g.path = open, path }
}

// number matches a number, held to its bounds where they are whole.
func (g *grammar) number(n *demand, kind schema.Kinds) string {
	low, high, ok := n.bounds(kind)
	if !ok {
		g.drop("bounds")
	}
	switch {
	case kind == schema.Integer && low == nil && high == nil:
		return `("0" | "-"? [1-9] [0-9]{0,18})`
	case kind == schema.Integer:
		return integers(low, high)
	case low == nil && high == nil:
		return `"-"? ("0" | [1-9] [0-9]{0,18}) ("." [0-9]{1,17})? ([eE] [-+]? ([12] [0-8] [0-9] | [0-9]{1,2}))?`
	}
	return fractions(low, high)
}

// bounds are the least and the greatest whole number that fit, nil for none. It answers false when the schema says more. A
// bound that is itself excluded is the next whole number, among numbers with fractions it stays.
func (n *demand) bounds(kind schema.Kinds) (low, high *int64, ok bool) {
	ok = true
	read := func(plain, strict json.RawMessage, sign int64) *int64 {
		by := sign
		excluded := string(strict) == "true"
		if len(strict) > 0 && string(strict) != "false" && kind == schema.Number {
			ok, by = false, 0
		}
		v, isInt := whole(plain)
		if !isInt && len(plain) > 0 {
			ok = false
		}
		if isInt && excluded {
			v += by
		}
		x, strictly := whole(strict)
		if len(strict) > 0 && !strictly && !excluded && string(strict) != "false" {
			ok = false
		}
		if strictly && (!isInt || (x+by)*sign > v*sign) {
			v, isInt = x+by, true
		}
		if !isInt {
			return nil
		}
		return &v
	}
	low, high = read(n.Minimum, n.Above, 1), read(n.Maximum, n.Below, -1)
	if low != nil && high != nil && *low > *high {
		return nil, nil, false
	}
	return low, high, ok
}

// whole reads a JSON number that is whole, up to 15 digits.
func whole(raw json.RawMessage) (int64, bool) {
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != float64(int64(f)) || max(f, -f) > 1e15 {
		return 0, false
	}
	return int64(f), true
}
