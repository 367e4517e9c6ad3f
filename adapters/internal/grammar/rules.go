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

// ruleSet contains the rules of one grammar. Expressions are GBNF text and can be concatenated. An
// empty expression matches the empty text. Because expressions are text and not trees, equal
// expressions are equal map keys, so they can share a rule.
type ruleSet struct {
	rules   []string          // in the order of their definition
	named   map[string]string // names of rules by their expressions or keys
	taken   map[string]bool   // the names in use
	numbers map[string]int    // the last number that was appended to a name
	work    int               // bytes of all rules
}

// newRules returns a ruleSet without rules.
func newRules() ruleSet {
	return ruleSet{named: map[string]string{}, taken: map[string]bool{}, numbers: map[string]int{}}
}

// values writes the grammar of the values that a schema allows. It records which place of the
// schema (such as the value of a member) it is at, because rules are named after places.
type values struct {
	ruleSet
	docs map[string]*schema.Doc // by the tool's name
	tool chat.Tool              // the tool whose arguments are written
	doc  *schema.Doc            // the schema of the tool
	step string                 // the last step to the current place; empty at the root
}

// writer writes the grammar of a family's calls.
type writer struct {
	values
	f      *declaration.Family
	single bool // one call, never several
}

// newWriter returns a writer for the grammar of calls to the tools. If two tools have the same
// name, the schema of the first is used.
func newWriter(f *declaration.Family, tools []chat.Tool, single bool) *writer {
	g := &writer{values{ruleSet: newRules(), docs: map[string]*schema.Doc{}}, f, single}
	for i, doc := range schema.ParseTools(tools) {
		if name := tools[i].Name; g.docs[name] == nil {
			g.docs[name] = doc
		}
	}
	return g
}

// maxWork bounds the size of a grammar in bytes, because a server needs minutes to read a larger
// one.
const maxWork = 8 << 20

// longExpr is the length in bytes at which a repeated expression becomes a rule of its own. Members
// in any order repeat each member's expression many times.
const longExpr = 64

// maxRepeat is the largest bound of a repetition that llama.cpp accepts. It expands a repetition
// into that many copies.
const maxRepeat = 2000

// source returns the grammar as a server reads it. Rules are in the order of their definition, so
// the root is last. GBNF allows any order.
func (g *ruleSet) source() string { return strings.Join(g.rules, "\n") + "\n" }

// define adds a rule with exactly that name.
func (g *ruleSet) define(name, expr string) {
	if expr == "" {
		expr = `""`
	}
	g.taken[name] = true
	// too large a grammar is discarded as a whole at the end
	g.work += len(expr)
	g.rules = append(g.rules, name+" ::= "+expr)
}

// rule returns the name of a rule for an expression, or "" for an empty expression. Equal
// expressions share a rule. The name is derived from the hint, because in a server's log
// get-weather-city says more than rule 17.
func (g *ruleSet) rule(hint, expr string) string {
	if name, ok := g.named[expr]; ok || expr == "" {
		return name
	}
	name := g.name(hint)
	g.named[expr] = name
	g.define(name, expr)
	return name
}

// name reserves and returns a new name for a rule. Names in GBNF consist of ASCII letters, digits
// and "-", so get_weather becomes get-weather, or get-weather-2 if that is taken.
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

// once returns the name of the rule for a key. If the key is new, it makes a name from hint and
// calls write for the text of the rule. It is for rules that may contain themselves, or that are
// the same everywhere. The name is reserved before write is called, so a recursive rule finds its
// own name.
func (g *ruleSet) once(key, hint string, write func() string) string {
	if name, ok := g.named[key]; ok {
		return name
	}
	name := g.name(hint)
	g.named[key] = name
	g.define(name, write())
	return name
}

// each returns the results of calling a function with each element of a list.
func each[T any](list []T, f func(T) string) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// lit returns an expression for a text. For an empty text it returns an empty expression, which seq
// leaves out and alt makes optional.
func lit(text string) string {
	if text == "" {
		return ""
	}
	return `"` + escapes.Replace(text) + `"`
}

// escapes escapes the characters that must not occur in a GBNF literal.
var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x00",
	`\x00`)

// seq returns an expression that matches its parts one after the other.
func seq(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// alt returns an expression for one of several expressions. An empty one makes the rest optional.
// Equal ones are written once, because a repeated alternative would make the grammar ambiguous, and
// llama.cpp would follow both in parallel while it samples.
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

// optional returns an expression that matches another expression or nothing.
func optional(expr string) string { return repeat(expr, 0, 1) }

// repeat returns an expression for another expression, repeated from low to high times, or without
// an upper bound if high is negative. llama.cpp copies the expression as often as the bound says,
// so callers first give a long expression a rule of its own.
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

// single reports whether an expression is the name of a rule or a class of characters.
//
// All other expressions need parentheses before they are repeated, because a repetition applies
// only to the element directly before it.
func single(expr string) bool {
	if expr[0] == '[' {
		return strings.IndexByte(expr, ']') == len(expr)-1 && expr[len(expr)-2] != '\\'
	}
	return strings.Trim(expr,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == ""
}

// list returns an expression for another expression, repeated from low to high times with a
// separator between. GBNF has no separated lists, so each element but the first is preceded by the
// separator. A negative high means no upper bound.
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
