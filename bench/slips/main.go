// Command slips measures what becomes of calls that a model got wrong, or was cut in, or that
// hold any text. It writes random calls in the form of every family, makes slips in them, and
// reads them with toolnorm and with the parsers of Ollama.
//
// A new tool, text, kind of slip, form of result or peer is a line in a data file, and needs no Go.
//
//	main.go        the flags, and which measurements run
//	lab.go         what all measurements share
//	data.go        the data files: tools, texts, kinds of slips
//	call.go        random calls, and calls with placeholders in the place of texts
//	family.go      what a family's own form looks like, and who reads nothing else
//	operation.go   how a slip is made
//	rewrite.go     whole arguments in another notation
//	read.go        what a text is read as, and what became of the call
//	slips.go       calls with slips
//	cuts.go        calls that were cut
//	trip.go        real files as arguments
//	invented.go    results that a model makes up between two calls
//	peers.go       the parsers of Ollama
//	repairer.go    json_repair
//	figures.go     what all of them have counted
//	page.go        the page of figures
//	limits.go      what fails
//	cases.go       the texts as inputs of the arena
package main

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"
)

// settings are the values of the flags.
type settings struct {
	seeds, heldOut []int64
	rounds         int
	parts          string
	roots          []string
	files          int
	patience       time.Duration
	families       string
	page, examples string
	wheel          string
	cases          string
	gate           bool
}

func main() {
	// Ollama's parsers log every text that they cannot read.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	if err := run(readFlags()); err != nil {
		fmt.Fprintln(os.Stderr, "slips:", err)
		os.Exit(1)
	}
}

// readFlags returns the settings on the command line.
func readFlags() *settings {
	s := &settings{}
	seeds := flag.String("seeds", "1,2", "the seeds of calls and slips")
	held := flag.String("held-out", "", "seeds that count apart, and of which no text is shown")
	roots := flag.String("roots", "", "folders of real files, with : between them")
	flag.IntVar(&s.rounds, "rounds", 2, "calls of each family and seed")
	flag.StringVar(&s.parts, "parts", "slips,cuts,trip,invented", "which measurements run")
	flag.IntVar(&s.files, "files", 10000, "real files that become arguments")
	flag.DurationVar(&s.patience, "patience", 5*time.Minute, "how long real files may take")
	flag.StringVar(&s.families, "families", "", "only these families, with commas between them")
	flag.StringVar(&s.page, "page", "", "write the figures into this file; else to standard output")
	flag.StringVar(&s.examples, "examples", "",
		"write what was not read as meant into this file, as JSON lines")
	flag.StringVar(&s.wheel, "json-repair", "", "a wheel of json_repair, which is then read beside")
	flag.StringVar(&s.cases, "cases", "",
		"write the texts into this file for the arena (bench/arena), and read none")
	flag.BoolVar(&s.gate, "gate", false, "fail above the limits of limits.txt")
	flag.Parse()
	s.seeds, s.heldOut = numbers(*seeds), numbers(*held)
	s.roots = strings.FieldsFunc(*roots, func(r rune) bool { return r == ':' })
	return s
}

// numbers returns the numbers in a list with commas. It skips parts that are not numbers.
func numbers(list string) []int64 {
	var all []int64
	for _, word := range strings.Split(list, ",") {
		if n, err := strconv.ParseInt(word, 10, 64); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// run measures what the settings say and writes the page. It returns an error if something fails,
// or, if the settings ask for that, if a limit is broken.
func run(s *settings) error {
	l, err := newLab(s.families)
	if err != nil {
		return err
	}
	if s.cases != "" {
		return l.writeCases(s)
	}
	if s.wheel != "" {
		if l.repairer, err = startRepairer(s.wheel); err != nil {
			return err
		}
		defer l.repairer.stop()
	}
	f := newFigures(s)
	if strings.Contains(s.parts, "slips") {
		for _, seed := range s.seeds {
			l.slipAll(&f.seen, seed, s.rounds)
		}
		for _, seed := range s.heldOut {
			l.slipAll(&f.held, seed, s.rounds)
		}
	}
	if strings.Contains(s.parts, "cuts") {
		l.eachFamily(func(g *family) func() { return f.takeCuts(l, g) })
	}
	if strings.Contains(s.parts, "invented") {
		l.eachFamily(func(g *family) func() { return f.takeInvented(l, g) })
	}
	if strings.Contains(s.parts, "trip") && len(s.roots) > 0 {
		f.takeFiles(l)
	}
	f.crashed = l.crashed.Load()
	if err := f.write(); err != nil {
		return err
	}
	if s.gate {
		return f.breaches()
	}
	return nil
}

// slipAll makes slips, the small mistakes of models, in calls of all families and reads the
// results. It adds the counts to those in the parameter to.
func (l *lab) slipAll(to *slipped, seed int64, rounds int) {
	l.eachFamily(func(g *family) func() {
		m := l.measureSlips(g, seed, rounds)
		return func() { to.add(m) }
	})
}
