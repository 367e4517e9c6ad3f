// Package family checks the file of a model family, lists families for the documentation, and
// proposes a declaration for a model from the way in which its template writes calls.
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

// Problem is a failure of a family. Its error text has several lines, with the actual and the
// expected result below each other, since the two may differ in only one byte.
type Problem struct {
	Where string // "case NAME", or the name of another check
	Err   error
}

// Check runs the cases of a family's file and then checks that calls can be printed and read again.
// Each case is decoded whole and split in every way, for each amount of text that a decoder may
// hold back, with and without the tags of other families. Check returns the number of cases and the
// problems. A case has at most one problem, because a case that fails in one way usually fails in
// all. The error is not nil if the cases cannot be read. `formats test FILE` runs Check on a user's
// own file, and the tests run it on the embedded files.
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

// checkCase runs one case and returns the first difference, or nil. The case is decoded whole,
// split in every way, and without the tags of other families. The last is what `--calls strict`
// does, and finds a case that is only read by another family's tags.
func checkCase(f *adapters.Format, tools []chat.Tool, c *golden.Case) error {
	all, alone := adapters.Options{Tools: tools}, adapters.Options{Tools: tools, Alone: true}
	if d := c.Whole(decodeAs(f, all)); d != nil {
		return d
	}
	if d := c.Split(decodeAs(f, all)); d != nil {
		return d
	}
	// generic is all families together
	if d := c.Whole(decodeAs(f, alone)); d != nil && f.Name != "generic" {
		d.How += ", no other family's marks"
		return d
	}
	return nil
}

// decodeAs returns a function that decodes replies by the format f with the options o.
func decodeAs(f *adapters.Format, o adapters.Options) golden.Decode {
	return func(in chat.Source, prompt, hold string) iter.Seq2[chat.Event, error] {
		o.Prompt = prompt
		o.Hold, _ = adapters.ParseHold(hold) // none, short or call
		return f.Decode(in, o)
	}
}

// samples are calls that a family must be able to write, and the tools for them. Members are
// sorted, as some families write them. They include what families often get wrong: a number beside
// a string, no arguments at all, letters outside ASCII, quotes of both kinds, markup with newlines,
// a list, an object and a boolean.
var (
	sampleTools = []chat.Tool{
		{Name: "get_weather", Schema: json.RawMessage(
			`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`)},
		{Name: "get_time", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
		{Name: "write_file", Schema: json.RawMessage(
			`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"mode":{"type":"object"},"new":{"type":"boolean"}}}`)},
	}
	samples = [][]chat.Call{
		{{Name: "get_weather", Args: json.RawMessage(`{"city":"Paris","days":3}`)}},
		{{Name: "get_time", Args: json.RawMessage(`{}`)}},
		{{Name: "get_weather", Args: json.RawMessage(`{"city":"서울 🙂"}`)},
			{Name: "get_weather", Args: json.RawMessage(`{"city":"it's \"there\""}`)}},
		{{Name: "write_file", Args: json.RawMessage(
			`{"content":"if a < b && c {\n\treturn \"x\"\n}","mode":{"read":true},"new":false,"path":"a/b.go","tags":["1","two"]}`)}},
	}
)

// ReadsBack writes sample calls in the family's form, decodes them again and returns the problems.
// Each text is decoded alone and, if it begins with an opening tag, also after other text. A call
// without a tag is not tried after text, because there it would not be taken for a call. A family
// that cannot read its own calls would lose them from every conversation.
func ReadsBack(f *adapters.Format) (problems []Problem) {
	for _, calls := range samples {
		for _, text := range []string{"", "I look."} {
			raw := string(f.Append([]byte(text), calls...))
			if text != "" && !beginsWithMark(f, raw[len(text):]) {
				continue
			}
			if err := derive.Reads(f, raw, text, calls, sampleTools); err != nil {
				problems = append(problems,
					Problem{"printed calls", fmt.Errorf("raw  %q\n%w", raw, err)})
			}
		}
	}
	return problems
}

// beginsWithMark reports whether a call begins with one of the family's tags. A code fence does not
// count, because it must be on a line of its own.
func beginsWithMark(f *adapters.Format, call string) bool {
	call = strings.TrimSpace(call)
	return slices.ContainsFunc(f.Marks(), func(mark string) bool {
		return strings.HasPrefix(call, mark) && mark[0] != '`'
	})
}
