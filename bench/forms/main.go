// Command forms asks toolnorm for answers under response_format and checks each with a validator
// that toolnorm does not use. run.sh calls it.
//
// Its schemas are those of real APIs and SDKs (data/schemas.jsonl.gz, collected by collect.sh).
// Each goes through every API, streamed and whole, in front of a model server that holds the
// schema, ignores it, holds half of it, is cut, or never writes JSON at all, with tools beside it
// and without.
//
//	main.go     the flags, the run
//	corpus.go   the schemas, their answers, the validator
//	server.go   the model server
//	damage.go   what a model makes of a right answer
//	apis.go     how each API asks, and how its answer is read
//	table.go    what became of the answers
//	real.go     a real model instead
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"toolnorm/engine"
	"toolnorm/proxy"
)

// settings are the values of the flags.
type settings struct {
	every int    // only every n-th schema is used
	seeds string // seeds of the model's mistakes, with commas between them
	show  int    // how many failures of a kind are shown
	gate  bool   // fail if an answer does not fit, or if too few are answered
	ask   string // address of a toolnorm in front of a real model; empty: models are made up
	model string // the name of the real model
	most  int    // how many schemas the real model is asked for; 0: all
	page  string // the Markdown file for the figures; empty: none is written
}

func main() {
	var s settings
	flag.IntVar(&s.every, "every", 1, "take one schema of so many")
	flag.StringVar(&s.seeds, "seeds", "1", "seeds of what the model does wrong")
	flag.StringVar(&s.page, "page", "", "file that the figures are written to")
	flag.IntVar(&s.show, "show", 5, "how many answers of a kind are shown")
	flag.BoolVar(&s.gate, "gate", false,
		"fail when an answer does not fit, or too few are answered")
	flag.StringVar(&s.ask, "ask", "",
		"address of a toolnorm in front of a real model, which is asked by the schemas that are kept apart")
	flag.StringVar(&s.model, "model", "", "the real model's name")
	flag.IntVar(&s.most, "most", 0, "by how many schemas it is asked; 0: all")
	flag.Parse()
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "forms:", err)
		os.Exit(1)
	}
}

// run sends all requests, prints the table and writes the page. It returns an error if something
// fails, or if a limit is broken.
func run(s settings) error {
	if s.ask != "" {
		return askReal(s)
	}
	all, err := readCorpus(corpus, s.every)
	if err != nil {
		return err
	}
	t := newTable(s.show)
	for seed := range strings.SplitSeq(s.seeds, ",") {
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			return err
		}
		askAll(all, n, t)
	}
	t.print(os.Stdout, len(all))
	if s.page != "" {
		if err := os.WriteFile(s.page, []byte(t.markdown(len(all), s.seeds)), 0o644); err != nil {
			return err
		}
	}
	if s.gate {
		return t.breaches()
	}
	if t.unfit() > 0 {
		return errors.New("an answer does not fit")
	}
	return nil
}

// askAll sends requests for every schema, kind of mistake and API to a model server whose random
// mistakes depend on seed. It counts the outcomes in t.
func askAll(all []*entry, seed uint64, t *table) {
	model := newServer(seed)
	defer model.Close()
	e := engine.New(engine.Config{Ollama: model.URL, NamesOnly: true})
	face := proxy.New(proxy.Config{Model: e, Catalog: e, Ollama: e})
	var work sync.WaitGroup
	next := make(chan asked)
	for range runtime.NumCPU() {
		work.Go(func() {
			for a := range next {
				t.count(a, a.send(face, model))
			}
		})
	}
	for _, one := range all {
		for _, k := range kinds {
			for _, p := range apis {
				if k.tools && p.tool == "" {
					continue
				}
				for n := range 4 {
					next <- asked{one, k, p, n%2 == 1, n / 2}
				}
			}
		}
	}
	close(next)
	work.Wait()
}
