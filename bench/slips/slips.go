package main

import (
	"math/rand"
	"reflect"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// tally counts outcomes.
type tally [outcomes]int

func (t tally) sum() int { return t[exact] + t[held] + t[lost] + t[wrong] }

// example is a text that was read as a call that was not meant, or not at all.
type example struct {
	Family, Notation, Kind string
	Seed                   int64
	Raw, Meant             string
	Got                    []string
	Outcome                string
}

// slipped is what came of slips.
type slipped struct {
	count     map[[2]string]*tally    // by notation and kind
	peer      map[[2]string]*[2]tally // by reader and family: toolnorm's and the other's
	splits    int                     // texts that were read twice, cut in two ways
	differ    int                     // those of them that were read in two ways
	formed    int                     // texts that were still of the family's form
	unwritten []string                // families that could write no call
	examples  []example
}

// add adds what was counted elsewhere.
func (t *tally) add(o tally) {
	for i, n := range o {
		t[i] += n
	}
}

// measureSlips makes slips of every kind in random calls of a family, and two or three at once in a quarter as many.
func (l *lab) measureSlips(g *family, seed int64, rounds int) *slipped {
	s := &slipped{count: map[[2]string]*tally{}, peer: map[[2]string]*[2]tally{}}
	r := source(seed, g.Name)
	for range rounds {
		w := l.clean(r, g)
		if w == nil {
			s.unwritten = append(s.unwritten, g.Name)
			break
		}
		parser := l.peers[g.Name]
		if parser != "" && l.outcomeOf(w.call, l.ollama(parser, w.fill())) != exact {
			parser = ""
		}
		for i, k := range l.kinds {
			l.slip(s, g, r, seed, w, parser, k.name, k.slip(r, w))
			if i%4 > 0 {
				continue
			}
			f, made := w, 0
			for range 2 + r.Intn(2) {
				if next := l.kinds[r.Intn(len(l.kinds))].slip(r, f); next != nil {
					f, made = next, made+1
				}
			}
			if made > 1 {
				l.slip(s, g, r, seed, w, parser, []string{"two slips", "three slips"}[made-2], f)
			}
		}
	}
	return s
}

// beside counts what toolnorm and another reader made of the same text.
func (s *slipped) beside(reader, family string, ours, theirs outcome) {
	both := of(s.peer, [2]string{reader, family})
	both[0][ours]++
	both[1][theirs]++
}

// outcomeNames are the outcomes as examples have them.
var outcomeNames = [outcomes]string{"exact", "held", "lost", "wrong"}

// slip reads a text with slips and counts what came of it.
func (l *lab) slip(s *slipped, g *family, r *rand.Rand, seed int64, w *frame, parser, kind string, f *frame) {
	if f == nil {
		return
	}
	text := f.fill()
	if text == w.fill() {
		return
	}
	if args, ok := g.strict(w, text); ok && !same(args, w.meant()) && w.tool.fits(args) {
		s.formed++
		return
	}
	got := l.decode(g.Format, anyHow(r, text))
	is := l.outcomeOf(w.call, got)
	of(s.count, [2]string{g.notation, kind})[is]++
	l.split(s, g, r, seed, kind, text)
	if parser != "" {
		s.beside("Ollama", g.Name, is, l.outcomeOf(w.call, l.ollama(parser, text)))
	}
	if l.repairer != nil && g.notation == jsonArgs {
		if got, ok := l.repairer.read(w, text); ok {
			s.beside("json_repair", "arguments alone", is, l.outcomeOf(w.call, got))
		}
	}
	if is == exact {
		return
	}
	e := example{g.Name, g.notation, kind, seed, text, w.tool.Name + " " + w.meant(), nil, outcomeNames[is]}
	if got.crash != "" {
		e.Outcome = "crash: " + got.crash
	}
	for _, c := range got.calls {
		e.Got = append(e.Got, c.Name+" "+string(c.Args))
	}
	s.examples = append(s.examples, e)
}

// split reads some texts twice, whole and in pieces: how a text was cut may change nothing.
func (l *lab) split(s *slipped, g *family, r *rand.Rand, seed int64, kind, text string) {
	if r.Intn(6) > 0 {
		return
	}
	s.splits++
	one, two := l.decode(g.Format, whole(text, chat.Stop)), l.decode(g.Format, how{adapters.HoldCall, pieces(r, text), chat.Stop})
	if reflect.DeepEqual(one, two) {
		return
	}
	s.differ++
	e := example{g.Name, g.notation, "split: " + kind, seed, text, "", nil, "two readings by the cuts"}
	for _, c := range append(one.calls, two.calls...) {
		e.Got = append(e.Got, c.Name+" "+string(c.Args))
	}
	s.examples = append(s.examples, e)
}
