package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/print"
)

// otherKey matches a name that is none of the list, and what stands behind it.
func (g *grammar) otherKey(list []slot, s *print.Spelling) string {
	if s.BareKeys {
		return seq(g.otherWord(list), lit(strings.TrimPrefix(s.Key("x"), "x")))
	}
	quote := s.Quotes[0]
	before, after, _ := strings.Cut(s.Key("x"), "x")
	var names []string
	for _, m := range list {
		k := s.Key(m.key)
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(k, before), after))
	}
	class := func(not string) string {
		out := `[^\\\x00-\x1F` + escapeClass(rune(quote[0]))
		for _, c := range not {
			if c != '\\' && c >= ' ' && c != rune(quote[0]) {
				out += escapeClass(c)
			}
		}
		return out + "]"
	}
	return seq(lit(before), g.otherThan(names, "", 1, class), lit(after))
}

// otherWord matches an identifier that is none of the names.
func (g *grammar) otherWord(list []slot) string {
	var names []string
	for _, m := range list {
		names = append(names, m.key)
	}
	const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
	return g.otherThan(names, "", 1, func(not string) string {
		return "[" + strings.Map(func(r rune) rune {
			if strings.ContainsRune(not, r) || not != "" && r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, word) + "]"
	})
}

// maxOther bounds the names that no schema has, in characters.
const maxOther = 40

// otherThan matches a text of 1 to maxOther characters, behind read, that is none of the names. class is the characters
// that may stand in it but for some.
func (g *grammar) otherThan(names []string, read string, depth int, class func(not string) string) string {
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
		more := g.otherThan(some, longer, depth+1, class)
		if !slices.Contains(some, longer) {
			more = optional(more)
		}
		all = append(all, seq(lit(string(c)), more))
	}
	return alt(all...)
}
