package models

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"toolnorm/internal/exam"
)

// Report is what docs/evidence/models.md is made of.
type Report struct {
	Machine  string // one line
	Versions string // one line
	Prompts  []exam.Question
	Rows     []Row // in the order of the table, whole
}

// Write writes the report as a page of Markdown. Everything is made of the rows, so a page can be
// written again from saved rows without asking a model.
func (r Report) Write(w io.Writer) {
	calls, plain := 0, 0
	for _, p := range r.Prompts {
		calls += count(len(p.Want) > 0)
		plain += count(len(p.Want) == 0)
	}
	fmt.Fprintf(w, head, calls, plain, maxTokens, r.Machine, r.Versions)
	fmt.Fprintf(w, "Load average while measuring: %s. Revision: %s.\n\n", r.loads(), r.revisions())
	r.scores(w)
	r.misses(w)
}

const head = `# Real small models

Written by ` + "`make e2e-models`" + `; do not edit. The prompts, the five tools and the calls that count as right are files in
` + "`e2e/models`" + `: %d prompts want a call, %d want none. Temperature 0, at most %d tokens a reply, streamed, no system text, one thread a model.

Machine: %s.
Versions: %s.

- **right tool**: just the tools that were wanted were called, and no others
- **right arguments**: and each with the arguments that were wanted, and no others
- **false calls**: prompts that want none and drew one
- **seconds**: median time of a whole reply. They depend on the machine and on what else it did; compare neighbours only.

`

// loads returns the lowest and the highest of the rows' load averages.
// Rows may come from several runs, so there is one load for each.
func (r Report) loads() string {
	var all []float64
	for _, row := range r.Rows {
		all = append(all, row.Load)
	}
	if len(all) == 0 {
		return "not known"
	}
	return fmt.Sprintf("%.0f to %.0f", slices.Min(all), slices.Max(all))
}

// revisions returns the revisions of toolnorm that were measured.
func (r Report) revisions() string {
	var all []string
	for _, row := range r.Rows {
		if !slices.Contains(all, row.Revision) {
			all = append(all, row.Revision)
		}
	}
	return strings.Join(all, ", ")
}

// scores writes a table for each setup, which is a model with its template. The table has one row
// for each way of reading the model's calls. In r.Rows, the rows of a setup must be next to each
// other.
func (r Report) scores(w io.Writer) {
	setup := ""
	for i, row := range r.Rows {
		if row.Setup != setup {
			setup = row.Setup
			fmt.Fprintf(w,
				"## %s\n\n| calls read by | right tool | right arguments | false calls | errors | seconds |\n|---|--:|--:|--:|--:|--:|\n", setup)
		}
		s := ScoreOf(r.Prompts, row.Answers)
		fmt.Fprintf(w, "| %s | %d of %d | %d of %d | %d of %d | %d | %.1f |\n", row.name(), s.Tools,
			s.Calls, s.Arguments, s.Calls, s.False, s.Plain, s.Errors, s.Median)
		if i+1 == len(r.Rows) || r.Rows[i+1].Setup != setup {
			fmt.Fprintln(w)
		}
	}
}

// name returns the row's name in the report: the field Way. If toolnorm could choose how to call
// the model, the name of the strategy that it chose follows in brackets.
func (r Row) name() string {
	if len(r.Answers) > 0 && r.Answers[0].Strategy != "" &&
		!strings.Contains(r.Way, r.Answers[0].Strategy) {
		return r.Way + " (" + r.Answers[0].Strategy + ")"
	}
	return r.Way
}

// mostMisses is how many different wrong replies a row shows.
const mostMisses = 8

// misses writes the wrong replies of each row, so that people can look into them. Prompts that got
// the same reply share a line.
func (r Report) misses(w io.Writer) {
	fmt.Fprint(w,
		"## What went wrong\n\nReplies that are not right, cut to a line: the calls as they were read, else the text.\n")
	for _, row := range r.Rows {
		wrong, drawn := r.wrong(row)
		if len(wrong) > 0 {
			fmt.Fprintf(w, "\n### %s; %s\n\n", row.Setup, row.Way)
		}
		for _, said := range wrong[:min(len(wrong), mostMisses)] {
			fmt.Fprintf(w, "- %s\n  %s\n", strings.Join(drawn[said], " · "), code(said))
		}
		if more := len(wrong) - mostMisses; more > 0 {
			fmt.Fprintf(w, "- and %d more\n", more)
		}
	}
}

// wrong returns the wrong replies of a row, each once, in the order of the prompts. The map drawn
// has, for each of these replies, the prompts that it answers. If a reply answers more than three
// prompts, the map has only their number, because a model that always says the same would fill the
// page.
func (r Report) wrong(row Row) (wrong []string, drawn map[string][]string) {
	drawn = map[string][]string{}
	for i, a := range row.Answers {
		p := r.Prompts[i]
		tools, arguments := p.Mark(a.calls())
		if tools && arguments && a.Error == "" {
			continue
		}
		said := clip(a.said())
		if drawn[said] == nil {
			wrong = append(wrong, said)
		}
		drawn[said] = append(drawn[said], clip(p.Text))
	}
	for said, prompts := range drawn {
		if len(prompts) > 3 {
			drawn[said] = []string{fmt.Sprintf("%d prompts", len(prompts))}
		}
	}
	return wrong, drawn
}

// said returns the error of an answer, its calls, or, if there are none, its text.
func (a Answer) said() string {
	switch {
	case a.Error != "":
		return "error: " + a.Error
	case len(a.Calls) == 0:
		return a.Text
	}
	var b strings.Builder
	for _, c := range a.Calls {
		fmt.Fprintf(&b, "%s %s ", c.Name, oneLine(c.Args))
	}
	return strings.TrimSpace(b.String())
}

// oneLine returns JSON without its line breaks; it leaves other text as it is.
func oneLine(args string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(args)) != nil {
		return args
	}
	return b.String()
}

// code returns text as Markdown's code, with the fence that it needs. Replies of models hold
// backquotes; a fence that is longer than any of them ends where it should (CommonMark, 6.1).
func code(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + " " + s + " " + fence
}

// clip returns text on one line of at most 160 characters. It counts characters, not bytes, so that
// no character is cut in two.
func clip(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "\n", "⏎")
	if r := []rune(s); len(r) > 160 {
		return string(r[:160]) + "…"
	}
	return s
}
