package adapters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolnorm/chat/schema"
)

// anyOrder is up to how many members an object's may come in any order: each further one doubles the rules.
const anyOrder = 5

// slot is a member that an object may have.
type slot struct {
	key      string
	expr     string
	required bool
}

// slots are an object's members and what stands around them.
type slots struct {
	list  []slot
	other string // a member that the schema does not name; empty: there is none
	most  int    // such members
	comma string // between two
	tail  string // behind the last one
	none  string // in place of all
}

// object matches an object.
func (g *grammar) object(n *demand, s *spelling) string {
	o := slots{comma: s.comma, most: g.most("")}
	o.list = g.named1(n, func(key string, p *demand) string {
		end := ""
		if s.end != nil {
			end = s.end(key)
		}
		return seq(lit(s.key(key)), g.value(p, s), lit(end))
	})
	if s.sorted {
		slices.SortStableFunc(o.list, func(a, b slot) int { return strings.Compare(strings.ToLower(a.key), strings.ToLower(b.key)) })
	}
	if more, ok := g.additional(n); ok && !s.fixed {
		defer g.enter("additionalProperties")()
		o.other = seq(g.otherKey(o.list, s), g.value(more, s))
	}
	return seq(lit(s.open), g.members(o), lit(s.close))
}

// named1 are the members that a schema names, in its order.
func (g *grammar) named1(n *demand, write func(key string, p *demand) string) []slot {
	var all []slot
	members := membersOf(string(n.Properties))
	for _, key := range n.Required {
		if !slices.ContainsFunc(members, func(m field) bool { return m.key == key }) {
			members = append(members, field{key, "true"})
		}
	}
	for _, m := range members {
		back := g.enter(m.key)
		if p, ok := g.read(json.RawMessage(m.value)); ok {
			if expr := write(m.key, p); expr != "" {
				all = append(all, slot{m.key, expr, slices.Contains(n.Required, m.key)})
			}
		}
		back()
	}
	return all
}

// additional is what members that the schema does not name may be. Where it names some and says nothing of others, there
// are no others: a model that makes up parameters is wrong.
func (g *grammar) additional(n *demand) (*demand, bool) {
	if raw := bytes.TrimSpace(n.Additional); len(raw) > 0 {
		return g.read(raw)
	}
	return new(demand), len(n.Properties) == 0
}

// members matches an object's members.
func (g *grammar) members(o slots) string {
	if len(o.list) <= anyOrder {
		return g.inAnyOrder(o, 0, map[int]string{})
	}
	return g.inOrder(o, 0, false, map[string]string{})
}

// inAnyOrder matches the members that are not in the set yet.
func (g *grammar) inAnyOrder(o slots, written int, known map[int]string) string {
	if expr, ok := known[written]; ok {
		return expr
	}
	comma := ""
	if written != 0 {
		comma = o.comma
	}
	var all []string
	whole := true
	for i, m := range o.list {
		if written&(1<<i) == 0 {
			all = append(all, seq(lit(comma), m.expr, g.inAnyOrder(o, written|1<<i, known)))
			whole = whole && !m.required
		}
	}
	if whole {
		all = append(all, o.end(written != 0))
	}
	expr := alt(all...)
	if len(all) > 1 && written != 0 {
		expr = g.rule(g.hint()+"-rest", expr)
	}
	known[written] = expr
	return expr
}

// inOrder matches the members from the i-th on.
func (g *grammar) inOrder(o slots, i int, some bool, known map[string]string) string {
	if i == len(o.list) {
		return o.end(some)
	}
	at := fmt.Sprint(i, some)
	if expr, ok := known[at]; ok {
		return expr
	}
	comma := ""
	if some {
		comma = o.comma
	}
	m := o.list[i]
	expr := seq(lit(comma), m.expr, g.inOrder(o, i+1, true, known))
	if !m.required {
		expr = alt(expr, g.inOrder(o, i+1, some, known))
	}
	if expr = g.rule(g.hint()+"-rest", expr); expr == "" {
		return ""
	}
	known[at] = expr
	return expr
}

// end matches what follows the members that the schema names.
func (o slots) end(some bool) string {
	if some {
		if o.other == "" {
			return lit(o.tail)
		}
		return seq(repeat(seq(lit(o.comma), o.other), 0, o.most), lit(o.tail))
	}
	if o.other == "" {
		return lit(o.none)
	}
	return alt(seq(list(o.other, o.comma, 1, o.most), lit(o.tail)), lit(o.none))
}

// otherKey matches a name that is none of the list, and what stands behind it.
func (g *grammar) otherKey(list []slot, s *spelling) string {
	if s.word {
		return seq(g.otherWord(list), lit(strings.TrimPrefix(s.key("x"), "x")))
	}
	quote := s.quotes[0]
	before, after, _ := strings.Cut(s.key("x"), "x")
	var names []string
	for _, m := range list {
		k := s.key(m.key)
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(k, before), after))
	}
	class := func(not string) string {
		out := `[^\\\x00-\x1F` + escapeClass(rune(quote[0]))
		for _, c := range not {
			if c != '\\' && c >= ' ' && c != rune(quote[0]) {
				out += escapeClass(c)
			}
		}
		return out + "]"
	}
	return seq(lit(before), g.otherThan(names, "", 1, class), lit(after))
}

// otherWord matches an identifier that is none of the names.
func (g *grammar) otherWord(list []slot) string {
	var names []string
	for _, m := range list {
		names = append(names, m.key)
	}
	const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
	return g.otherThan(names, "", 1, func(not string) string {
		return "[" + strings.Map(func(r rune) rune {
			if strings.ContainsRune(not, r) || not != "" && r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, word) + "]"
	})
}

// maxOther bounds the names that no schema has, in characters.
const maxOther = 40

// otherThan matches a text of 1 to maxOther characters, behind read, that is none of the names. class is the characters
// that may stand in it but for some.
func (g *grammar) otherThan(names []string, read string, depth int, class func(not string) string) string {
	var next []rune
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, read); ok && rest != "" {
			next = append(next, []rune(rest)[0])
		}
	}
	slices.Sort(next)
	next = slices.Compact(next)
	all := []string{seq(class(string(next)+"\x00"), repeat(class(""), 0, maxOther))}
	for _, c := range next {
		more := g.otherThan(names, read+string(c), depth+1, class)
		if !slices.Contains(names, read+string(c)) {
			more = optional(more)
		}
		all = append(all, seq(lit(string(c)), more))
	}
	return alt(all...)
}

// keywords are the arguments of a call as Python writes it.
func (g *grammar) keywords(n *demand) slots {
	o := slots{comma: ", ", most: g.most("")}
	o.list = g.named1(n, func(key string, p *demand) string { return seq(lit(key+"="), g.keyword1(p)) })
	if more, ok := g.additional(n); ok {
		o.other = seq(g.otherWord(o.list), lit("="), g.keyword1(more))
	}
	return o
}

// keyword1 matches the value of a keyword, see appendKeyword.
func (g *grammar) keyword1(n *demand) string {
	return g.byKind(n, func(c choice) string {
		switch {
		case c.value != "":
			return lit(string(g.f.appendKeyword(nil, c.value)))
		case c.kind == schema.Object, c.kind == schema.String && len(g.f.quotes) == 0:
			return g.choice(c, jsonSpelling)
		}
		return g.choice(c, pythonSpelling)
	})
}

// byKind matches a value whose spelling depends on its kind. A place that allows anything has a choice for each kind.
func (g *grammar) byKind(n *demand, write func(choice) string) string {
	n = g.resolve(n)
	var all []string
	for _, c := range g.choices(n) {
		for _, c := range g.resolved(c) {
			if expr := write(c); expr != "" {
				all = append(all, expr)
			}
		}
	}
	return alt(all...)
}

// resolve follows references to a place that is none.
func (g *grammar) resolve(n *demand) *demand {
	for range maxTree {
		if n.Ref == "" {
			return n
		}
		target, ok := g.read(lookup(g.tool.Schema, n.Ref))
		if !ok {
			break
		}
		n = target
	}
	g.drop("$ref")
	return new(demand)
}

// resolved is a choice without a reference, and of one kind.
func (g *grammar) resolved(c choice) []choice {
	if c.value != "" || c.kind != 0 {
		return []choice{c}
	}
	if c.n.Ref != "" {
		if n, ok := g.read(lookup(g.tool.Schema, c.n.Ref)); ok && n.Ref == "" && !g.open[c.n.Ref] {
			g.open[c.n.Ref] = true
			defer delete(g.open, c.n.Ref)
			var all []choice
			for _, more := range g.choices(n) {
				all = append(all, g.resolved(more)...)
			}
			return all
		}
		return nil
	}
	var all []choice
	for _, kind := range []schema.Kinds{schema.String, schema.Number, schema.Boolean, schema.Object, schema.Array, schema.Null} {
		all = append(all, choice{kind: kind, n: new(demand)})
	}
	return all
}

// tags matches the arguments of a call as tags; end is what stands behind the last one.
func (g *grammar) tags(p *pattern, n *demand, lines bool, end string) string {
	o := slots{tail: end, none: end, most: g.most("")}
	if lines {
		o.comma = "\n"
		if g.f.keys["empty"] != "lines" {
			o.none = ""
		}
	}
	arg := g.f.arg[0]
	if arg.keyed() {
		s := treeSpelling(arg)
		o.list = g.named1(n, func(key string, p *demand) string {
			if all := g.choices(p); len(all) == 1 && all[0].kind == schema.Null {
				return ""
			}
			return seq(lit(arg.openTag(key)), g.value(p, s), lit(arg.closeTag(key)))
		})
		return g.members(o)
	}
	o.list = g.named1(n, func(key string, p *demand) string { return g.tag(arg, lit(g.f.attribute(key)), p) })
	if more, ok := g.additional(n); ok {
		o.other = g.tag(arg, g.otherWord(o.list), more)
	}
	return g.members(o)
}

// tag matches one argument whose name the key matches.
func (g *grammar) tag(arg *pattern, key string, n *demand) string {
	var head []string
	at := 0
	for ; arg.holeAt(at) != "value" && arg.holeAt(at) != "type"; at++ {
		if arg.holeAt(at) == "key" {
			head = append(head, key)
		} else {
			head = append(head, lit(g.f.literalText(arg.parts[at].lit.text)))
		}
	}
	typed := arg.holeAt(at) == "type"
	n = g.resolve(n)
	value := g.byKind(n, func(c choice) string {
		var middle []string
		if typed {
			middle = append(middle, lit(arg.typeOf(c, at)), lit(g.f.literalText(arg.parts[at+1].lit.text)))
		}
		return seq(append(middle, g.tagValue(c, !typed, n))...)
	})
	return seq(append(head, value, lit(g.f.literalText(arg.parts[len(arg.parts)-1].lit.text)))...)
}

// typeOf is the word for a choice's kind in the type hole at part i.
func (p *pattern) typeOf(c choice, i int) string {
	sample := map[schema.Kinds]string{
		schema.String: `""`, schema.Boolean: "true", schema.Null: "null", schema.Object: "{}", schema.Array: "[]", schema.Number: "0", schema.Integer: "0",
	}[c.kind]
	return string(appendType(nil, sample, strings.HasSuffix(p.parts[i-1].lit.text, `string="`)))
}

// tagValue matches a value in a tag, see tagText. Where the tag does not say the type, a string stands for everything that a
// place of unknown type allows, and null cannot be told from the string.
func (g *grammar) tagValue(c choice, plain bool, n *demand) string {
	raw := &spelling{name: "raw", avoid: g.f.arg[0].avoids()}
	s := jsonSpelling
	switch {
	case c.value != "":
		return lit(g.f.tagText(c.value))
	case c.kind == schema.String && g.f.flags["cdata"] && c.n.Pattern == "" && c.n.Format == "":
		low, high := g.lengths(c.n)
		raw.avoid = append(raw.avoid, cdataOpen)
		return alt(g.choice(c, raw), seq(lit(cdataOpen), g.raw([]string{cdataClose}, low, high), lit(cdataClose)))
	case c.kind == schema.String:
		return g.choice(c, raw)
	case plain && (len(g.choices(n)) == 1 && g.choices(n)[0].kind == 0 || c.kind == schema.Null && g.allowsText(n)):
		return ""
	case g.f.keys["objects"] == "python" || g.f.keys["scalars"] == "python" && c.kind != schema.Object && c.kind != schema.Array:
		s = pythonSpelling
	}
	return g.choice(c, s)
}

// allowsText says whether a string may stand at a place.
func (g *grammar) allowsText(n *demand) bool {
	return slices.ContainsFunc(g.choices(n), func(c choice) bool { return c.kind == schema.String })
}
