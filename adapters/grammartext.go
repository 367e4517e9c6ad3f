package adapters

import (
	"toolnorm/adapters/internal/print"
	"toolnorm/chat/schema"
)

// text matches a string.
func (g *grammar) text(n *schema.Place, s *print.Spelling) string {
	low, high := g.lengths(n)
	if expr := g.patterned(n, s); expr != "" {
		return expr
	}
	if len(s.Avoid) > 0 {
		raw := g.raw(s.Avoid, n, low, high)
		if len(s.Quotes) > 0 {
			raw = seq(lit(s.Quotes[0]), raw, lit(s.Quotes[0]))
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

// lengths are the least and the greatest number of characters of a string, the latter -1 for any.
func (g *grammar) lengths(n *schema.Place) (low, high int) {
	low, high = g.least(n.MinLength, "minLength"), -1
	if n.MaxLength != nil && n.MaxLength.N > maxRepeat {
		g.doc.Drop(n.MaxLength.At, "maxLength")
	} else if n.MaxLength != nil {
		high = n.MaxLength.N
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
