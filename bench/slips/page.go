package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"toolnorm/bench/arena/input"
)

// write writes the page and, if the settings name a file for them, the texts that were not read as
// meant. It returns an error if a file cannot be written.
func (f *figures) write() error {
	var b strings.Builder
	f.print(&b)
	if f.settings.examples != "" {
		all := slices.Concat(f.seen.examples, f.examples)
		if err := input.WriteLines(f.settings.examples, all); err != nil {
			return err
		}
	}
	if f.page == "" {
		_, err := io.WriteString(os.Stdout, b.String())
		return err
	}
	return os.WriteFile(f.page, []byte(b.String()), 0o644)
}

// section returns the text of a section of page.txt. It panics if there is no such section.
func section(name string) string {
	for _, v := range readSections("page.txt") {
		if v.kind == name {
			return v.text
		}
	}
	panic("page.txt has no section " + name)
}

// print prints the page.
func (f *figures) print(w io.Writer) {
	fmt.Fprintln(w, section("head"))
	if f.seen.count != nil {
		f.printSlips(w)
		f.printPeers(w)
	}
	if len(f.cuts) > 0 {
		f.printCuts(w)
	}
	if len(f.trips) > 0 {
		f.printFiles(w)
	}
	if len(f.forms) > 0 {
		f.printInvented(w)
	}
	if f.seen.count != nil {
		f.printKinds(w)
	}
}

// notations are the notations in the order of the page.
var notations = []string{jsonArgs, tagArgs, pythonArgs, bareArgs}

// row writes a row of a table.
func row(w io.Writer, cells ...any) {
	for _, c := range cells {
		fmt.Fprintf(w, "| %v ", c)
	}
	fmt.Fprintln(w, "|")
}

// sums adds up the outcomes over all kinds of mistakes in calls. The keys of the result are the
// notations of the arguments, such as JSON, and "all" for the sum over these.
func (s *slipped) sums() map[string]*tally {
	sum := map[string]*tally{}
	for k, t := range s.count {
		of(sum, k[0]).add(*t)
		of(sum, "all").add(*t)
	}
	return sum
}

// printSlips prints how often calls with mistakes in them were read as they were meant.
func (f *figures) printSlips(w io.Writer) {
	fmt.Fprintf(w, section("slips"), list(f.seeds), f.rounds, f.seen.formed)
	f.seen.print(w)
	if f.held.count != nil {
		fmt.Fprintf(w, section("held"), list(f.heldOut))
		f.held.print(w)
	}
	splits, differ := f.seen.splits+f.held.splits, f.seen.differ+f.held.differ
	fmt.Fprintf(w, section("cuts differ"), splits, differ, f.crashed)
	if names := f.seen.unwritten; len(names) > 0 {
		slices.Sort(names)
		fmt.Fprintf(w, section("unwritten"), strings.Join(slices.Compact(names), ", "))
	}
}

// print prints the outcomes by notation.
func (s *slipped) print(w io.Writer) {
	fmt.Fprint(w, section("counts"))
	sum := s.sums()
	for _, n := range append(slices.Clone(notations), "all") {
		if t := sum[n]; t != nil {
			share := fmt.Sprintf("%.1f", 1000*float64(t[wrong])/float64(t.sum()))
			row(w, n, t.sum(), t[exact], t[held], t[unfinished], t[lost], t[wrong], share)
		}
	}
}

// printPeers prints a table that compares what toolnorm and other readers have read in the same
// texts.
func (f *figures) printPeers(w io.Writer) {
	if len(f.seen.peer) == 0 {
		return
	}
	fmt.Fprint(w, section("peers"))
	names := slices.SortedFunc(maps.Keys(f.seen.peer), func(a, b [2]string) int {
		return strings.Compare(a[0]+a[1], b[0]+b[1])
	})
	for _, name := range names {
		o, p := f.seen.peer[name][0], f.seen.peer[name][1]
		row(w, name[0], name[1], o.sum(), o[exact], o.none(), o[wrong],
			p[exact], p.none(), p[wrong])
	}
}

// printKinds prints a table of the outcomes for each kind of mistake in calls, those with most
// wrong calls first.
func (f *figures) printKinds(w io.Writer) {
	fmt.Fprint(w, section("kinds"))
	all, kinds := map[[2]string]*tally{}, map[string]int{}
	for _, s := range []*slipped{&f.seen, &f.held} {
		for k, t := range s.count {
			of(all, k).add(*t)
			kinds[k[1]] += t[wrong]
		}
	}
	names := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int {
		return cmp.Or(kinds[b]-kinds[a], strings.Compare(a, b))
	})
	for _, name := range names {
		cells := []any{name}
		for _, n := range notations {
			cells = append(cells, all[[2]string{n, name}].cell())
		}
		row(w, cells...)
	}
}

// cell returns the counts of the outcomes as the text of one table cell, or "–" if t is nil.
func (t *tally) cell() string {
	if t == nil {
		return "–"
	}
	s := fmt.Sprintf("%d / %d / %d / %d / ", t[exact], t[held], t[unfinished], t[lost])
	if t[wrong] > 0 {
		return s + fmt.Sprintf("**%d**", t[wrong])
	}
	return s + "0"
}

// printCuts prints a table of the calls that broke off in the middle, with the counts of what was
// read in such texts.
func (f *figures) printCuts(w io.Writer) {
	fmt.Fprint(w, section("cuts"))
	for _, n := range notations {
		for _, finish := range cutEnds {
			if t := f.cuts[[2]string{n, finish}]; t != nil {
				row(w, n, finish, t.cuts, t.whole, t.none, t.misfit, t.partial)
			}
		}
	}
}

// printFiles prints the results of the test with real files. In this test the text of a file is an
// argument of a call, and the call must be read as it was written.
func (f *figures) printFiles(w io.Writer) {
	fmt.Fprintf(w, section("files"), f.plain+f.hards, f.hards, f.pairs)
	var rest, restHard tripTally
	good := 0
	for _, name := range slices.Sorted(maps.Keys(f.trips)) {
		t, h := f.trips[name], of(f.hard, name)
		if t.other == 0 {
			rest.add(*t)
			restHard.add(*h)
			good++
			continue
		}
		row(w, name, t.equal, t.none, fmt.Sprintf("**%d**", t.other), h.equal, h.none, h.other)
	}
	row(w, fmt.Sprintf("%d others", good), rest.equal, rest.none, 0, restHard.equal, restHard.none,
		0)
}

// isControl reports whether a test of the given form, whose text has two calls, expects both calls.
// In the other forms only the first may run, because the second follows a made-up result.
func isControl(form string) bool { return strings.HasPrefix(form, "real") }

// printInvented prints the table about replies with two calls and a text between them, which is
// mostly a result that the model made up for the first call. Each row is for one form of that text.
// It says how often no call ran, only the first, both, or another one.
func (f *figures) printInvented(w io.Writer) {
	fmt.Fprint(w, section("invented"))
	for _, form := range f.forms {
		n := f.invented[form]
		row(w, form, n[0], n[1], n[2], n[3])
	}
}

// list returns numbers as text with commas between them.
func list(all []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", ", "), "[]")
}
