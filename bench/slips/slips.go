package main

import (
	"math/rand"
	"reflect"
	"slices"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// tally has, for each outcome, the number of texts with that outcome.
type tally [outcomes]int

// sum returns how many outcomes were counted.
func (t tally) sum() int { return t[wrong] + t[exact] + t.none() }

// none returns how many texts were read without a call.
func (t tally) none() int { return t[held] + t[unfinished] + t[lost] }

// example is a text that was not read as it was meant.
type example struct {
	Family, Notation, Kind string
	Seed                   int64
	Raw, Meant             string
	Got                    []string
	Outcome                string
	Slips                  []string `json:",omitempty"` // where there are several
}

// slipped has the counts for calls with slips, the small mistakes of models.
type slipped struct {
	count map[[2]string]*tally // by notation and kind
	// by reader and family: toolnorm's counts and the other reader's
	peer      map[[2]string]*[2]tally
	splits    int      // texts that were read twice, whole and in pieces
	differ    int      // those of them whose two readings differ
	formed    int      // texts that were still of the family's form
	unwritten []string // families that could write no call
	examples  []example
	cases     []Case // for the arena, if lab.collect is set
}

// add adds the counts of o.
func (t *tally) add(o tally) {
	for i, n := range o {
		t[i] += n
	}
}

// sitting measures how the calls of one family are read when they contain slips, the small mistakes
// of models. It has one seed of the random numbers.
type sitting struct {
	*lab
	*slipped
	g    *family
	r    *rand.Rand
	seed int64
}

// measureSlips makes slips, the small mistakes of models, of every kind in random calls of a
// family, reads the results and returns the counts. It also makes two or three slips at once, a
// quarter as often.
func (l *lab) measureSlips(g *family, seed int64, rounds int) *slipped {
	s := &slipped{count: map[[2]string]*tally{}, peer: map[[2]string]*[2]tally{}}
	t := &sitting{l, s, g, source(seed, g.Name), seed}
	for range rounds {
		w := l.clean(t.r, g)
		if w == nil {
			s.unwritten = append(s.unwritten, g.Name)
			break
		}
		parser := l.peers[g.Name]
		if parser != "" && l.outcomeOf(w.call, l.ollama(parser, w.fill())) != exact {
			parser = ""
		}
		if l.collect {
			s.cases = append(s.cases, cleanCase(g, w, len(s.cases)))
		}
		for i, k := range l.kinds {
			t.read(w, k.slip(t.r, w), parser, k.name)
			if i%4 == 0 {
				t.several(w, parser)
			}
		}
	}
	return s
}

// several makes two or three slips, the small mistakes of models, in a call, and reads the result.
func (t *sitting) several(w *frame, parser string) {
	f := w
	var made []string
	for range 2 + t.r.Intn(2) {
		k := t.kinds[t.r.Intn(len(t.kinds))]
		if t.unseen(w, k) {
			continue
		}
		if next := k.slip(t.r, f); next != nil {
			f, made = next, append(made, k.name)
		}
	}
	if len(made) > 1 {
		t.read(w, f, parser, []string{"two slips", "three slips"}[len(made)-2], made...)
	}
}

// unseen reports whether a slip of the kind k can turn the call into a well-formed call with
// another value. Such a slip is not combined with others, because no reader could know from the
// text which value was meant.
func (t *sitting) unseen(w *frame, k kind) bool {
	for seed := range int64(24) {
		f := k.slip(rand.New(rand.NewSource(seed)), w)
		if f == nil {
			return false
		}
		if args, ok := t.g.strict(w, f.fill()); ok && !same(args, w.meant()) {
			return true
		}
	}
	return false
}

// outcomeNames are the names of the outcomes in examples.
var outcomeNames = [outcomes]string{"exact", "held", "cut", "lost", "wrong"}

// read reads the frame f, which is w after slips, the small mistakes of models, and counts the
// outcomes of toolnorm and of Ollama's parser, if parser names one. It does nothing if f is nil or
// its text is that of w. If the text is well-formed with other arguments, no reader could notice
// the slip, so read only adds 1 to t.formed. The parameter made names the slips for the examples.
func (t *sitting) read(w, f *frame, parser, kind string, made ...string) {
	if f == nil {
		return
	}
	text := f.fill()
	if text == w.fill() {
		return
	}
	if args, ok := t.g.strict(w, text); ok && !same(args, w.meant()) && w.tool.fits(args) {
		t.formed++
		return
	}
	if t.collect {
		t.cases = append(t.cases, t.slipCase(w, kind, text))
		return
	}
	got := t.decode(t.g.Format, anyHow(t.r, text))
	is := t.outcomeOf(w.call, got)
	of(t.count, [2]string{t.g.notation, kind})[is]++
	t.split(kind, text)
	t.others(w, text, parser, is)
	if is != exact {
		e := t.example(kind, text, outcomeNames[is], got.calls)
		e.Slips = made
		e.Meant = w.tool.Name + " " + w.meant()
		if got.crash != "" {
			e.Outcome = "crash: " + got.crash
		}
		t.examples = append(t.examples, e)
	}
}

// example returns an example for the report: a text with slips of the given kind, the outcome, and
// the calls that were read in the text.
func (t *sitting) example(kind, text, outcome string, calls []chat.Call) example {
	e := example{Family: t.g.Name, Notation: t.g.notation, Kind: kind, Seed: t.seed, Raw: text,
		Outcome: outcome}
	for _, c := range calls {
		e.Got = append(e.Got, c.Name+" "+string(c.Args))
	}
	return e
}

// others gives a text with slips to other programs, and counts what they read in it, beside
// toolnorm's outcome ours. The programs are the parser of Ollama that the parameter parser names,
// unless it is empty, and json_repair, which reads only arguments in JSON.
func (t *sitting) others(w *frame, text, parser string, ours outcome) {
	if parser != "" {
		t.beside("Ollama", t.g.Name, ours, t.outcomeOf(w.call, t.ollama(parser, text)))
	}
	if t.repairer != nil && t.g.notation == jsonArgs {
		if got, ok := t.repairer.read(w, text); ok {
			t.beside("json_repair", "arguments alone", ours, t.outcomeOf(w.call, got))
		}
	}
}

// beside counts the outcomes of toolnorm (ours) and of another program (theirs) for the same text.
func (s *slipped) beside(reader, family string, ours, theirs outcome) {
	both := of(s.peer, [2]string{reader, family})
	both[0][ours]++
	both[1][theirs]++
}

// split decodes one text of six, chosen at random, twice: as a whole and in pieces. It counts
// whether the results differ, which they must not.
func (t *sitting) split(kind, text string) {
	if t.r.Intn(6) > 0 {
		return
	}
	t.splits++
	one := t.decode(t.g.Format, whole(text, chat.Stop))
	two := t.decode(t.g.Format, how{adapters.HoldCall, pieces(t.r, text), chat.Stop})
	if !reflect.DeepEqual(one, two) {
		t.differ++
		calls := slices.Concat(one.calls, two.calls)
		t.examples = append(t.examples, t.example("split: "+kind, text, "differs by cuts", calls))
	}
}
