package grammar

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/print"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// anyOrder is the largest number of members that may come in any order. There is a rule for every
// set of members already written, so each further member doubles the rules: five members have 32
// sets. Small objects, as in most calls, may have any order, because a model writes worse values in
// an order that it did not learn.
const anyOrder = 5

// slot is a member that an object may have. Its expr matches the whole member, with its name and
// the signs around it.
type slot struct {
	key      string
	expr     string
	required bool
}

// slots are the members that an object may have, and the texts between and after them. For
// arguments in tags, the field comma contains the newline between two members, and the field tail
// the newline after the last one.
type slots struct {
	list  []slot
	other string // a member that the schema does not list; empty if none is allowed
	comma string // between two members
	tail  string // after the last member
	none  string // the text of an object without members
}

// object returns an expression for an object of the schema n, as the spelling s writes it, for
// example in JSON or as tags. In families whose template sorts members (gemma4, by Jinja's
// dictsort), the case of letters is ignored for the order. If the schema allows members that it
// does not list, their names have a bounded length, and their values follow additionalProperties.
func (g *values) object(n *schema.Place, s *print.Spelling) string {
	o := slots{comma: s.Comma, tail: s.Tail, none: s.None}
	o.list = g.listed(n, func(key string, p *schema.Place) string {
		// minimax-m3's tags have no null: a member that can only be null is left out
		if all := choices(p); s.NoNull && len(all) == 1 && all[0].kind == schema.Null {
			return ""
		}
		return seq(lit(s.Key(key)), g.value(p, s), lit(s.End(key)))
	})
	if s.Sorted {
		slices.SortStableFunc(o.list, func(a, b slot) int {
			return strings.Compare(strings.ToLower(a.key), strings.ToLower(b.key))
		})
	}
	// in minimax-m3's tags, members that no schema names cannot be distinguished from text
	if more := additional(n); !more.Never && !s.NoNull {
		defer g.enter("additionalProperties")()
		o.other = seq(g.otherKey(o.list, s), g.value(more, s), lit(s.End("")))
	}
	return seq(lit(s.Open), g.members(o), lit(s.Close))
}

// listed returns the members that a schema lists, in the schema's order, each with the expression
// that the function write returns for it. If that is "", the member is left out. A name that the
// schema only requires, as in {"required": ["x"]}, is listed as well, because a call without it
// would be refused. If "additionalProperties": false forbids such a member, it is allowed here
// nevertheless, and the schema check of the call decides.
func (g *values) listed(n *schema.Place, write func(key string, p *schema.Place) string) []slot {
	members, required, known := slices.Clone(n.Members), map[string]bool{}, map[string]bool{}
	for _, m := range members {
		known[m.Name] = true
	}
	for _, key := range n.Required {
		if required[key] = true; !known[key] {
			known[key] = true
			members = append(members, schema.Member{Name: key, Place: possible(additional(n))})
		}
	}
	var all []slot
	for _, m := range members {
		// enter the member first, so that rules of recursive schemas get its name
		back := g.enter(m.Name)
		if expr := g.short(write(m.Name, m.Place)); expr != "" {
			all = append(all, slot{m.Name, expr, required[m.Name]})
		}
		back()
	}
	return all
}

// additional returns the schema for the values of members that n does not list. If n lists some
// members and has no additionalProperties, the result allows no value. JSON Schema would allow
// other members, but a tool does not have such parameters. If n lists no members, the result allows
// any value.
func additional(n *schema.Place) *schema.Place {
	switch {
	case n.More != nil:
		return n.More
	case n.Listed:
		return &schema.Place{Never: true}
	}
	return anything
}

// members returns an expression for an object's members. A few members may be in any order, and
// more must be in the order of the schema, in which the printer writes them.
func (g *values) members(o slots) string {
	if len(o.list) <= anyOrder {
		return g.inAnyOrder(o, 0, map[int]string{})
	}
	return g.inOrder(o, 0, false, map[int]string{})
}

// inAnyOrder returns an expression for the members that are not written yet, in any order. The
// parameter written has a bit for each member before them. The map known contains the expression
// for each value of written, so the orders "a, b" and "b, a" share the expression for the rest.
//
//	a and b, neither required:   ( a ( "," b )? | b ( "," a )? )?
func (g *values) inAnyOrder(o slots, written int, known map[int]string) string {
	if expr, ok := known[written]; ok {
		return expr
	}
	var all []string
	whole := true
	for i, m := range o.list {
		if written&(1<<i) == 0 {
			all = append(all, seq(o.lead(written != 0), m.expr,
				g.inAnyOrder(o, written|1<<i, known)))
			// the object may end when all required members are written
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

// inOrder returns an expression for the members from index i on. Each optional member is a branch.
// The parameter some says whether a member before index i is written. Earlier members matter only
// for the comma, so each member needs two rules, and not one for each set of earlier members. The
// map known contains these rules. Its keys are indexes of members, and the key is negative if no
// earlier member is written.
func (g *values) inOrder(o slots, i int, some bool, known map[int]string) string {
	if i == len(o.list) {
		return o.end(some)
	}
	at := i
	if !some {
		at = ^i
	}
	if expr, ok := known[at]; ok {
		return expr
	}
	m := o.list[i]
	expr := seq(o.lead(some), m.expr, g.inOrder(o, i+1, true, known))
	if !m.required {
		expr = alt(expr, g.inOrder(o, i+1, some, known))
	}
	known[at] = g.rule(g.hint()+"-rest", expr)
	return known[at]
}

// lead returns an expression for the comma before a member. It returns "" if some is false, which
// means that no other member comes before.
func (o slots) lead(some bool) string {
	if some {
		return lit(o.comma)
	}
	return ""
}

// end returns an expression for the end of an object: members that the schema does not list, if
// they are allowed, and the text after the last member. Unlisted members may come only here,
// because elsewhere they would have to be allowed after every set of listed members. The parameter
// some says whether a listed member came before.
func (o slots) end(some bool) string {
	if some {
		if o.other == "" {
			return lit(o.tail)
		}
		return seq(repeat(seq(lit(o.comma), o.other), 0, -1), lit(o.tail))
	}
	if o.other == "" {
		return lit(o.none)
	}
	return alt(seq(list(o.other, o.comma, 1, -1), lit(o.tail)), lit(o.none))
}

// anyName is a placeholder for a member's name. No spelling escapes it, and no tag contains it.
const anyName = "\uE000"

// otherKey returns an expression for the name of a member that is not in the list, and the signs
// around it. Names are compared as they are written. In a tag's attribute, or before an equals sign
// in Python, names have no quotation marks, so only identifiers are allowed.
func (g *values) otherKey(list []slot, s *print.Spelling) string {
	before, after, _ := strings.Cut(s.Key(anyName), anyName)
	names := each(list, func(m slot) string {
		return strings.TrimSuffix(strings.TrimPrefix(s.Key(m.key), before), after)
	})
	class := wordBut
	if !s.BareKeys {
		quote := rune(s.Quotes[0][0])
		class = func(without string) string {
			out := `[^\\\x00-\x1F` + escapeClass(quote)
			for _, c := range without {
				if c != '\\' && c >= ' ' && c != quote {
					out += escapeClass(c)
				}
			}
			return out + "]"
		}
	}
	return seq(lit(before), g.otherThan(names, "", class), lit(after))
}

// wordBut returns a character class with the characters of an identifier, except those in the
// parameter without. If without is not empty, the class may be for the first character of a name,
// so the digits are left out too.
func wordBut(without string) string {
	const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
	return "[" + strings.Map(func(r rune) rune {
		if strings.ContainsRune(without, r) || without != "" && r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, word) + "]"
}

// maxOther bounds the length of names that the schema does not list, in characters.
const maxOther = 40

// otherThan returns an expression for texts that begin with read and equal none of the names. The
// expression is for what comes after read. After the first difference from all names, at most
// maxOther more characters follow. The function class returns the class of allowed characters
// without those in its argument.
//
// GBNF has no negation, so the expression spells out where a text first differs from all names.
// After that the text is free. For "city" and "count" the expression is [^c], or "c" followed by
// neither i nor o, or "ci" not followed by t, and so on. A text that continues after a name, such
// as "city_code", is allowed. Without this a model could write a member twice, the second time
// without constraints.
func (g *values) otherThan(names []string, read string, class func(without string) string) string {
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
		longer := read + string(c)
		some := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return !strings.HasPrefix(name, longer)
		})
		more := g.otherThan(some, longer, class)
		if !slices.Contains(some, longer) {
			more = optional(more)
		}
		all = append(all, seq(lit(string(c)), more))
	}
	return alt(all...)
}

// arguments returns an expression for the arguments of the tool t. If the tool's schema is a union,
// {"anyOf": [{…}, {…}]}, each branch is written as an object. The tool is also stored as the
// current one, because the places of a schema do not say to which tool they belong.
func (g *values) arguments(t chat.Tool, s *print.Spelling) string {
	g.tool, g.doc, g.step = t, g.docs[t.Name], ""
	n := g.doc.Arguments()
	list := n.Alternatives
	if list == nil {
		list = []*schema.Place{n}
	}
	return alt(each(list, func(one *schema.Place) string { return g.object(one.Follow(), s) })...)
}
