// Command search asks other search engines what toolnorm's search in knowledge bases is asked: the
// questions over the sample, and files in the form of SQuAD. make search calls it.
//
//	main.go     the flags, the table
//	sets.go     the passages and their questions; handbook.go makes them of a manual
//	engines.go  toolnorm, bleve, SQLite's FTS5 and PostgreSQL's own search
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

// shown is how many passages of an answer count.
const shown = 10

func main() {
	sets := flag.String("sets", "", "folder of files NAME-LANGUAGE.json in the form of SQuAD")
	handbook := flag.String("handbook", "",
		"folder of the package debian-handbook, with a folder for each language")
	postgres := flag.String("postgres", "",
		"URL of a database for PostgreSQL's own search; empty: it is left out")
	flag.Parse()
	if err := run(context.Background(), *sets, *handbook, *postgres); err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

// run measures every engine on every set, and prints a table. It returns an error if a set cannot
// be read or a search fails.
func run(ctx context.Context, folder, handbook, postgres string) error {
	sets, err := readSample("../tools/kb")
	if err != nil {
		return err
	}
	more, err := readSQuAD(folder)
	if err != nil {
		return err
	}
	manual, err := readHandbook(handbook)
	if err != nil {
		return err
	}
	engines := all(postgres)
	fmt.Println("| set | passages | questions |" + heads(engines))
	fmt.Println("|---|---|---|" + strings.Repeat("---|", len(engines)))
	for _, s := range slices.Concat(sets, more, manual) {
		fmt.Printf("| %s | %d | %d |", s.name, len(s.passages), len(s.questions))
		for _, e := range engines {
			mrr, recall, err := measure(ctx, e, s)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.name, e.name, err)
			}
			fmt.Printf(" %.3f (%.3f) |", mrr, recall)
		}
		fmt.Println()
	}
	return nil
}

// heads returns the names of the engines as the head of a table.
func heads(engines []engine) (text string) {
	for _, e := range engines {
		text += " " + e.name + " |"
	}
	return text
}

// measure returns two figures of an engine for a set. mrr is the mean reciprocal rank: the mean of
// 1/n, where n is the rank of the first right passage. recall is the share of questions with a
// right passage among those that are shown. measure returns an error if a search fails.
func measure(ctx context.Context, e engine, s set) (mrr, recall float64, err error) {
	find, done, err := e.open(ctx, s)
	if err != nil {
		return 0, 0, err
	}
	defer done()
	for _, q := range s.questions {
		found, err := find(q.text)
		if err != nil {
			return 0, 0, fmt.Errorf("%q: %w", q.text, err)
		}
		found = found[:min(shown, len(found))]
		if at := slices.IndexFunc(found, func(i int) bool { return q.right[i] }); at >= 0 {
			mrr += 1 / float64(at+1)
			recall++
		}
	}
	n := float64(len(s.questions))
	return mrr / n, recall / n, nil
}
