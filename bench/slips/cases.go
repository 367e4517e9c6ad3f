package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"time"

	"toolnorm/bench/arena/input"
	"toolnorm/chat"
)

// Case is a text with a call, as an input of the program arena, which compares readers.
type Case = input.Case

// plainArgs are the arguments of the plain call, which shows whether a reader can read a family at
// all.
const plainArgs = `{"path": "notes.txt", "start_line": 3}`

// asInput returns a test case of the arena, which compares programs that read calls. The case has
// the given text and the calls that were meant in it, which a program should find.
func asInput(g *family, row, id, text string, calls ...*frame) Case {
	c := Case{ID: row + "/" + g.Name + "/" + id, Row: row, Format: g.Name, ToolSet: "slips",
		Text: text}
	for _, w := range calls {
		c.Want = append(c.Want, input.Call{Name: w.tool.Name, Arguments: w.meant()})
	}
	return c
}

// alone returns the case c with the text of the call's arguments added, for programs that read only
// the arguments of a call. If the arguments are not in JSON, it returns c unchanged.
func alone(c Case, g *family, w *frame) Case {
	if args, ok := w.argumentsIn(c.Text); ok && g.notation == jsonArgs {
		c.Alone = &input.Alone{Name: w.tool.Name, Text: args}
	}
	return c
}

// cleanCase returns a case with a call that has no mistakes in it. Cases with mistakes are made
// from it later, and name it as their base.
func cleanCase(g *family, w *frame, n int) Case {
	c := asInput(g, "clean", fmt.Sprint(n), w.fill(), w)
	c.Base = plainID(g)
	return alone(c, g, w)
}

// slipCase returns a test case for the program arena: the text of a call with slips, the small
// mistakes of models, of the given kind. Its base is the last case without slips. Only readers that
// read the base right are tested with the case.
func (t *sitting) slipCase(w *frame, kind, text string) Case {
	c := asInput(t.g, "slips", fmt.Sprint(len(t.cases)), text, w)
	c.Note = kind
	for i := len(t.cases) - 1; i >= 0 && c.Base == ""; i-- {
		if t.cases[i].Row == "clean" {
			c.Base = t.cases[i].ID
		}
	}
	return alone(c, t.g, w)
}

// writeCases writes the texts of all measurements into a file, as input for the program arena,
// which compares readers. It returns an error if the file cannot be written.
func (l *lab) writeCases(s *settings) error {
	l.collect = true
	var all []Case
	put := func(cases ...Case) { all = append(all, cases...) }
	l.eachFamily(func(g *family) func() {
		made := []Case{plainCase(g)}
		for _, seed := range s.seeds {
			for _, c := range l.measureSlips(g, seed, s.rounds).cases {
				c.ID = fmt.Sprintf("%s/%d", c.ID, seed)
				if c.Row == "slips" {
					c.Base = fmt.Sprintf("%s/%d", c.Base, seed)
				}
				made = append(made, c)
			}
		}
		made = append(made, l.streamCases(g, made)...)
		made = append(made, l.cutCases(g, s)...)
		made = append(made, l.inventedCases(g, s)...)
		return func() { put(made...) }
	})
	put(l.fileCases(s)...)
	put(l.costCases()...)
	return input.Write(s.cases, all, map[string][]chat.Tool{"slips": l.offered})
}

// plainID returns the id of a family's plain case. That case has the call from which other cases of
// the family are made.
func plainID(g *family) string { return "plain/" + g.Name }

// plainCase returns the case with the simplest call of a family.
func plainCase(g *family) Case {
	text := string(g.Append(nil, chat.Call{ID: "call00001", Name: "read_file",
		Args: []byte(plainArgs)}))
	return Case{ID: plainID(g), Row: "plain", Format: g.Name, ToolSet: "slips", Text: text,
		Want: []input.Call{{Name: "read_file", Arguments: plainArgs}}}
}

// streamCases returns cases in which a text is read in pieces. It takes the texts from the
// parameter from: all texts without slips (the small mistakes of models), and some with slips. Each
// text comes twice: in pieces like tokens and in single characters.
func (l *lab) streamCases(g *family, from []Case) (all []Case) {
	slips := 0
	for _, c := range from {
		if c.Row == "slips" {
			if slips++; slips%12 > 0 {
				continue
			}
		}
		if len(c.Text) > 1200 {
			continue // some readers read all of it again at each piece
		}
		base := c.ID
		if c.Row == "slips" {
			base = c.Base
		}
		for way, cut := range []string{"tokens", "characters"} {
			d := c
			d.ID, d.Row, d.Base, d.Alone, d.Stream = fmt.Sprintf("stream/%s/%s", cut, c.ID),
				"stream", base, nil, true
			d.Like, d.Note = c.ID, strings.TrimSpace(cut+" "+c.Note)
			if d.Deltas = tokenLike.FindAllString(c.Text, -1); way == 1 {
				d.Deltas = strings.Split(c.Text, "")
			}
			all = append(all, d)
		}
	}
	return all
}

// cutCases returns cases with texts that end in the middle of a call. From such a text a program
// must read only the calls before the cut, or none.
func (l *lab) cutCases(g *family, s *settings) (all []Case) {
	l.eachToCut(g, s.seeds[0], s.rounds, func(one, two *frame, text string) {
		calls := []*frame{one}
		if two != nil {
			calls = append(calls, two)
		}
		step := max(1, len(text)/40)
		for at := step; at < len(text); at += step {
			if cut := strings.ToValidUTF8(text[:at], ""); cut != "" {
				c := asInput(g, "truncation", fmt.Sprintf("%d/%d", len(all), at), cut, calls...)
				c.Base, c.Prefix, c.Finish = plainID(g), true, cutEnds[len(all)%2]
				all = append(all, c)
			}
		}
	})
	return all
}

// inventedCases returns cases with two calls and a result between them that the model made up, and
// cases with two calls and no such result.
func (l *lab) inventedCases(g *family, s *settings) (all []Case) {
	l.eachInvented(g, s.seeds[0], 1, func(_ *rand.Rand, form string, one, two *frame,
		whole string) {
		calls := []*frame{one}
		if isControl(form) {
			calls = append(calls, two)
		}
		c := asInput(g, "invented", fmt.Sprint(len(all)), whole, calls...)
		c.Base, c.Note = plainID(g), form
		all = append(all, c)
	})
	return all
}

// fileCases returns cases with real files as arguments, each in the form of every family.
func (l *lab) fileCases(s *settings) (all []Case) {
	// There is enough time, so the choice of files does not depend on it.
	plain, hard := realFiles(s.roots, s.files, l.marks(), source(s.seeds[0], "files"), time.Hour)
	tool := l.named("save_file")
	for n, path := range append(hard, plain...) {
		text, err := os.ReadFile(path)
		if err != nil || len(text) > 12<<10 {
			continue
		}
		content, _ := json.Marshal(string(text)) // a string cannot fail
		args := fmt.Sprintf(`{"path": "a.txt", "content": %s}`, content)
		for _, g := range l.families {
			c := asInput(g, "files", fmt.Sprint(n),
				string(g.Append(nil, chat.Call{ID: "call00001", Name: tool.Name,
					Args: []byte(args)})))
			c.Base, c.Want = plainID(g), []input.Call{{Name: tool.Name, Arguments: args}}
			all = append(all, c)
		}
	}
	return all
}

// costCases returns cases with long calls, in pieces like tokens.
func (l *lab) costCases() (all []Case) {
	for _, g := range l.families {
		if g.Name != "hermes" && g.Name != "llama3" && g.Name != "qwen3-coder" &&
			g.Name != "glm4.7" {
			continue
		}
		for _, size := range []int{4 << 10, 16 << 10} {
			content := strings.Repeat("func add(a, b int) int {\n\treturn a + b // the sum\n}\n\n",
				size/50+1)[:size]
			quoted, _ := json.Marshal(content) // a string cannot fail
			args := fmt.Sprintf(`{"path": "a.go", "content": %s}`, quoted)
			c := asInput(g, "cost", fmt.Sprint(size),
				string(g.Append(nil, chat.Call{ID: "call00001", Name: "save_file",
					Args: []byte(args)})))
			c.Base, c.Stream, c.Deltas = plainID(g), true, tokenLike.FindAllString(c.Text, -1)
			c.Want = []input.Call{{Name: "save_file", Arguments: args}}
			all = append(all, c)
		}
	}
	return all
}
