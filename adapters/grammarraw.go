package adapters

import (
	"maps"
	"slices"
	"strings"

	"toolnorm/chat/schema"
)

// maxShort is the longest bound that a raw string is held to: below it, the first character of the marks that would end the
// string cannot stand in it; above it, the marks cannot, but length goes uncounted.
const maxShort = 64

// raw matches a text in which no mark of the list stands.
func (g *grammar) raw(avoid []string, n *schema.Place, low, high int) string {
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
		g.doc.Drop(n.MaxLength.At, "maxLength")
	}
	if low > 1 {
		g.doc.Drop(n.MinLength.At, "minLength")
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

// step matches the next character behind what was read, and everything from there on.
func step(avoid []string, read string, names map[string]string) string {
	var all []string
	others := `[^\x00`
	for _, c := range firsts(avoid) {
		next := longest(avoid, read+string(c))
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
		if next := longest(avoid, read+string(c)); next != "" && !slices.Contains(avoid, next) {
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

// longest is the longest end of what was read that a mark begins with.
func longest(avoid []string, read string) string {
	for i := range read {
		if slices.ContainsFunc(avoid, func(mark string) bool { return strings.HasPrefix(mark, read[i:]) }) {
			return read[i:]
		}
	}
	return ""
}
