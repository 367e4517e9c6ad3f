package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"toolnorm/adapters"
	"toolnorm/bench/arena/input"
)

// rowNames are the names of the rows in the order of the page, each with a description of its
// inputs.
var rowNames = [][2]string{
	{"clean", "Calls as the family writes them"},
	{"slips", "Calls with slips: one, two or three of some ninety kinds"},
	{"truncation", "Calls that were cut: whole calls may leave, or none"},
	{"invented", "Two calls with a result between them that the model made up, and controls"},
	{"files", "Real files as arguments"},
	{"positions", "Calls anywhere in text of any script"},
	{"languages", "Unmarked calls that a sentence announces, in many languages"},
	{"shown", "Calls that a text shows, quotes or documents: none may run"},
	{"wrappers", "Calls in wrappers that nobody has listed"},
	{"documents", "Texts and documents that look like calls: none may run"},
	{"stream", "The same calls in pieces: tokens and single characters"},
	{"canitoolcall",
		"The fixtures of canitoolcall, a public suite, among them those of other readers' own tests: the calls of those without thoughts"},
}

// counts has, for each outcome, the number of inputs with that outcome.
type counts [outcomes]int

// asked returns the number of inputs that were not skipped.
func (c counts) asked() int { return c[right] + c[lost] + c[wrong] + c[falsely] }

// bad returns the number of inputs with a call that was not meant and could run.
func (c counts) bad() int { return c[wrong] + c[falsely] }

// pair has the outcomes of a reader and of toolnorm for the same inputs.
type pair struct {
	Theirs, Ours counts
	Unlike       int // inputs that the reader read differently in pieces than whole
	OursUnlike   int // inputs that toolnorm read differently in pieces than whole
	// the sum of the shares from early, and the number of calls in it
	Early      float64
	EarlyCalls int
}

// answer is the result of a reader for one input.
type answer struct {
	is    outcome
	calls []input.Call
	err   string
	early float64 // the share from early; below 0: not known
	took  time.Duration
}

// board has all inputs, all readers, and what each reader has read in each input.
type board struct {
	cases    []*input.Case
	readers  []*reader
	judge    *judge
	answers  map[*reader][]answer // by the index in cases
	pairs    map[*reader]map[string]*pair
	evidence []evidence
	suite    *suiteResult // the result of canitoolcall's own runner for toolnorm
}

// whole lists the rows of which every input is read, however many of the others are left out.
var whole = []string{"plain", "clean", "canitoolcall", "cost"}

// readCases returns a board with the inputs in the files of a folder. A row is a group of inputs,
// such as those of one family. readCases takes every n-th input of a row, where n is the parameter
// every, but all inputs of the rows in the list whole. An input that varies another one comes after
// it. It returns an error if there are no files, or if one cannot be read.
func readCases(folder string, every int) (*board, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no inputs in %q: %v", folder, err)
	}
	b := &board{}
	seen := map[string]int{}
	sets := map[string]json.RawMessage{}
	families := adapters.Builtin()
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		lines := json.NewDecoder(bufio.NewReader(f))
		for n := 1; lines.More(); n++ {
			c := &input.Case{}
			if err := lines.Decode(c); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, n, err)
			}
			if c.ID == "" {
				sets[c.ToolSet] = c.Tools
				continue
			}
			if seen[c.Row]++; seen[c.Row]%every > 0 && !slices.Contains(whole, c.Row) {
				continue
			}
			if c.Tools == nil {
				c.Tools = sets[c.ToolSet]
			} else {
				c.ToolSet = c.ID
				sets[c.ID] = c.Tools
			}
			if c.Format == "" {
				c.Format = families.For(c.Model).Name
			}
			b.cases = append(b.cases, c)
		}
	}
	slices.SortStableFunc(b.cases, func(x, y *input.Case) int { return turn(x) - turn(y) })
	b.judge, err = newJudge(sets)
	return b, err
}

// turn returns the round, counted from 0, in which a case is read. A case that was made from
// another one, by a mistake in its text, is read in a later round than that one.
func turn(c *input.Case) int {
	switch {
	case c.Base == "":
		return 0
	case c.Row == "clean":
		return 1
	}
	return 2
}

// with sets the programs that the board compares, removes their old answers, and returns the board.
func (b *board) with(readers []*reader) *board {
	b.readers = readers
	b.answers = map[*reader][]answer{}
	return b
}

// readAll gives all inputs to all readers, and stores their answers. Two readers run at a time.
func (b *board) readAll(patience time.Duration) {
	var lock sync.Mutex
	var wait sync.WaitGroup
	turns := make(chan *reader)
	for range 2 {
		wait.Go(func() {
			for r := range turns {
				start := time.Now()
				all := b.read(r, patience)
				lock.Lock()
				b.answers[r] = all
				fmt.Fprintf(os.Stderr, "%s: read in %.0f s %s\n", r.name,
					time.Since(start).Seconds(), r.failure)
				lock.Unlock()
			}
		})
	}
	for _, r := range b.readers {
		if r.failure == "" {
			turns <- r
		}
	}
	close(turns)
	wait.Wait()
}

// read gives the inputs to a reader and returns its answers, by the index in b.cases. An input may
// be a variant of another input, its base; read skips it if the reader did not read the base right.
// If the reader fails too often, read sets r.failure and returns the answers so far.
func (b *board) read(r *reader, patience time.Duration) []answer {
	p := &process{reader: r}
	defer p.stop()
	all := make([]answer, len(b.cases))
	reads := map[string]outcome{}
	// rows of a family in which an input took too long: the others are not asked
	slow := map[string]bool{}
	for i, c := range b.cases {
		if base, ok := reads[c.Base]; ok && base != right && base != skipped &&
			r.id != "toolnorm" || slow[c.Row+c.Format] {
			continue
		}
		got, err := p.ask(c, patience)
		if err != nil {
			r.failure = fmt.Sprintf("gave up after %d inputs: %v, %s", i, err,
				lastLine(r.folder+"/log"))
			return all
		}
		if got.Error == tooLong || strings.HasPrefix(got.Error, "ended") {
			fmt.Fprintf(os.Stderr, "%s: %s: %s\n", r.name, c.ID, got.Error)
		}
		a := answer{is: b.judge.of(c, got), calls: got.Calls, err: got.Error, early: early(c, got),
			took: got.took}
		if all[i] = a; a.is != skipped {
			reads[c.ID] = a.is
		} else {
			reads[c.ID] = skipped
		}
		slow[c.Row+c.Format] = got.Error == tooLong
	}
	return all
}

// early returns how early a program passes on the arguments of a call. After each piece of the
// input, a share of the arguments has been passed on; early returns the average of these shares, in
// which longer pieces count more. It returns 0 if no arguments were passed on, and -1 if the
// program does not report what it has passed on, or has not read exactly one call.
func early(c *input.Case, r *reply) float64 {
	if len(r.Sent) == 0 || len(r.Sent) != len(c.Deltas) || len(r.Calls) != 1 {
		return -1
	}
	last := r.Sent[len(r.Sent)-1]
	if last == 0 {
		return 0
	}
	sum, read := 0.0, 0
	for i, n := range r.Sent {
		read += len(c.Deltas[i])
		sum += float64(n) / float64(last) * float64(len(c.Deltas[i]))
	}
	return sum / float64(read)
}

// count counts the outcomes of each reader and row, and those of toolnorm for the same inputs.
func (b *board) count() {
	b.pairs = map[*reader]map[string]*pair{}
	ours := b.answers[b.readers[0]]
	places := map[string]int{}
	for i, c := range b.cases {
		places[c.ID] = i
	}
	for _, r := range b.readers {
		rows := map[string]*pair{}
		for i, a := range b.answers[r] {
			c := b.cases[i]
			if a.is == skipped || c.Row == "cost" {
				continue
			}
			if rows[c.Row] == nil {
				rows[c.Row] = &pair{}
			}
			p := rows[c.Row]
			p.Theirs[a.is]++
			p.Ours[ours[i].is]++
			if k, ok := places[c.Like]; ok {
				p.Unlike += unlike(a, b.answers[r][k])
				p.OursUnlike += unlike(ours[i], ours[k])
			}
			if a.early >= 0 && a.is == right {
				p.Early += a.early
				p.EarlyCalls++
			}
		}
		b.pairs[r] = rows
	}
}

// unlike returns 1 if two answers have different calls, and 0 otherwise. It also returns 0 if b was
// skipped.
func unlike(a, b answer) int {
	if b.is == skipped || len(a.calls) == len(b.calls) && !slices.ContainsFunc(a.calls,
		func(x input.Call) bool {
			return !slices.ContainsFunc(b.calls, func(y input.Call) bool {
				return same(x, y) || x == y
			})
		}) {
		return 0
	}
	return 1
}

// better is a result in which another program reads calls better than toolnorm.
type better struct {
	reader *reader
	row    string
	right  bool // the reader reads more right; otherwise fewer of its calls are wrong
	pair   *pair
}

// better returns the results in which another program reads calls better than toolnorm: it reads
// more of them right, or fewer of them wrong.
func (b *board) better() (all []better) {
	for _, row := range rowNames {
		for _, r := range b.readers[1:] {
			p := b.pairs[r][row[0]]
			if p == nil {
				continue
			}
			if p.Theirs[right] > p.Ours[right] {
				all = append(all, better{r, row[0], true, p})
			} else if p.Theirs.bad() < p.Ours.bad() {
				all = append(all, better{r, row[0], false, p})
			}
		}
	}
	return all
}

// sentence returns a sentence that compares the counts of the reader with those of toolnorm for a
// row in which the reader is better.
func (x better) sentence() string {
	t, o := x.pair.Theirs, x.pair.Ours
	if x.right {
		return fmt.Sprintf(
			"%s: of the %d inputs that %s was asked, it reads %d right, toolnorm %d (calls that were not meant: %d and %d).",
			x.row, t.asked(), x.reader.name, t[right], o[right], t.bad(), o.bad())
	}
	return fmt.Sprintf(
		"%s: of the %d inputs that %s was asked, %d made a call that was not meant, %d by toolnorm (read right: %d and %d).",
		x.row, t.asked(), x.reader.name, t.bad(), o.bad(), t[right], o[right])
}

// text returns the counts as a table of text.
func (b *board) text() string {
	var out strings.Builder
	for _, row := range rowNames {
		fmt.Fprintf(&out, "%s\n", row[0])
		for _, r := range b.readers {
			if p := b.pairs[r][row[0]]; p != nil {
				fmt.Fprintf(&out,
					"  %-42s asked %5d  right %5d  lost %5d  wrong %4d  false %4d   toolnorm: right %5d  lost %4d  wrong %3d  false %3d\n",
					r.name, p.Theirs.asked(), p.Theirs[right], p.Theirs[lost], p.Theirs[wrong],
					p.Theirs[falsely], p.Ours[right], p.Ours[lost], p.Ours[wrong], p.Ours[falsely])
			}
		}
	}
	for _, x := range b.better() {
		fmt.Fprintln(&out, "better:", x.sentence())
	}
	for _, r := range b.readers {
		if r.failure != "" {
			fmt.Fprintf(&out, "%s: %s\n", r.name, r.failure)
		}
	}
	return out.String()
}
