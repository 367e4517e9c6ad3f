package grammar

import (
	"slices"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/print"
	"toolnorm/chat/schema"
)

// keywords are the arguments of a call as Python writes it.
// Names that the schema does not give have to be identifiers, see otherWord.
func (g *writer) keywords(n *schema.Place) slots {
	o := slots{comma: ", "}
	o.list = g.listed(n, func(key string, p *schema.Place) string { return seq(lit(key+"="), g.keywordValue(p)) })
	if more := additional(n); !more.Never {
		o.other = seq(g.otherWord(o.list), lit("="), g.keywordValue(more))
	}
	return o
}

// keywordValue matches the value of a keyword.
// Its spelling depends on the kind since scalars of a keyword may be Python's: fast=True.
// lfm2 writes strings in Python's quotes, olmo3 as JSON: Keyword knows.
func (g *writer) keywordValue(n *schema.Place) string {
	return g.byKind(n, func(c choice) string { return g.choice(c, print.Keyword(g.f, c.anyKind())) })
}

// anyKind is the kind of what the choice allows.
func (c choice) anyKind() schema.Kinds {
	if c.value != "" {
		return schema.KindOf(c.value)
	}
	return c.kind
}

// byKind matches a value whose spelling depends on its kind. A place that allows anything has a choice for each kind.
//
// A tag has no quotes, so its text alone says what type is meant: 5 in a tag of a string is "5", in one of a number 5.
func (g *writer) byKind(n *schema.Place, write func(choice) string) string {
	var all []string
	for _, c := range choices(n.Follow()) {
		for _, c := range ofOneKind(c) {
			if expr := write(c); expr != "" {
				all = append(all, expr)
			}
		}
	}
	return alt(all...)
}

// ofOneKind is a choice without a reference, and of one kind.
// A number stands for integers, too, and a place without a type has one choice for each of the other kinds.
func ofOneKind(c choice) (all []choice) {
	switch {
	case c.value != "" || c.kind != 0:
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

// tags matches the arguments of a call as tags; end is what stands behind the last one.
// A tag that is named like the parameter nests, and has no place for a member that the schema does not name.
func (g *writer) tags(p *declaration.Pattern, n *schema.Place, lines bool, end string) string {
	o := slots{tail: end, none: end}
	if lines {
		o.comma = "\n"
		// deepseek-v4's template keeps the newline of an empty list of arguments; others print both marks side by side
		if !g.f.Layout.EmptyLines {
			o.none = ""
		}
	}
	arg := g.f.Args[0]
	if arg.Keyed() {
		s := print.Tree(arg)
		o.list = g.listed(n, func(key string, p *schema.Place) string {
			// minimax-m3's nested tags have no null: a member that can be nothing else is left out
			if all := choices(p); len(all) == 1 && all[0].kind == schema.Null {
				return ""
			}
			return seq(lit(arg.OpenTag(key)), g.value(p, s), lit(arg.CloseTag(key)))
		})
		return g.members(o)
	}
	o.list = g.listed(n, func(key string, p *schema.Place) string { return g.tag(arg, lit(print.Attribute(g.f, key)), p) })
	if more := additional(n); !more.Never {
		o.other = g.tag(arg, g.otherWord(o.list), more)
	}
	return g.members(o)
}

// tag matches one argument whose name the key matches.
// A tag may say the type between key and value: deepseek's string="true" in front of a text, string="false" before JSON.
//
//	<parameter=city>\nParis\n</parameter>                            qwen3-coder
//	<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>    deepseek
//	<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>            glm4
func (g *writer) tag(arg *declaration.Pattern, key string, n *schema.Place) string {
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
	n = n.Follow()
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
// In a family with CDATA a string may stand in it or bare, and bare it must not hold CDATA's mark, or it would be unwrapped.
func (g *writer) tagValue(c choice, plain bool, n *schema.Place) string {
	s := print.Tagged(g.f, c.anyKind())
	switch {
	case c.value != "":
	case c.kind == schema.String && g.f.Flags.CDATA && len(c.n.Patterns) == 0 && len(c.n.Formats) == 0:
		low, high := g.lengths(c.n)
		bare := *s
		bare.Avoid = append(slices.Clip(s.Avoid), declaration.CDATAOpen)
		return alt(g.choice(c, &bare), seq(lit(declaration.CDATAOpen), g.raw([]string{declaration.CDATAClose}, c.n, low, high), lit(declaration.CDATAClose)))
	case c.kind == schema.String:
	// the string's choice at the same place stands for this one already
	case plain && (len(choices(n)) == 1 && choices(n)[0].kind == 0 || c.kind == schema.Null && allowsText(n)):
		return ""
	}
	return g.choice(c, s)
}

// allowsText says whether a string may stand at a place.
func allowsText(n *schema.Place) bool {
	return slices.ContainsFunc(choices(n), func(c choice) bool { return c.kind == schema.String })
}
