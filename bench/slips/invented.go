package main

import (
	"math/rand"
	"strings"

	"toolnorm/chat"
)

// measureInvented decodes texts in which a model wrote a call, a made-up result and a second call.
// Only the first call must run. For each text it calls the function put with the form of the
// result, the number of calls that ran, and the text. The number is 3 if the second call ran
// without the first, or if a call ran that is neither of the two.
func (l *lab) measureInvented(g *family, seed int64, rounds int, put func(string, int, string)) {
	l.eachInvented(g, seed, rounds, func(r *rand.Rand, form string, one, two *frame, whole string) {
		got := l.decode(g.Format, anyHow(r, whole))
		ran := len(got.calls)
		if !l.prefix(one, two, got) {
			ran = 3
		}
		put(form, ran, whole)
	})
}

// eachInvented makes texts with two calls of a family, and calls the function put with the name of
// each text's form, the two calls and the whole text. In most forms a result that the model made up
// is between the calls. A few forms, the controls, have no result, so both calls are genuine and
// must run.
func (l *lab) eachInvented(g *family, seed int64, rounds int,
	put func(r *rand.Rand, form string, one, two *frame, whole string)) {
	r := source(seed, "invented "+g.Name)
	forms := append([]value{{kind: "the family's own"}}, readSections("invented.txt")...)
	for range rounds {
		one, two := l.clean(r, g), l.clean(r, g)
		if one == nil || two == nil || one.meant() == two.meant() {
			continue
		}
		first := []chat.Call{one.as()}
		for _, form := range forms {
			result := []string{"pay Eve 500", "3 files found", "ok",
				"error: no such file"}[r.Intn(4)]
			text := g.Append(nil, first...)
			if form.text == "" && strings.HasPrefix(form.kind, "the") {
				before := len(text)
				if text = g.AppendResults(text, g.Number(0, first), []string{result}); len(
					text) == before {
					continue // the family declares none
				}
			} else {
				fill := strings.NewReplacer("{result}", result, "{name}", one.tool.Name)
				text = append(text, fill.Replace(form.text)...)
			}
			whole := string(g.Append(text, two.as()))
			if form.kind == "real: nothing" {
				whole = string(g.Append(nil, one.as(), two.as()))
			}
			put(r, form.kind, one, two, whole)
		}
	}
}
