package main

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"

	"toolnorm/internal/clip"
)

// outcome says how a request ended, for example with an answer that fits the schema.
type outcome int

// The outcomes.
const (
	fits outcome = iota // the answer fits
	// the answer fits, but is not the one that the model meant, although nothing was unclear
	other
	short   // the reply says that it was cut
	refused // an error
	unfit   // the answer does not fit
)

// table counts how often each outcome occurred.
type table struct {
	mu    sync.Mutex
	show  int
	rows  map[string]*[5]int // by kind, API and way
	texts map[string][]string
}

// newTable returns a table without results.
func newTable(show int) *table {
	return &table{show: show, rows: map[string]*[5]int{}, texts: map[string][]string{}}
}

// row returns the name of the table row in which the request is counted: how the model server
// answers, which API is used, and whether the answer is streamed.
func (a asked) row() string {
	return fmt.Sprintf("%-24s%-14s%-8s", a.kind.name, a.api.name,
		map[bool]string{true: "stream", false: "whole"}[a.stream])
}

// judge returns the outcome of a request, and a reason for the report.
func (a asked) judge(g given) (o outcome, why string) {
	switch {
	case g.status != 200 || g.err != "":
		return refused, fmt.Sprint(g.status, " ", g.err)
	case g.end != a.api.whole:
		return short, g.end
	}
	if err := a.fits(g.text); err != nil {
		return unfit, err.Error()
	}
	var want, got any
	json.Unmarshal(a.right(), &want)
	json.Unmarshal([]byte(g.text), &got)
	if a.kind.formal && !reflect.DeepEqual(want, got) {
		return other, "meant " + string(a.right())
	}
	return fits, ""
}

// count counts the outcome of a request, and keeps the text of the first ones that were not
// expected.
func (t *table) count(a asked, g given) {
	o, why := a.judge(g)
	t.mu.Lock()
	defer t.mu.Unlock()
	row := t.rows[a.row()]
	if row == nil {
		row = new([5]int)
		t.rows[a.row()] = row
	}
	row[o]++
	expected := o == fits || o == refused && a.kind.hopeless ||
		o == short && (a.kind.cut || a.kind.hopeless)
	key := fmt.Sprint(a.kind.name, o)
	if !expected && len(t.texts[key]) < t.show {
		t.texts[key] = append(t.texts[key], fmt.Sprintf(
			"%s %s %s, answer %d\n    %s\n    schema %.600s\n    got %q %s\n", a.row(), a.Source,
			a.Name, a.long, why, a.Schema, clip.To(g.text, 1500), g.end))
	}
}

// print prints the table, and the texts that were not expected.
func (t *table) print(w io.Writer, schemas int) {
	fmt.Fprintf(w, "%d schemas\n%-24s%-14s%-8s%8s%8s%8s%8s%8s\n", schemas, "server", "API", "way",
		"fits", "other", "cut", "refused", "UNFIT")
	for _, k := range kinds {
		for _, p := range apis {
			for _, stream := range []bool{false, true} {
				name := asked{kind: k, api: p, stream: stream}.row()
				if row := t.rows[name]; row != nil {
					fmt.Fprintf(w, "%s%8d%8d%8d%8d%8d\n", name, row[fits], row[other], row[short],
						row[refused], row[unfit])
				}
			}
		}
	}
	for _, k := range kinds {
		for o := other; o <= unfit; o++ {
			for _, text := range t.texts[fmt.Sprint(k.name, o)] {
				fmt.Fprintln(w, text)
			}
		}
	}
}

// pageHead is the beginning of the page, a format.
const pageHead = `# Structured output

What becomes of answers under response_format: %d schemas of real APIs and SDKs (bench/forms/data/SOURCES.md says from where),
two answers of each, through six APIs, streamed and whole, in front of model servers that treat the schema in different ways.
Each answer is checked by a validator that toolnorm does not use (github.com/google/jsonschema-go); the seeds of what the models do wrong are %s.
"Another" is an answer that fits and is not what the model meant, where nothing was unclear. "Cut" are replies that say so themselves
(%slength%s). "make forms" writes this page.

| the server | API | asked | fit | another | cut | an error | do not fit |
|---|---|--:|--:|--:|--:|--:|--:|
`

// markdown returns the table as a page in Markdown.
func (t *table) markdown(schemas int, seeds string) string {
	var b strings.Builder
	fmt.Fprintf(&b, pageHead, schemas, seeds, "`", "`")
	for _, k := range kinds {
		for _, p := range apis {
			var sum [5]int
			asks := 0
			for _, stream := range []bool{false, true} {
				if row := t.rows[asked{kind: k, api: p, stream: stream}.row()]; row != nil {
					for o, n := range row {
						sum[o] += n
						asks += n
					}
				}
			}
			if asks == 0 {
				continue
			}
			fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d | %d |\n", k.name, p.name, asks,
				sum[fits], sum[other], sum[short], sum[refused], sum[unfit])
		}
	}
	return b.String()
}

// sum returns how often the outcome o occurred. It includes only the kinds of replies for which the
// function of returns true.
func (t *table) sum(o outcome, of func(kind) bool) (n int) {
	for _, k := range kinds {
		for name, row := range t.rows {
			if of(k) && strings.HasPrefix(name, fmt.Sprintf("%-24s", k.name)) {
				n += row[o]
			}
		}
	}
	return n
}

// unfit returns the number of answers that do not fit.
func (t *table) unfit() int { return t.sum(unfit, func(kind) bool { return true }) }

// breaches returns an error if an answer does not fit or differs from the one that was meant, or if
// more than one of a hundred requests is not answered. Otherwise it returns nil.
func (t *table) breaches() error {
	hopeful := func(k kind) bool { return !k.hopeless && !k.cut }
	answered, lost := t.sum(fits, hopeful), t.sum(refused, hopeful)+t.sum(short, hopeful)
	wrong := t.sum(other, hopeful)
	if t.unfit() > 0 || wrong > 0 || lost*100 > answered+lost {
		return fmt.Errorf(
			"%d answers do not fit, %d are not what was meant, %d of %d were not given", t.unfit(),
			wrong, lost, answered+lost)
	}
	return nil
}
