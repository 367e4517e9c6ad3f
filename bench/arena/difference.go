package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"toolnorm/bench/arena/input"
)

// differencesFile is the name of the file in the cache that has all differences of the last run.
const differencesFile = "differences.jsonl"

// difference is an input for which a reader and toolnorm have different outcomes.
type difference struct {
	Reader string       `json:"reader"`
	Row    string       `json:"row"`
	ID     string       `json:"id"`
	Family string       `json:"family"`
	Note   string       `json:"note,omitempty"`
	Text   string       `json:"text"`
	Want   []input.Call `json:"want"`
	Theirs string       `json:"theirs"`
	Calls  []input.Call `json:"calls,omitempty"`
	Error  string       `json:"error,omitempty"`
	Ours   string       `json:"toolnorm"`
	Read   []input.Call `json:"toolnorm_calls,omitempty"`
}

// differences returns the inputs that a program and toolnorm have read with different outcomes.
// Inputs that the program skipped, and those that measure time, are left out.
func (b *board) differences(r *reader) (all []difference) {
	ours := b.answers[b.readers[0]]
	for i, a := range b.answers[r] {
		c, o := b.cases[i], ours[i]
		if a.is == skipped || a.is == o.is || c.Row == "cost" {
			continue
		}
		all = append(all, difference{Reader: r.id, Row: c.Row, ID: c.ID, Family: c.Format,
			Note: c.Note, Text: c.Text, Want: c.Want,
			Theirs: outcomeNames[a.is], Calls: a.calls, Error: a.err, Ours: outcomeNames[o.is],
			Read: o.calls})
	}
	return all
}

// writeDifferences writes all differences into a file, one JSON object per line. It returns an
// error if the file cannot be written.
func (b *board) writeDifferences(name string) error {
	var all []difference
	for _, r := range b.readers[1:] {
		all = append(all, b.differences(r)...)
	}
	return input.WriteLines(name, all)
}

// show prints the inputs that a program and toolnorm have read differently. The parameter which is
// the program's id, or ID/ROW for the inputs of one row of the page. show returns an error if the
// file called name, which has the differences, cannot be read.
func show(name, which string) error {
	id, row, _ := strings.Cut(which, "/")
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("%w; make arena writes it", err)
	}
	defer f.Close()
	lines := json.NewDecoder(bufio.NewReader(f))
	for lines.More() {
		var d difference
		if err := lines.Decode(&d); err != nil {
			return err
		}
		if d.Reader != id || row != "" && d.Row != row {
			continue
		}
		out, _ := json.MarshalIndent(d, "", "  ")
		fmt.Println(string(out))
	}
	return nil
}
