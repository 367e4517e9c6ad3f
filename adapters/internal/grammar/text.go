package grammar

import (
	"maps"
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/print"
	"toolnorm/chat/schema"
)

// text returns an expression for a string that the schema n allows, as the spelling s writes it.
// Between tags a string is raw text up to a closing tag, and in CDATA it may contain closing tags.
// In Python either quotation mark is allowed, so that a string with an apostrophe needs no escape.
// The length of the string is in characters, in GBNF as in JSON Schema. It is not checked if the
// string has a pattern or a format, because GBNF cannot combine these with a length.
func (g *values) text(n *schema.Place, s *print.Spelling) string {
	low, high := g.span(n.MinLength, n.MaxLength)
	if expr := g.patterned(n, s); expr != "" {
		return expr
	}
	if len(s.Avoid) > 0 {
		raw := g.raw(s.Avoid, n, low, high)
		if len(s.Quotes) > 0 {
			raw = seq(lit(s.Quotes[0]), raw, lit(s.Quotes[0]))
		}
		if s.CDATA {
			inside := g.raw([]string{declaration.CDATAClose}, n, low, high)
			raw = alt(raw, seq(lit(declaration.CDATAOpen), inside, lit(declaration.CDATAClose)))
		}
		return raw
	}
	var all []string
	for _, quote := range s.Quotes {
		char := g.rule("char", characters(quote[0]))
		all = append(all, seq(lit(quote), repeat(char, low, high), lit(quote)))
	}
	return g.rule("string", alt(all...))
}

// characters returns an expression for one character of a string between quotation marks. A
// surrogate pair is one character. Half a pair is not allowed, because JSON readers cannot decode
// it. Control characters must be escaped in JSON, so they are not in the class. A single quotation
// mark means Python, which has fewer escapes here.
func characters(quote byte) string {
	const hex = "[0-9a-fA-F]"
	const unicode = `"u" ([0-9a-cA-Ce-fE-F] ` + hex + `{3} | [dD] [0-7] ` + hex +
		`{2} | [dD] [89abAB] ` + hex + `{2} "\\u" [dD] [c-fC-F] ` + hex + `{2})`
	if quote == '"' {
		return `([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | ` + unicode + `))`
	}
	return `([^'\\\x00-\x1F] | "\\" (['"\\nrt] | ` + unicode + `))`
}

// maxShort is the largest maximum length for which a raw string is checked. Such a short string
// cannot contain the first characters of the tags that end it. A longer one can contain them, but
// not the whole tags, and its length is not checked.
const maxShort = 64

// raw returns an expression for a text without the tags in the list avoid. The length, low to high
// characters, is checked only if high is small (see maxShort), and otherwise reported as dropped:
// an automaton that counts characters would need a rule for each state and length. A text whose
// length is checked cannot even contain "<", which is stricter than the schema.
func (g *values) raw(avoid []string, n *schema.Place, low, high int) string {
	if high >= 0 && high <= maxShort {
		class := "[^\\x00"
		for _, mark := range avoid {
			if c := escapeClass([]rune(mark)[0]); !strings.Contains(class, c) {
				class += c
			}
		}
		return repeat(class+"]", low, high)
	}
	if high >= 0 {
		g.doc.Drop(n.MaxLength.At, n.MaxLength.Keyword)
	}
	if low > 1 {
		g.doc.Drop(n.MinLength.At, n.MinLength.Keyword)
	}
	return g.automaton(avoid, low > 0)
}

// automaton returns an expression for a text without the tags in the list avoid. If the parameter
// some is true, the text is not empty.
//
// A grammar cannot look ahead, so the rules form an automaton, as in the string search of Knuth,
// Morris and Pratt. There is one rule for each beginning of a tag with which the text so far may
// end, the empty one included. It matches the rest of the text. So a tag of n characters has n
// rules. All values of a family share the automaton of the same tags.
//
//	avoiding "</p":   text ::= ( "<" text-2 | [^<] text )?
//	                  text-2 ::= ( "<" text-2 | "/" text-3 | [^</] text )?
//	                  text-3 ::= ( "<" text-2 | [^<p] text )?
func (g *values) automaton(avoid []string, some bool) string {
	key := "raw " + strings.Join(avoid, "\x00")
	start, ok := g.named[key]
	if !ok {
		start = g.name("text")
		g.named[key] = start
		names := map[string]string{"": start}
		for todo := []string{""}; len(todo) > 0; todo = todo[1:] {
			for _, c := range firsts(avoid) {
				if next := longest(avoid, todo[0]+string(c)); names[next] == "" &&
					!slices.Contains(avoid, next) {
					names[next] = g.name("text")
					todo = append(todo, next)
				}
			}
		}
		for _, read := range slices.Sorted(maps.Keys(names)) {
			g.define(names[read], optional(step(avoid, read, names)))
		}
		g.named[key+"!"] = g.rule("text-some", step(avoid, "", names))
	}
	if some {
		return g.named[key+"!"]
	}
	return start
}

// step returns an expression for the rest of a text in which the tags in avoid may not occur. The
// parameter read is the end of the text so far if a tag begins with it, such as "</" for </p>, and
// otherwise "". The next character must not complete a tag. The map names has the name of the rule
// for each value of read. These rules are the states of Aho and Corasick's matcher without the
// accepting ones.
func step(avoid []string, read string, names map[string]string) string {
	var all []string
	others := `[^\x00`
	for _, c := range firsts(avoid) {
		next := longest(avoid, read+string(c))
		if next == "" {
			continue
		}
		others += escapeClass(c)
		if name, ok := names[next]; ok {
			all = append(all, seq(lit(string(c)), name))
		}
	}
	return alt(append(all, seq(others+"]", names[""]))...)
}

// firsts returns all distinct characters of the tags in the list avoid, sorted.
func firsts(avoid []string) []rune {
	all := []rune(strings.Join(avoid, ""))
	slices.Sort(all)
	return slices.Compact(all)
}

// longest returns the longest end of the text read that is also the beginning of a tag in the list
// avoid, or "" if there is none. After "</para" and another "<" the result is "<", because the text
// before it cannot become a tag any more.
func longest(avoid []string, read string) string {
	for i := range read {
		if slices.ContainsFunc(avoid, func(mark string) bool {
			return strings.HasPrefix(mark, read[i:])
		}) {
			return read[i:]
		}
	}
	return ""
}
