package main

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// figures has the counts of all measurements, for the page.
type figures struct {
	*settings
	seen, held slipped
	cuts       map[[2]string]*cutTally // by notation and finish
	trips      map[string]*tripTally   // by family
	hard       map[string]*tripTally   // the same for files that contain tags of calls
	// by form: how often no call, one call, or both calls ran; the last for another call
	invented     map[string]*[4]int
	runaways     map[string]*[4]int // the same by family, without controls
	forms        []string           // in the order of the file
	notation     map[string]string  // of each family
	plain, hards int                // files
	crashed      int64              // readings that panicked
	pairs        int
	examples     []example
}

func newFigures(s *settings) *figures {
	return &figures{settings: s, cuts: map[[2]string]*cutTally{},
		trips: map[string]*tripTally{}, hard: map[string]*tripTally{},
		invented: map[string]*[4]int{}, runaways: map[string]*[4]int{},
		notation: map[string]string{}}
}

// eachFamily calls the function measure for every family, for several at a time. Then it calls the
// functions that measure has returned, in the order of the families.
func (l *lab) eachFamily(measure func(g *family) func()) {
	done := make([]func(), len(l.families))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(done); i = next.Add(1) - 1 {
				done[i] = measure(l.families[i])
			}
		})
	}
	wait.Wait()
	for _, f := range done {
		f()
	}
}

// of returns the entry of a key in m, and creates it if it does not exist.
func of[K comparable, V any](m map[K]*V, key K) *V {
	if m[key] == nil {
		m[key] = new(V)
	}
	return m[key]
}

// add adds the counts of m.
func (s *slipped) add(m *slipped) {
	if s.count == nil {
		s.count, s.peer = map[[2]string]*tally{}, map[[2]string]*[2]tally{}
	}
	s.formed += m.formed
	s.splits += m.splits
	s.differ += m.differ
	for k, t := range m.count {
		of(s.count, k).add(*t)
	}
	for k, t := range m.peer {
		both := of(s.peer, k)
		both[0].add(t[0])
		both[1].add(t[1])
	}
	s.unwritten = append(s.unwritten, m.unwritten...)
	s.examples = append(s.examples, m.examples...)
}

// takeCuts breaks off calls of a family in the middle and counts how they are read, with the random
// numbers of the first seed. It returns a function that adds the counts to f.
func (f *figures) takeCuts(l *lab, g *family) func() {
	var bad []example
	count := l.measureCuts(g, f.seeds[0], f.rounds, func(e example) { bad = append(bad, e) })
	return func() {
		for i, finish := range cutEnds {
			t := of(f.cuts, [2]string{g.notation, finish})
			t.add(count[i])
		}
		f.examples = append(f.examples, bad...)
	}
}

// takeInvented makes texts of a family in which a call follows a result that the model made up, and
// measures whether that call still runs. It uses the random numbers of the first seed. It returns a
// function that adds the counts to f.
func (f *figures) takeInvented(l *lab, g *family) func() {
	type one struct {
		form string
		ran  int
		text string
	}
	var all []one
	l.measureInvented(g, f.seeds[0], f.rounds, func(form string, ran int, text string) {
		all = append(all, one{form, ran, text})
	})
	return func() {
		for _, x := range all {
			if f.invented[x.form] == nil {
				f.forms = append(f.forms, x.form)
			}
			of(f.invented, x.form)[x.ran]++
			right := 1
			if isControl(x.form) {
				right = 2
			} else {
				of(f.runaways, g.Name)[x.ran]++
			}
			if x.ran != right {
				f.examples = append(f.examples, example{Family: g.Name, Notation: g.notation,
					Kind: "between calls: " + x.form, Raw: x.text,
					Outcome: []string{"none ran", "one ran", "both ran", "another ran"}[x.ran]})
			}
		}
	}
}

// pair returns which file and which model family are tried in turn n. The first files, as many as
// the parameter hard says, contain tags of calls. In the first turns every file is used once, then
// those with tags are used with all other families, and last the rest. So if time runs out, every
// file was used with at least one family. pair returns false if there are no more turns.
func pair(n, files, hard, families int) (file, family int, ok bool) {
	if n < files {
		return n, n % families, true
	}
	if n -= files; n < hard*(families-1) {
		return n % hard, (n%hard + 1 + n/hard) % families, true
	}
	if n -= hard * (families - 1); n < (files-hard)*(families-1) {
		i := n % (files - hard)
		return hard + i, (hard + i + 1 + n/(files-hard)) % families, true
	}
	return 0, 0, false
}

// takeFiles writes calls with the text of a real file as an argument, in the forms of the families,
// reads them and adds the counts to f.
func (f *figures) takeFiles(l *lab) {
	plain, hard := realFiles(f.roots, f.files, l.marks(), source(f.seeds[0], "files"), f.patience/3)
	f.plain, f.hards = len(plain), len(hard)
	paths := slices.Concat(hard, plain)
	until := time.Now().Add(f.patience * 2 / 3)
	var lock sync.Mutex
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for time.Now().Before(until) {
				i, k, ok := pair(int(next.Add(1)-1), len(paths), len(hard), len(l.families))
				if !ok {
					return
				}
				g := l.families[k]
				text, ok := readText(paths[i])
				if !ok {
					continue
				}
				var one tripTally
				var bad []example
				r := source(f.seeds[0], paths[i]+g.Name)
				l.trip(g, paths[i], text, r, &one, func(e example) { bad = append(bad, e) })
				lock.Lock()
				of(f.trips, g.Name).add(one)
				if i < len(hard) {
					of(f.hard, g.Name).add(one)
				}
				f.pairs++
				f.examples = append(f.examples, bad...)
				lock.Unlock()
			}
		})
	}
	wait.Wait()
}

func (t *tripTally) add(o tripTally) {
	t.equal, t.none, t.other = t.equal+o.equal, t.none+o.none, t.other+o.other
}

func (t *cutTally) add(o cutTally) {
	t.cuts, t.whole, t.none = t.cuts+o.cuts, t.whole+o.whole, t.none+o.none
	t.misfit, t.partial = t.misfit+o.misfit, t.partial+o.partial
}
