package main

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// cutTally counts how calls that were cut off have been read.
type cutTally struct{ cuts, whole, none, misfit, partial int }

// cutEnds are the two finish reasons of a text that was cut: the server says that it was cut, or it
// does not.
var cutEnds = []string{chat.Length, chat.Stop}

// tokenLike matches a piece of text that is about a token: a word with the blank before it, a
// number, a tag or any other character.
var tokenLike = regexp.MustCompile(`(?s)<[|｜/]?[^<>\s]{1,30}>| ?[\p{L}_]{1,7}|\d{1,3}|\s+|.`)

// measureCuts cuts off replies with calls of a family: after every byte of a whole text, and after
// every token of a stream. It returns the counts for each finish reason in cutEnds. If a call is
// read that the text does not contain as a whole, measureCuts calls the function bad with the text.
func (l *lab) measureCuts(g *family, seed int64, rounds int, bad func(example)) [2]cutTally {
	var count [2]cutTally
	l.eachToCut(g, seed, rounds, func(one, two *frame, text string) {
		tokens := tokenLike.FindAllString(text, -1)
		for i, finish := range cutEnds {
			for at := range len(text) {
				l.cut(g, &count[i], one, two, whole(text[:at], finish), bad)
			}
			for at := range tokens {
				l.cut(g, &count[i], one, two, how{adapters.HoldNone, tokens[:at], finish}, bad)
			}
		}
	})
	return count
}

// eachToCut calls the function put with random replies of one or two calls, which put will cut off.
// It skips replies that are read wrongly even as a whole. The parameters of put are the calls and
// the whole text; two is nil if the reply has a single call.
func (l *lab) eachToCut(g *family, seed int64, rounds int, put func(one, two *frame, text string)) {
	r := source(seed, "cuts "+g.Name)
	for range rounds {
		one, two := l.clean(r, g), l.clean(r, g)
		if one == nil || two == nil || len(one.fill()) > 1500 {
			continue
		}
		text := one.fill()
		if r.Intn(2) == 0 {
			two = nil
		} else {
			text = string(g.Append(nil, one.as(), two.as()))
		}
		if l.prefix(one, two, l.decode(g.Format, whole(text, chat.Stop))) {
			put(one, two, text)
		}
	}
}

// as returns the call that the model meant, with its texts filled in.
func (c *call) as() chat.Call { return chat.Call{Name: c.tool.Name, Args: []byte(c.meant())} }

// prefix reports whether the calls in got are both meant calls, only the first, or none. The
// parameters one and two are the meant calls; two is nil if only one was meant.
func (l *lab) prefix(one, two *frame, got read) bool {
	for i, c := range got.calls {
		w := one
		if i == 1 {
			w = two
		}
		if i > 1 || w == nil || c.Name != w.tool.Name || !same(string(c.Args), w.meant()) {
			return false
		}
	}
	return true
}

// runs reports whether all calls in got fit their tools' schemas. A call that does not fit is never
// run; toolnorm asks the model for it again.
func (l *lab) runs(got read) bool {
	return !slices.ContainsFunc(got.calls, func(c chat.Call) bool {
		t := l.named(c.Name)
		return t == nil || !t.fits(string(c.Args))
	})
}

// stopMark matches a tag that ends a reply and that servers do not send on.
var stopMark = regexp.MustCompile(`^<\|[a-z_]+\|>$`)

// ended reports whether a text that was cut looks complete, because nothing shows that it was cut.
// The parameter h has the text and the finish reason, and calls are those that were read in it.
// Only the tag that ends the whole reply is missing, and the finish reason says that the model
// stopped by itself.
func (g *family) ended(calls []chat.Call, h how) bool {
	rest, ok := strings.CutPrefix(string(g.Append(nil, calls...)), strings.Join(h.pieces, ""))
	return ok && h.finish == chat.Stop && stopMark.MatchString(rest)
}

// cut reads a reply that was broken off at some place, and adds the result to count. The reply had
// the calls one and, unless it is nil, two. If a call is read that could run, although it is not in
// the reply as a whole, cut calls the function bad with the text.
func (l *lab) cut(g *family, count *cutTally, one, two *frame, h how, bad func(example)) {
	got := l.decode(g.Format, h)
	count.cuts++
	switch {
	case len(got.calls) == 0:
		count.none++
	case l.prefix(one, two, got), g.ended(got.calls, h):
		count.whole++
	case !l.runs(got):
		count.misfit++
	default:
		count.partial++
		e := example{Family: g.Name, Notation: g.notation, Kind: "cut, " + h.finish,
			Outcome: "wrong",
			Raw:     strings.Join(h.pieces, ""), Meant: one.tool.Name + " " + one.meant()}
		for _, c := range got.calls {
			e.Got = append(e.Got, c.Name+" "+string(c.Args))
		}
		bad(e)
	}
}
