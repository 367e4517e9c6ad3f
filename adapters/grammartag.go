package adapters

import (
	"slices"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/print"
	"toolnorm/chat/schema"
)

// keywords are the arguments of a call as Python writes it.
func (g *grammar) keywords(n *demand) slots {
	o := slots{comma: ", ", most: g.most("")}
	o.list = g.listed(n, func(key string, p *demand) string { return seq(lit(key+"="), g.keywordValue(p)) })
	if more, ok := g.additional(n); ok {
		o.other = seq(g.otherWord(o.list), lit("="), g.keywordValue(more))
	}
	return o
}

// keywordValue matches the value of a keyword.
func (g *grammar) keywordValue(n *demand) string {
	return g.byKind(n, func(c choice) string { return g.choice(c, print.Keyword(g.f.Family, c.anyKind())) })
}

// anyKind is the kind of what the choice allows.
func (c choice) anyKind() schema.Kinds {
	if c.value != "" {
		return schema.KindOf(c.value)
	}
	return c.kind
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
		target, ok := g.read(g.lookup(n.Ref))
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
		if n, ok := g.read(g.lookup(c.n.Ref)); ok && n.Ref == "" && !g.open[c.n.Ref] {
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
func (g *grammar) tags(p *declaration.Pattern, n *demand, lines bool, end string) string {
	o := slots{tail: end, none: end, most: g.most("")}
	if lines {
		o.comma = "\n"
		if !g.f.Layout.EmptyLines {
			o.none = ""
		}
	}
	arg := g.f.Args[0]
	if arg.Keyed() {
		s := print.Tree(arg)
		o.list = g.listed(n, func(key string, p *demand) string {
			if all := g.choices(p); len(all) == 1 && all[0].kind == schema.Null {
				return ""
			}
			return seq(lit(arg.OpenTag(key)), g.value(p, s), lit(arg.CloseTag(key)))
		})
		return g.members(o)
	}
	o.list = g.listed(n, func(key string, p *demand) string { return g.tag(arg, lit(print.Attribute(g.f.Family, key)), p) })
	if more, ok := g.additional(n); ok {
		o.other = g.tag(arg, g.otherWord(o.list), more)
	}
	return g.members(o)
}

// tag matches one argument whose name the key matches.
func (g *grammar) tag(arg *declaration.Pattern, key string, n *demand) string {
	var head []string
	at := 0
	for ; arg.HoleAt(at) != "value" && arg.HoleAt(at) != "type"; at++ {
		if arg.HoleAt(at) == "key" {
			head = append(head, key)
		} else {
			head = append(head, lit(g.f.Printed(arg.Parts[at].Lit.Text)))
		}
	}
	typed := arg.HoleAt(at) == "type"
	n = g.resolve(n)
	value := g.byKind(n, func(c choice) string {
		var middle []string
		if typed {
			middle = append(middle, lit(print.TypeWord(arg, at, c.anyKind())), lit(g.f.Printed(arg.Parts[at+1].Lit.Text)))
		}
		return seq(append(middle, g.tagValue(c, !typed, n))...)
	})
	return seq(append(head, value, lit(g.f.Printed(arg.Parts[len(arg.Parts)-1].Lit.Text)))...)
}

// tagValue matches a value in a tag. Where the tag does not say the type, a string stands for everything that a place of
// unknown type allows, and null cannot be told from the string.
func (g *grammar) tagValue(c choice, plain bool, n *demand) string {
	s := print.Tagged(g.f.Family, c.anyKind())
	switch {
	case c.value != "":
	case c.kind == schema.String && g.f.Flags.CDATA && c.n.Pattern == "" && c.n.Format == "":
		low, high := g.lengths(c.n)
		bare := *s
		bare.Avoid = append(slices.Clip(s.Avoid), declaration.CDATAOpen)
		return alt(g.choice(c, &bare), seq(lit(declaration.CDATAOpen), g.raw([]string{declaration.CDATAClose}, low, high), lit(declaration.CDATAClose)))
	case c.kind == schema.String:
	case plain && (len(g.choices(n)) == 1 && g.choices(n)[0].kind == 0 || c.kind == schema.Null && g.allowsText(n)):
		return ""
	}
	return g.choice(c, s)
}

// allowsText says whether a string may stand at a place.
func (g *grammar) allowsText(n *demand) bool {
	return slices.ContainsFunc(g.choices(n), func(c choice) bool { return c.kind == schema.String })
}
