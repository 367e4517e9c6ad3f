package grammar

import (
	"maps"
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/print"
	"toolnorm/chat/schema"
)

// text matches a string. GBNF counts characters as JSON Schema does, not bytes. A pattern or a
// format replaces the length, as both would have to be counted at once. Raw text is for values in
// tags, whose marks say where they end. In Python a string may stand in either quote, so that one
// with an apostrophe needs no escape. One in CDATA may hold the marks that end a bare one.
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

// characters matches one character of a string between quotes. A pair of surrogates is one, half a
// pair is none: no reader of JSON makes a text of it. Control characters must be escaped in JSON,
// so they are out of the class. A single quote is Python's, which has fewer escapes.
func characters(quote byte) string {
	const hex = "[0-9a-fA-F]"
	const unicode = `"u" ([0-9a-cA-Ce-fE-F] ` + hex + `{3} | [dD] [0-7] ` + hex + `{2} | [dD] [89abAB] ` + hex + `{2} "\\u" [dD] [c-fC-F] ` + hex + `{2})`
	if quote == '"' {
		return `([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | ` + unicode + `))`
	}
	return `([^'\\\x00-\x1F] | "\\" (['"\\nrt] | ` + unicode + `))`
}

// maxShort is the longest bound that a raw string is held to: below it, the first character of the
// marks that would end the string cannot stand in it; above it, the marks cannot, but length goes
// uncounted.
const maxShort = 64

// raw matches a text in which no mark of the list stands. So in a tag of maxLength 20 no "<" can be
// written, which is narrower than the schema; counting in an automaton would take a rule for each
// state and length.
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

// automaton matches a text in which no mark of the list stands, by a rule for each beginning of a
// mark that may have been read last.
//
// A grammar cannot look ahead, so a text that ends at a mark is an automaton: for each beginning of
// a mark that may have been read last there is a rule that says what may follow, as in the search
// of Knuth, Morris and Pratt. A mark of n characters has n rules. The automaton of a list of marks
// is shared by all values of a family.
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
				if next := longest(avoid, todo[0]+string(c)); names[next] == "" && !slices.Contains(avoid, next) {
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

// step matches the character behind what was read, and everything from there on; where a mark would
// be whole there is no name to go on to. Text may end behind any rule but the one that forces a
// first character: the mark itself follows in the tag's own literal. These are the states of Aho
// and Corasick's matcher, one a rule, with the accepting ones left out.
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

// firsts returns the characters of the marks, sorted, each once.
func firsts(avoid []string) []rune {
	all := []rune(strings.Join(avoid, ""))
	slices.Sort(all)
	return slices.Compact(all)
}

// longest returns the longest end of what was read that a mark begins with. After "</para" and
// another "<" the beginning "<" is what counts: what was read before cannot become a mark any more.
func longest(avoid []string, read string) string {
	for i := range read {
		if slices.ContainsFunc(avoid, func(mark string) bool { return strings.HasPrefix(mark, read[i:]) }) {
			return read[i:]
		}
	}
	return ""
}
