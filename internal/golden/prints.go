package golden

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"toolnorm/chat"
)

// Print is a case of printing: calls of one turn and what answers them, and what the family's
// template makes of both. What stands in it came out of the template of a model, rendered; it says
// what a model saw in its training. Reading and printing have cases of different parts, and one
// file may have both.
type Print struct {
	Name    string
	Text    string // in front of the calls
	First   int    // how many calls the conversation had before
	Calls   []chat.Call
	Results []string // of the calls, in their order
	Want    string   // the text and the calls
	Answers string   // the results
}

// Prints reads the cases of a family file that are printed, in their order. An error names the
// section that is wrong. A case with results must say how they are printed, and one that says it
// must have results.
func Prints(src []byte) ([]Print, error) {
	groups, err := groupCases(src)
	if err != nil {
		return nil, err
	}
	var out []Print
	for _, g := range groups {
		if !g.prints() {
			continue
		}
		p := Print{Name: g.name}
		if err := g.take(p.take, "calls", "printed"); err != nil {
			return nil, err
		}
		if len(p.Calls) == 0 || len(p.Results) > len(p.Calls) ||
			g.has("results") != (len(p.Results) > 0) {
			return nil, fmt.Errorf("section %q must hold calls, and the results that %q prints",
				g.name+": calls", g.name+": results")
		}
		out = append(out, p)
	}
	return out, nil
}

// prints reports whether a group is a case of printing.
func (g *group) prints() bool { return g.has("calls") || g.has("printed") || g.has("results") }

// take sets one part of a case from its section.
func (p *Print) take(part, text string) error {
	switch part {
	case "printed":
		p.Want = text
	case "results":
		p.Answers = text
	case "calls":
		for line := range strings.SplitSeq(text, "\n") {
			if err := p.line(line); err != nil {
				return fmt.Errorf("%q: %w", line, err)
			}
		}
	default:
		return fmt.Errorf("no part %q", part)
	}
	return nil
}

// line reads a line as Transcript writes it, or a result.
func (p *Print) line(line string) (err error) {
	word, value, _ := strings.Cut(line, " ")
	switch word {
	case "text":
		p.Text, err = strconv.Unquote(value)
	case "call":
		err = p.call(value)
	case "result":
		var s string
		s, err = strconv.Unquote(value)
		p.Results = append(p.Results, s)
	case "":
	default:
		return fmt.Errorf("no line %q", word)
	}
	return err
}

// call reads "N NAME {…}" or "N NAME id=ID {…}". The first number says how many calls the
// conversation had before, which families that count calls print (command-r7b).
func (p *Print) call(s string) error {
	number, rest, _ := strings.Cut(s, " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	if len(p.Calls) == 0 {
		p.First = n
	}
	name, args, _ := strings.Cut(rest, " ")
	c := chat.Call{Name: name}
	if id, ok := strings.CutPrefix(args, "id="); ok {
		c.ID, args, _ = strings.Cut(id, " ")
	}
	if c.Args = json.RawMessage(args); !json.Valid(c.Args) || n != p.First+len(p.Calls) {
		return fmt.Errorf("calls are numbered one by one, and their arguments are JSON")
	}
	p.Calls = append(p.Calls, c)
	return nil
}

// Printer writes calls and results as a family does.
// A format of package adapters is one; the interface keeps this package below it.
type Printer interface {
	Number(first int, calls []chat.Call) []chat.Call
	Append(dst []byte, calls ...chat.Call) []byte
	AppendResults(dst []byte, calls []chat.Call, texts []string) []byte
}

// Run prints the case; nil means that it came out as it has to. The results are printed alone: what
// stands around them is the turn's, which templates and servers write. Differences are shown as Go
// literals, since most of them are newlines and blanks.
func (p *Print) Run(f Printer) *Difference {
	calls := f.Number(p.First, p.Calls)
	if got := string(f.Append([]byte(p.Text), calls...)); got != p.Want {
		return &Difference{How: "printed", Raw: p.Text, Got: strconv.Quote(got),
			Want: strconv.Quote(p.Want)}
	}
	if got := string(f.AppendResults(nil, calls, p.Results)); got != p.Answers {
		return &Difference{How: "results printed", Got: strconv.Quote(got),
			Want: strconv.Quote(p.Answers)}
	}
	return nil
}
