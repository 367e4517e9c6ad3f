package adapters

import (
	"slices"
	"strings"
)

// maxShort is the longest bound that a raw string is held to: below it, the first character of the marks that would end the
// string cannot stand in it; above it, the marks cannot, but length goes uncounted.
const maxShort = 64

// text1 matches a string.
func (g *grammar) text1(n *demand, s *spelling) string {
	low, high := g.lengths(n)
	if n.Pattern != "" || n.Format != "" {
		if expr, ok := g.patterned(n, s); ok {
			return expr
		}
	}
	if len(s.avoid) > 0 {
		raw := g.raw(s.avoid, low, high)
		if len(s.quotes) > 0 {
			raw = seq(lit(s.quotes[0]), raw, lit(s.quotes[0]))
		}
		return raw
	}
	var all []string
	for _, quote := range s.quotes {
		char := g.rule("char", characters(quote[0]))
		all = append(all, seq(lit(quote), repeat(char, low, high), lit(quote)))
	}
	return g.rule("string", alt(all...))
}

// lengths are the least and the greatest number of characters of a string, the latter -1 for any.
func (g *grammar) lengths(n *demand) (low, high int) {
	low, _ = count(n.MinLength)
	high, ok := count(n.MaxLength)
	if !ok || high > maxRepeat {
		if ok {
			g.drop("maxLength")
		}
		high = -1
	}
	if low > maxRepeat {
		g.drop("minLength")
		low = maxRepeat
	}
	if limit := bound(g.o.MaxString); limit >= 0 && (high < 0 || limit < high) {
		high = max(limit, low)
	}
	if high >= 0 && low > high {
		low = high
	}
	return low, high
}

// characters matches one character of a string between quotes. A pair of surrogates is one, half a pair is none.
func characters(quote byte) string {
	const hex = "[0-9a-fA-F]"
	const unicode = `"u" ([0-9a-cA-Ce-fE-F] ` + hex + `{3} | [dD] [0-7] ` + hex + `{2} | [dD] [89abAB] ` + hex + `{2} "\\u" [dD] [c-fC-F] ` + hex + `{2})`
	if quote == '"' {
		return `([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | ` + unicode + `))`
	}
	return `([^'\\\x00-\x1F] | "\\" (['"\\nrt] | ` + unicode + `))`
}

// raw matches a text in which no mark of the list stands.
func (g *grammar) raw(avoid []string, low, high int) string {
	if short := high >= 0 && high <= maxShort || g.o.MaxString > 0; short {
		class := "[^\\x00"
		for _, mark := range avoid {
			if c := escapeClass([]rune(mark)[0]); !strings.Contains(class, c) {
				class += c
			}
		}
		return repeat(class+"]", low, high)
	}
	if high >= 0 {
		g.drop("maxLength")
	}
	if low > 1 {
		g.drop("minLength")
	}
	return g.automaton(avoid, low > 0)
}

// automaton matches a text in which no mark of the list stands, by a rule for each beginning of a mark that may have been
// read last.
func (g *grammar) automaton(avoid []string, some bool) string {
	key := "raw " + strings.Join(avoid, "\x00")
	start, ok := g.named[key]
	if !ok {
		start = g.name("text")
		g.named[key] = start
		names := map[string]string{"": start}
		for todo := []string{""}; len(todo) > 0; todo = todo[1:] {
			for _, next := range follows(avoid, todo[0]) {
				if _, known := names[next]; !known {
					names[next] = g.name("text")
					todo = append(todo, next)
				}
			}
		}
		for _, read := range sortedKeys(names) {
			g.define(names[read], optional(step(avoid, read, names)))
		}
		g.named[key+"!"] = g.rule("text-some", step(avoid, "", names))
	}
	if some {
		return g.named[key+"!"]
	}
	return start
}

// step matches the next character behind what was read, and everything from there on.
func step(avoid []string, read string, names map[string]string) string {
	var all []string
	others := `[^\x00`
	for _, c := range firsts(avoid) {
		next := suffix1(avoid, read+string(c))
		if next == "" {
			continue
		}
		others += escapeClass(c)
		if !slices.Contains(avoid, next) {
			all = append(all, seq(lit(string(c)), names[next]))
		}
	}
	return alt(append(all, seq(others+"]", names[""]))...)
}

// follows are the beginnings of marks that may have been read one character later.
func follows(avoid []string, read string) (all []string) {
	for _, c := range firsts(avoid) {
		if next := suffix1(avoid, read+string(c)); next != "" && !slices.Contains(avoid, next) {
			all = append(all, next)
		}
	}
	return all
}

// firsts are the characters of the marks, each once.
func firsts(avoid []string) []rune {
	all := []rune(strings.Join(avoid, ""))
	slices.Sort(all)
	return slices.Compact(all)
}

// suffix1 is the longest end of what was read that a mark begins with.
func suffix1(avoid []string, read string) string {
	for i := range read {
		if slices.ContainsFunc(avoid, func(mark string) bool { return strings.HasPrefix(mark, read[i:]) }) {
			return read[i:]
		}
	}
	return ""
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
