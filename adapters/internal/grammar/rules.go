package grammar

import (
	"fmt"
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// ruleSet is the rules of one grammar. Expressions are text: one that is empty matches nothing at
// all, any other can be put in front of or behind another one. Building text instead of a tree
// keeps equal expressions equal as map keys, which is how rules are shared.
type ruleSet struct {
	rules   []string          // as they are written
	named   map[string]string // name of a rule by what it matches, or by its key
	taken   map[string]bool   // names
	numbers map[string]int    // the last number that names of a base have
	work    int               // bytes of rules
}

// newRules returns an empty set.
func newRules() ruleSet {
	return ruleSet{named: map[string]string{}, taken: map[string]bool{}, numbers: map[string]int{}}
}

// values writes what the places of a schema allow. Rules are named after their place, so it knows
// where in which schema it is.
type values struct {
	ruleSet
	docs map[string]*schema.Doc // by the tool's name
	tool chat.Tool              // whose arguments are written
	doc  *schema.Doc            // its schema
	step string                 // the last one to the place in its schema; empty: the root
}

// writer writes the calls of a family.
type writer struct {
	values
	f      *declaration.Family
	single bool // one call, never several
}

// newWriter begins a grammar of calls to the tools. Of two tools with one name the first one
// counts, as everywhere. A tool's schema is parsed once, though its places may be written in
// several spellings.
func newWriter(f *declaration.Family, tools []chat.Tool, single bool) *writer {
	g := &writer{values{ruleSet: newRules(), docs: map[string]*schema.Doc{}}, f, single}
	for i, doc := range schema.ParseTools(tools) {
		if name := tools[i].Name; g.docs[name] == nil {
			g.docs[name] = doc
		}
	}
	return g
}

// maxWork bounds the bytes that are written for a grammar: a server that is sent more takes minutes
// to read it.
const maxWork = 8 << 20

// longExpr is the length in bytes from which on an expression that is used several times becomes a
// rule: members in any order repeat each member's expression in every order.
const longExpr = 64

// maxRepeat is the largest bound that llama.cpp takes. It expands a repetition into as many copies
// of the rule and refuses a grammar with a larger bound.
const maxRepeat = 2000

// source returns the grammar as a server reads it. Rules are in the order of their making, the root
// last; GBNF allows a rule to be used before it is defined.
func (g *ruleSet) source() string { return strings.Join(g.rules, "\n") + "\n" }

// define writes a rule with that very name.
func (g *ruleSet) define(name, expr string) {
	if expr == "" {
		expr = `""`
	}
	g.taken[name] = true
	// nothing is cut off on the way: what is too large in the end is thrown away whole
	g.work += len(expr)
	g.rules = append(g.rules, name+" ::= "+expr)
}

// rule names an expression. The hint becomes its name, or part of it, so that a grammar can be read
// when a server refuses it; equal expressions share a rule. get-weather-city tells more in a
// server's log than rule 17.
func (g *ruleSet) rule(hint, expr string) string {
	if name, ok := g.named[expr]; ok || expr == "" {
		return name
	}
	name := g.name(hint)
	g.named[expr] = name
	g.define(name, expr)
	return name
}

// name reserves a name for a rule. GBNF has ASCII letters, digits and "-" in names and no "_":
// get_weather is get-weather, and get-weather then get-weather-2.
func (g *ruleSet) name(hint string) string {
	base := strings.Map(func(r rune) rune {
		if r < 0x80 && scan.IsWord(int(r)) && r != '_' {
			return r
		}
		return '-'
	}, hint)
	name := base
	for g.taken[name] || name == "root" {
		g.numbers[base] = max(g.numbers[base]+1, 2)
		name = fmt.Sprintf("%s-%d", base, g.numbers[base])
	}
	g.taken[name] = true
	return name
}

// once returns the name of the rule for key, and writes the rule on the first call. It is for what
// may contain itself, or is the same wherever it occurs. The name is known before the rule is
// written, so a node whose child is a node finds it. Keys are not expressions, and are kept beside
// them.
func (g *ruleSet) once(key, hint string, write func() string) string {
	if name, ok := g.named[key]; ok {
		return name
	}
	name := g.name(hint)
	g.named[key] = name
	g.define(name, write())
	return name
}

// each returns what a function makes of the elements of a list.
func each[T any](list []T, of func(T) string) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = of(x)
	}
	return out
}

// lit matches a text. An empty text is an empty expression, which seq leaves out and alt makes
// optional: spellings have parts that are empty.
func lit(text string) string {
	if text == "" {
		return ""
	}
	return `"` + escapes.Replace(text) + `"`
}

// escapes writes what may not stand in a GBNF literal as it is.
var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x00", `\x00`)

// seq matches one thing after the other.
func seq(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// alt matches one of several things, at least one. Equal alternatives count once, since llama.cpp
// follows each of them in parallel while it samples. One that is empty makes the rest optional. An
// alternative that is there twice would make the grammar ambiguous, and twice the work.
func alt(list ...string) string {
	var once []string
	known := map[string]bool{}
	for _, s := range list {
		if !known[s] {
			known[s] = true
			once = append(once, s)
		}
	}
	if i := slices.Index(once, ""); i >= 0 {
		return optional(alt(slices.Delete(once, i, i+1)...))
	}
	if len(once) < 2 {
		return strings.Join(once, "")
	}
	return "(" + strings.Join(once, " | ") + ")"
}

// optional matches a thing or nothing.
func optional(expr string) string { return repeat(expr, 0, 1) }

// repeat matches a thing from low to high times; without a bound when high is negative. llama.cpp
// copies what is repeated as often as the bound says, so callers give a long expression a rule of
// its own first.
func repeat(expr string, low, high int) string {
	if expr == "" || high == 0 {
		return ""
	}
	if low == 1 && high == 1 {
		return expr
	}
	if !single(expr) {
		expr = "(" + expr + ")"
	}
	switch {
	case low == 0 && high < 0:
		return expr + "*"
	case low == 0 && high == 1:
		return expr + "?"
	case high < 0:
		return fmt.Sprintf("%s{%d,}", expr, low)
	}
	return fmt.Sprintf("%s{%d,%d}", expr, low, high)
}

// single reports whether an expression is a rule or a class of characters, so that a repetition
// needs no parentheses.
//
// A repetition binds to what is directly before it, so everything but a name or a class needs
// parentheses.
func single(expr string) bool {
	if expr[0] == '[' {
		return strings.IndexByte(expr, ']') == len(expr)-1 && expr[len(expr)-2] != '\\'
	}
	return strings.Trim(expr, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == ""
}

// list matches a thing from low to high times with something between. GBNF has no separated lists:
// the first element stands alone, and each further one has the comma in front.
func list(expr, between string, low, high int) string {
	if high == 0 {
		return ""
	}
	more := high
	if high > 0 {
		more--
	}
	all := seq(expr, repeat(seq(lit(between), expr), max(low-1, 0), more))
	if low == 0 {
		return optional(all)
	}
	return all
}
