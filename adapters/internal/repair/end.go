package repair

import (
	"strings"

	"toolnorm/chat"
)

// closeHere offers the end of a string whose closing quote is missing.
// In front of a member that the schema knows it is likely that the quote is missing.
// Behind a quote that is escaped, that one was meant as the end.
func (g *Args) closeHere(s *Search, n *Node, i int, run string) {
	cost := slip
	if g.Quotes != nil && strings.ContainsAny(run, "<>|") {
		return // what closes it is damaged, perhaps
	}
	if n.Flags&sBare != 0 {
		cost = 0 // it has been paid for
		if strings.HasSuffix(run, " ") {
			n.Flags |= unsure // a blank at its border may be its
		}
	} else if run == "" && i > 0 && g.text[i-1] == '"' {
		cost = slip + small // the quote in front is the end, rather
	} else if _, known := g.memberAhead(i+1, n.Stack); known {
		cost = likely
	}
	to := n.behind(i)
	if run == "" && n.Out != nil && n.Out.text == `"` {
		to.Flags |= unsure // an empty text
	}
	if n.Flags&sBare == 0 && i > 0 && (g.text[i-1] == '"' || g.text[i-1] == '\'') {
		cost = 2 * slip // the quote in front is the end, though not of the same kind
	}
	if n.Flags&sBare == 0 && (n.Flags&sDirty != 0 || g.atBorder(i-1) || g.literal(n, run)) {
		to.Flags |= unsure // one of its quotes was the end; the sign may stand behind the text; the quote in front of a number
	}
	s.Go(n, cost, to, run, `"`)
}

// atBorder reports whether at i a sign or a blank stands that may be between two values, or the quote that has begun a text.
func (g *Args) atBorder(i int) bool {
	return sign(g.text, i) > 0 && !isClose(g.at(i)) || g.at(i) >= 0 && strings.IndexByte(" |&.=\"'", byte(g.at(i))) >= 0
}

// literal reports whether a text is a number or a word where such a value fits as well as a text.
func (g *Args) literal(n *Node, text string) bool {
	value, _ := Scalar(strings.TrimSpace(text))
	return value != "" && n.Flags&sLoose != 0
}

// bareEnd reads a quote that ends a text which has lost the one in front: a.txt".
func (g *Args) bareEnd(s *Search, n *Node, i int, run string) {
	to := n.behind(i + g.quoteAt(i))
	if c := g.text[i]; c != '"' && c != '\'' || n.Flags&sPlain != 0 || strings.HasSuffix(g.text[:i], `\`) {
		to.Flags |= unsure // it may be the text's own
	}
	s.Go(n, 0, to, run, `"`)
	s.Go(n, odd, n.stay(i+g.quoteAt(i)), run, string(chat.AppendEscaped(nil, g.text[i:i+g.quoteAt(i)])))
}
