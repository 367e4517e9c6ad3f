// Package family checks a model family's file as its author would, lists families as documentation
// does, and proposes a declaration for a model by looking at what its template makes of calls.
package family

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"toolnorm/adapters"
	"toolnorm/adapters/derive"
	"toolnorm/chat"
	"toolnorm/internal/golden"
)

// Problem is one thing that a family does not do. Error texts have several lines, what was read and
// what should have been below each other, since differences are in the bytes.
type Problem struct {
	Where string // "case NAME", or what else was tried
	Err   error
}

// Check runs the cases of a family's file: whole and cut in every way, in every degree of holding,
// among all formats and alone. Then it prints calls and reads them again. It gives the number of
// cases and what went wrong, at most one problem a case; an error means that the cases cannot be
// read. It is what `formats test FILE` runs on a user's own file; the tests hold the embedded ones
// to the same. A case that fails in one way mostly fails in all, so one problem a case is enough.
func Check(f *adapters.Format, tools []chat.Tool) (cases int, problems []Problem, err error) {
	list, err := golden.Cases([]byte(f.File()))
	if err != nil {
		return 0, nil, err
	}
	for i := range list {
		if d := checkCase(f, tools, &list[i]); d != nil {
			problems = append(problems, Problem{"case " + list[i].Name, d})
		}
	}
	prints, err := golden.Prints([]byte(f.File()))
	for i := range prints {
		if d := prints[i].Run(f); d != nil {
			problems = append(problems, Problem{"case " + prints[i].Name, d})
		}
	}
	return len(list) + len(prints), append(problems, ReadsBack(f)...), err
}

// checkCase runs one case: whole in every degree of holding, cut in every way, and with the marks
// of no other family. The last is for `--calls strict`, and shows a case that is read by somebody
// else's marks.
func checkCase(f *adapters.Format, tools []chat.Tool, c *golden.Case) error {
	all, alone := adapters.Options{Tools: tools}, adapters.Options{Tools: tools, Alone: true}
	if d := c.Whole(decodeAs(f, all)); d != nil {
		return d
	}
	if d := c.Split(decodeAs(f, all)); d != nil {
		return d
	}
	if d := c.Whole(decodeAs(f, alone)); d != nil && f.Name != "generic" { // which is all families together
		d.How += ", no other family's marks"
		return d
	}
	return nil
}

// decodeAs reads replies in a family. A degree of holding that a case names is translated here,
// since golden does not know package adapters.
func decodeAs(f *adapters.Format, o adapters.Options) golden.Decode {
	return func(in chat.Source, prompt, hold string) iter.Seq2[chat.Event, error] {
		o.Prompt = prompt
		o.Hold = map[string]int{"none": adapters.HoldNone, "short": adapters.HoldShort, "call": adapters.HoldCall}[hold]
		return f.Decode(in, o)
	}
}

// samples are calls that a family must be able to write, and the tools for them. Members are
// sorted, as some families write them. They have what families stumble over: a number beside a
// string, no arguments at all, letters outside ASCII, quotes of both kinds, markup with newlines, a
// list, an object and a boolean.
var (
	sampleTools = []chat.Tool{
		{Name: "get_weather", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`)},
		{Name: "get_time", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
		{Name: "write_file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"mode":{"type":"object"},"new":{"type":"boolean"}}}`)},
	}
	samples = [][]chat.Call{
		{{Name: "get_weather", Args: json.RawMessage(`{"city":"Paris","days":3}`)}},
		{{Name: "get_time", Args: json.RawMessage(`{}`)}},
		{{Name: "get_weather", Args: json.RawMessage(`{"city":"서울 🙂"}`)}, {Name: "get_weather", Args: json.RawMessage(`{"city":"it's \"there\""}`)}},
		{{Name: "write_file", Args: json.RawMessage(`{"content":"if a < b && c {\n\treturn \"x\"\n}","mode":{"read":true},"new":false,"path":"a/b.go","tags":["1","two"]}`)}},
	}
)

// ReadsBack prints calls in the family's form and reads them again: alone, and behind text if they
// begin with a mark. A call without marks behind text needs evidence (docs/calls.md), so only
// marked ones are tried there. A family that loses a call on the way out and in again would lose it
// from every history.
func ReadsBack(f *adapters.Format) (problems []Problem) {
	for _, calls := range samples {
		for _, text := range []string{"", "I look."} {
			raw := string(f.Append([]byte(text), calls...))
			if text != "" && !marked(f, raw[len(text):]) {
				continue
			}
			if err := derive.Reads(f, raw, text, calls, sampleTools); err != nil {
				problems = append(problems, Problem{"printed calls", fmt.Errorf("raw  %q\n%w", raw, err)})
			}
		}
	}
	return problems
}

// marked reports whether a call begins with one of the family's marks. A fence is none: it stands
// on a line of its own.
func marked(f *adapters.Format, call string) bool {
	call = strings.TrimSpace(call)
	return slices.ContainsFunc(f.Marks(), func(mark string) bool { return strings.HasPrefix(call, mark) && mark[0] != '`' })
}
