package golden

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"toolnorm/chat"
)

// Print is a printing case: the calls and results of one turn, and how the family's template writes
// both. The expected text was rendered with the template of a model, so it is what the model saw in
// training. Decoding cases and printing cases have different sections, and one file may contain
// both.
type Print struct {
	Name    string
	Text    string // the text before the calls
	First   int    // how many calls the conversation had before this turn
	Calls   []chat.Call
	Results []string // the results of the calls, in order
	Want    string   // the expected text with the calls
	Answers string   // the expected text of the results
}

// Prints returns the printing cases of a family file, in order. The error names the section that is
// wrong. A case must have results if and only if it says how they are printed.
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

// prints reports whether a group tests how a call is printed and not how a text is decoded.
func (g *group) prints() bool { return g.has("calls") || g.has("printed") || g.has("results") }

// take sets one part of a case from its section. It fails if the part is unknown or a line of it is
// malformed.
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

// line reads one line: a text or a call in the notation of Transcript, or a result. It fails if the
// line is malformed.
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

// call reads "N NAME {…}" or "N NAME id=ID {…}". The first call's N is the number of calls that the
// conversation had before; some families (command-r7b) print it. It fails if the numbers are not
// consecutive or the arguments are not JSON.
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

// Printer writes calls, and results of tools, in the form in which a family of models writes and
// reads them. Formats of package adapters implement it; the interface exists so that this package
// need not import adapters.
type Printer interface {
	Number(first int, calls []chat.Call) []chat.Call
	Append(dst []byte, calls ...chat.Call) []byte
	AppendResults(dst []byte, calls []chat.Call, texts []string) []byte
}

// Run prints the case and returns the difference from what is expected, or nil if there is none.
// Only the results themselves are printed, because templates and servers write what surrounds them.
// Differences are shown as Go literals, since most concern newlines and blanks.
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
