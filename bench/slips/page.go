package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// write writes the page, and the texts that were not read as meant where a file is named for them.
func (f *figures) write() error {
	var b strings.Builder
	f.print(&b)
	if f.settings.examples != "" {
		if err := writeLines(f.settings.examples, slices.Concat(f.seen.examples, f.examples)); err != nil {
			return err
		}
	}
	if f.page == "" {
		_, err := io.WriteString(os.Stdout, b.String())
		return err
	}
	return os.WriteFile(f.page, []byte(b.String()), 0o644)
}

// print prints the page.
func (f *figures) print(w io.Writer) {
	fmt.Fprint(w, strings.TrimSpace(file("page.md")), "\n")
	if f.seen.count != nil {
		f.printSlips(w)
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

// sums adds up the kinds of each notation.
func (s *slipped) sums() map[string]*tally {
	sum := map[string]*tally{}
	for k, t := range s.count {
		of(sum, k[0]).add(*t)
		of(sum, "all").add(*t)
	}
	return sum
}

func (f *figures) printSlips(w io.Writer) {
	fmt.Fprintf(w, "\n## Calls with slips\n\nSeeds %s. Still of the family's form with another value, and left out: %d.\n", list(f.seeds), f.seen.formed)
	f.seen.print(w)
	if f.held.count != nil {
		fmt.Fprintf(w, "\nHeld-out seeds, of which no text was looked at: %s.\n", list(f.heldOut))
		f.held.print(w)
	}
	fmt.Fprintf(w, "\nOf %d texts that were read whole and in pieces, %d were read in two ways. Readings that ended the program: %d.\n", f.seen.splits+f.held.splits, f.seen.differ+f.held.differ, f.crashed)
	if len(f.seen.unwritten) > 0 {
		fmt.Fprintf(w, "\nFamilies that could write none of twenty random calls, and have no figures: %s.\n", strings.Join(f.seen.unwritten, ", "))
	}
	if len(f.seen.peer) == 0 {
		return
	}
	fmt.Fprint(w, "\n## Beside other readers\n\nThe same texts. Ollama's own parsers get those of calls that they read when nothing is wrong with them; json_repair gets the arguments alone, and needs not find them.\n\n"+
		"| reader | family | texts | toolnorm: exact | no call | wrong | the other: exact | no call | wrong |\n|---|---|--:|--:|--:|--:|--:|--:|--:|\n")
	names := slices.SortedFunc(maps.Keys(f.seen.peer), func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) })
	for _, name := range names {
		o, p := f.seen.peer[name][0], f.seen.peer[name][1]
		fmt.Fprintf(w, "| %s | %s | %d | %d | %d | %d | %d | %d | %d |\n", name[0], name[1], o.sum(), o[exact], o[held]+o[lost], o[wrong], p[exact], p[held]+p[lost], p[wrong])
	}
}

// print prints the outcomes by notation.
func (s *slipped) print(w io.Writer) {
	fmt.Fprint(w, "\n| notation | texts | exact | held | lost | wrong | wrong in 1,000 |\n|---|--:|--:|--:|--:|--:|--:|\n")
	sum := s.sums()
	for _, n := range append(slices.Clone(notations), "all") {
		if t := sum[n]; t != nil {
			fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %.1f |\n", n, t.sum(), t[exact], t[held], t[lost], t[wrong], 1000*float64(t[wrong])/float64(t.sum()))
		}
	}
}

func (f *figures) printKinds(w io.Writer) {
	fmt.Fprint(w, "\n## By kind\n\nExact / held / lost / **wrong**; all seeds.\n\n| kind | json | tags | python | bare keys |\n|---|--:|--:|--:|--:|\n")
	all := map[[2]string]*tally{}
	kinds := map[string]int{}
	for _, s := range []*slipped{&f.seen, &f.held} {
		for k, t := range s.count {
			of(all, k).add(*t)
			kinds[k[1]] += t[wrong]
		}
	}
	names := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int {
		if kinds[a] != kinds[b] {
			return kinds[b] - kinds[a]
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		fmt.Fprintf(w, "| %s |", strings.ReplaceAll(name, "|", `\|`))
		for _, n := range notations {
			t := all[[2]string{n, name}]
			switch {
			case t == nil:
				fmt.Fprint(w, " – |")
			case t[wrong] > 0:
				fmt.Fprintf(w, " %d / %d / %d / **%d** |", t[exact], t[held], t[lost], t[wrong])
			default:
				fmt.Fprintf(w, " %d / %d / %d / 0 |", t[exact], t[held], t[lost])
			}
		}
		fmt.Fprintln(w)
	}
}

func (f *figures) printCuts(w io.Writer) {
	fmt.Fprint(w, "\n## Calls that were cut\n\nAt every byte, and between any two tokens as they stream. Nothing but whole calls may leave. By stop a model says that it has written all it wanted.\n\n| notation | the server said | cuts | whole calls | none | does not fit, so held | **part of a call ran** |\n|---|---|--:|--:|--:|--:|--:|\n")
	for _, n := range notations {
		for _, finish := range cutEnds {
			if t := f.cuts[[2]string{n, finish}]; t != nil {
				fmt.Fprintf(w, "| %s | %s | %d | %d | %d | %d | %d |\n", n, finish, t.cuts, t.whole, t.none, t.misfit, t.partial)
			}
		}
	}
}

func (f *figures) printFiles(w io.Writer) {
	fmt.Fprintf(w, "\n## Real files\n\n%d files, %d of them with tags or marks, of up to 64 KiB; %d times one of them in one family's form, at random cuts. Equal or no call, never another value. Families without another value are one line.\n\n", f.plain+f.hards, f.hards, f.pairs)
	fmt.Fprint(w, "| family | equal | no call | another value | with tags: equal | no call | another value |\n|---|--:|--:|--:|--:|--:|--:|\n")
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
		fmt.Fprintf(w, "| %s | %d | %d | **%d** | %d | %d | %d |\n", name, t.equal, t.none, t.other, h.equal, h.none, h.other)
	}
	fmt.Fprintf(w, "| %d others | %d | %d | 0 | %d | %d | 0 |\n", good, rest.equal, rest.none, restHard.equal, restHard.none)
}

// isControl reports whether both calls around a form are meant.
func isControl(form string) bool { return strings.HasPrefix(form, "real") }

func (f *figures) printInvented(w io.Writer) {
	fmt.Fprint(w, "\n## Results that the model makes up\n\nTwo calls of one reply with a made-up result between them: the second may not run. Around what is real, both must.\n\n| between the calls | none ran | the first ran | both ran | another ran |\n|---|--:|--:|--:|--:|\n")
	for _, form := range f.forms {
		n := f.invented[form]
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d |\n", form, n[0], n[1], n[2], n[3])
	}
}

// list is numbers with commas between them.
func list(all []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", ", "), "[]")
}
