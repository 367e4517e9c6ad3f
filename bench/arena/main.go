// Command arena gives the same inputs to toolnorm and to other readers of tool calls, each through
// its own entry point, and writes the page docs/arena/index.html with what came of them. run.sh
// calls it.
//
// A reader is a file in readers/: its first lines say how it is installed, and it answers a line on
// standard output for each line on standard input. README.md has the protocol.
//
//	main.go        the flags, and the order of things
//	input/         the inputs
//	reader.go      what a reader's file says of it, and how it is installed
//	process.go     a reader that runs: a line in, a line out, within a time
//	judge.go       what became of an input
//	tally.go       what readers made of the inputs of each row, beside toolnorm
//	difference.go  the inputs that were read otherwise than by toolnorm
//	suite.go       canitoolcall, by its own runner
//	evidence.go    rows that other commands measured, from the pages that they wrote
//	compare.go     whether two runs have the same counts
//	page.go        the page and the JSON
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// settings are the values of the flags.
type settings struct {
	inputs, readers, cache, out string
	only, show, compare         string
	suite, evidence             string
	patience                    time.Duration
	every                       int
	sample                      bool
}

func main() {
	s := &settings{}
	flag.StringVar(&s.inputs, "inputs", "", "the folder of the inputs, *.jsonl")
	flag.StringVar(&s.readers, "readers", "arena/readers", "the folder of the readers")
	flag.StringVar(&s.cache, "cache", "", "the folder into which readers are installed")
	flag.StringVar(&s.out, "out", "",
		"the folder of the page; else the counts go to standard output alone")
	flag.StringVar(&s.only, "only", "",
		"only these readers, with commas between them; toolnorm always runs")
	flag.StringVar(&s.show, "show", "",
		"print the inputs of the last run that were read otherwise: READER or READER/ROW")
	flag.StringVar(&s.suite, "suite", "",
		"the script that runs canitoolcall over toolnorm by its own runner")
	flag.StringVar(&s.compare, "compare", "", "fail when two files of counts differ: A.json,B.json")
	flag.StringVar(&s.evidence, "evidence", "../docs/evidence",
		"the folder of the pages whose tables are rows, too")
	flag.DurationVar(&s.patience, "patience", 5*time.Second,
		"how long a reader may work for an input, on a processor")
	flag.IntVar(&s.every, "every", 1, "of rows with many inputs only each n-th is read")
	flag.BoolVar(&s.sample, "sample", false, "fail when toolnorm is not first in a row")
	flag.Parse()
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "arena:", err)
		os.Exit(1)
	}
}

// run does what the settings say. It returns an error if something cannot be read or written, or if
// a limit is broken.
func run(s *settings) error {
	if s.show != "" {
		return show(filepath.Join(s.cache, differencesFile), s.show)
	}
	if s.compare != "" {
		return compare(s.compare)
	}
	b, err := readCases(s.inputs, s.every)
	if err != nil {
		return err
	}
	if b.evidence, err = readEvidence(s.evidence); err != nil {
		return err
	}
	readers, err := findReaders(s.readers, s.only)
	if err != nil {
		return err
	}
	for _, r := range readers {
		start := time.Now()
		r.install(s.cache)
		fmt.Fprintf(os.Stderr, "%s: installed in %.0f s %s\n", r.name, time.Since(start).Seconds(),
			r.failure)
	}
	b.with(readers).readAll(s.patience)
	if s.suite != "" {
		b.suite = runSuite(s.suite)
	}
	b.count()
	fmt.Print(b.text())
	if s.out != "" {
		counts := filepath.Join(s.out, "arena.json")
		before, stored := readCounts(counts)
		if err := b.write(s.out); err != nil {
			return err
		}
		if now, err := readCounts(counts); err == nil && stored == nil {
			all := unequal(before, now)
			fmt.Printf("%d counts, %d otherwise than in the stored run\n", len(now), len(all))
			for _, line := range all {
				fmt.Println(" ", line)
			}
		}
		if err := b.writeDifferences(filepath.Join(s.cache, differencesFile)); err != nil {
			return err
		}
	}
	if s.sample {
		return b.breaches()
	}
	return nil
}

// ahead is the number of inputs of a row by which another reader may be ahead of toolnorm. The
// inputs of the row shown are answers to users who ask how a call is written. A few of them use
// words that toolnorm does not know. A reader that reads no call after a sentence gets all of these
// right.
var ahead = map[string]int{"shown": 12}

// breaches returns an error if another program reads more inputs of some row right than toolnorm
// does, by more than the map ahead tolerates. It also returns an error if toolnorm could not be
// run.
func (b *board) breaches() error {
	var all []string
	for _, x := range b.better() {
		if x.right && x.pair.Theirs[right]-x.pair.Ours[right] > ahead[x.row] {
			all = append(all, x.sentence())
		}
	}
	if b.readers[0].failure != "" {
		all = append(all, "toolnorm: "+b.readers[0].failure)
	}
	if len(all) > 0 {
		return fmt.Errorf("\n  %s", strings.Join(all, "\n  "))
	}
	return nil
}
