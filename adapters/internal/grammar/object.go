package grammar

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/print"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// anyOrder is up to how many members an object's may come in any order: each further one doubles
// the rules, since there is one for every set of members that may have been written. A model that
// is held to an order it did not learn writes worse values, so small objects, which most calls are,
// keep their freedom. Five members are 32 sets; a sixth would make them 64.
const anyOrder = 5

// slot is a member that an object may have.
// expr is what the member is written as, its name and what stands around included.
type slot struct {
	key      string
	expr     string
	required bool
}

// slots are an object's members and what stands around them. Where a call's arguments stand in
// tags, comma is the newline between two of them and tail the one behind the last.
type slots struct {
	list  []slot
	other string // a member that the schema does not name; empty: there is none
	comma string // between two
	tail  string // behind the last one
	none  string // in place of all
}

// object matches an object, be it one of tags or of keywords. Families whose template sorts members
// (gemma4, by Jinja's dictsort) get them sorted without regard to case. Members that no schema
// names have names of a bounded length, and values of any kind that the schema leaves.
func (g *values) object(n *schema.Place, s *print.Spelling) string {
	o := slots{comma: s.Comma, tail: s.Tail, none: s.None}
	o.list = g.listed(n, func(key string, p *schema.Place) string {
		// minimax-m3's tags have no null: a member that can be nothing else is left out
		if all := choices(p); s.NoNull && len(all) == 1 && all[0].kind == schema.Null {
			return ""
		}
		return seq(lit(s.Key(key)), g.value(p, s), lit(s.End(key)))
	})
	if s.Sorted {
		slices.SortStableFunc(o.list, func(a, b slot) int { return strings.Compare(strings.ToLower(a.key), strings.ToLower(b.key)) })
	}
	// and only those that a schema has can be told from text
	if more := additional(n); !more.Never && !s.NoNull {
		defer g.enter("additionalProperties")()
		o.other = seq(g.otherKey(o.list, s), g.value(more, s), lit(s.End("")))
	}
	return seq(lit(s.Open), g.members(o), lit(s.Close))
}

// listed returns the members that a schema names, in its order. A name that is required and not
// described, {"required": ["x"]}, is a member all the same: a call without it is refused. With
// "additionalProperties": false beside it the schema contradicts itself; the member is written
// then, and the check decides.
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
		// a recursion in the member's schema would otherwise name its rules after the place in
		// front
		back := g.enter(m.Name)
		if expr := g.short(write(m.Name, m.Place)); expr != "" {
			all = append(all, slot{m.Name, expr, required[m.Name]})
		}
		back()
	}
	return all
}

// additional returns what members that the schema does not name may be. Where it names some and
// says nothing of others, there are no others: a model that makes up parameters is wrong. JSON
// Schema means the opposite, but tool schemas that leave additionalProperties out mean no more
// parameters.
func additional(n *schema.Place) *schema.Place {
	switch {
	case n.More != nil:
		return n.More
	case n.Listed:
		return &schema.Place{Never: true}
	}
	return anything
}

// members matches an object's members.
// In order is the printer's order, the schema's: that is what models see of their own calls.
func (g *values) members(o slots) string {
	if len(o.list) <= anyOrder {
		return g.inAnyOrder(o, 0, map[int]string{})
	}
	return g.inOrder(o, 0, false, map[int]string{})
}

// inAnyOrder matches the members that are not in the set yet. written has a bit for each member;
// known has the rule of each set, so that {a, b} and {b, a} share what may follow.
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
			all = append(all, seq(o.lead(written != 0), m.expr, g.inAnyOrder(o, written|1<<i, known)))
			// the object may end as soon as nothing that is required is missing
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

// inOrder matches the members from the i-th on. A member that may be left out is a branch at its
// place, and which members stand in front is only asked for the comma: two rules a member instead
// of one for each set. known has them, those without a member in front below zero.
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

// lead matches what stands in front of a member: nothing, unless there is one in front already.
func (o slots) lead(some bool) string {
	if some {
		return lit(o.comma)
	}
	return ""
}

// end matches what follows the members that the schema names. Members that the schema does not name
// come last: anywhere else they would have to be allowed behind every set of the others.
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

// anyName stands for a name that no schema has: no spelling escapes it, and it is in no mark.
const anyName = "\uE000"

// otherKey matches a name that is none of the list, and what stands around it. What is compared are
// the names as the spelling writes them. In a tag's attribute or before a Python "=" nothing is
// quoted, so only an identifier is safe: <parameter=a b> is none.
func (g *values) otherKey(list []slot, s *print.Spelling) string {
	before, after, _ := strings.Cut(s.Key(anyName), anyName)
	names := each(list, func(m slot) string { return strings.TrimSuffix(strings.TrimPrefix(s.Key(m.key), before), after) })
	class := wordBut
	if !s.BareKeys {
		quote := rune(s.Quotes[0][0])
		class = func(not string) string {
			out := `[^\\\x00-\x1F` + escapeClass(quote)
			for _, c := range not {
				if c != '\\' && c >= ' ' && c != quote {
					out += escapeClass(c)
				}
			}
			return out + "]"
		}
	}
	return seq(lit(before), g.otherThan(names, "", class), lit(after))
}

// wordBut returns a class of the characters of an identifier without those of not. Where not is not
// empty the class has no digits, since the character begins a name or comes after the beginning of
// a name that a schema has.
func wordBut(not string) string {
	const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
	return "[" + strings.Map(func(r rune) rune {
		if strings.ContainsRune(not, r) || not != "" && r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, word) + "]"
}

// maxOther bounds the names that no schema has, in characters.
const maxOther = 40

// otherThan matches a text of 1 to maxOther characters, behind read, that is none of the names.
// class is the characters that may stand in it but for some.
//
// GBNF has no "but not", so a name that is none of some names is spelled out: it differs from each
// of them somewhere, and goes on from there as it likes. Next to "city" and "count" that is [^c],
// or "c" followed by neither i nor o, or "ci" not followed by t, and so on. Names that end early
// may go on: "city_code" is another name. Without this a model could write a member twice, the
// second time freely.
func (g *values) otherThan(names []string, read string, class func(not string) string) string {
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
		some := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, longer) })
		more := g.otherThan(some, longer, class)
		if !slices.Contains(some, longer) {
			more = optional(more)
		}
		all = append(all, seq(lit(string(c)), more))
	}
	return alt(all...)
}

// arguments matches the arguments of a tool, which are one of several objects where its schema is a
// union. It also names the tool whose rules are being written: places of a schema have no back
// pointer to their tool. A union at the top, {"anyOf": [{…}, {…}]}, has no members of its own, so
// each branch is written as an object.
func (g *values) arguments(t chat.Tool, s *print.Spelling) string {
	g.tool, g.doc, g.step = t, g.docs[t.Name], ""
	n := g.doc.Arguments()
	list := n.Alternatives
	if list == nil {
		list = []*schema.Place{n}
	}
	return alt(each(list, func(one *schema.Place) string { return g.object(one.Follow(), s) })...)
}
