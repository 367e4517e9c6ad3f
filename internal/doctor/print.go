package doctor

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/ollama/ollama/types/model"
)

// Print writes the report for people, as tables and sentences. Each part has its own column widths,
// so that one long name does not push the whole report to the right. The error is that of w.
func (r *Report) Print(w io.Writer) error {
	p := newPage()
	for _, s := range r.Servers {
		p.server(s)
	}
	if len(r.Settings) > 0 {
		p.title("SETTINGS")
		p.findings(r.Settings...)
	}
	if len(r.MCP) > 0 {
		p.title("OTHER MCP SERVERS")
		p.findings(r.MCP...)
		p.line("")
	}
	if r.Model != nil {
		p.model(r.Model)
	}
	if r.Cut != "" {
		p.line("")
		p.line("Not everything was examined: " + r.Cut + ".")
	}
	return p.print(w)
}

// PrintModels writes the models of all servers as one table, and says what to do about servers
// without models. The error is that of w.
func (r *Report) PrintModels(w io.Writer) error {
	p := newPage()
	headed := false
	for _, s := range r.Servers {
		for _, m := range s.Models {
			if s.Name == demoHost {
				break // they are alike and many, so they are summed up below
			}
			if !headed {
				p.line("MODEL", "SERVER", "FORMAT", "STRATEGY", "TRAINED FOR", "TOOLS")
				headed = true
			}
			p.line(m.Name, r.label(s), m.Format, cmp.Or(m.Strategy, none), m.trained(), m.tools())
		}
	}
	if headed {
		p.title("")
	}
	for _, s := range r.Servers {
		switch {
		case s.Missing != "":
			p.findings(Finding{Problem, r.label(s), s.Missing, ""})
		case len(s.Models) == 0:
			p.findings(s.Findings...)
		case s.Name == demoHost:
			p.demo(s)
		}
	}
	return p.print(w)
}

// label returns the name of a server, with its address if another server of a pool has the same
// name.
func (r *Report) label(s Server) string {
	for _, other := range r.Servers {
		if other.Name == s.Name && other.URL != s.URL {
			return s.Name + " " + s.URL
		}
	}
	return s.Name
}

// trained returns the context length for a cell of a table, or "?" if it is unknown.
func (m Listed) trained() string {
	if m.Trained == 0 {
		return "?"
	}
	return fmt.Sprint(m.Trained)
}

// tools returns a word that says whether a model's template accepts tools: "yes", "no" or "?". It
// is "by prompt" for any other model that writes text, because toolnorm then describes the tools in
// the prompt.
func (m Listed) tools() string {
	switch {
	case slices.Contains(m.Capabilities, string(model.CapabilityTools)):
		return "yes"
	case slices.Contains(m.Capabilities, string(model.CapabilityCompletion)):
		return "by prompt"
	case m.Capabilities == nil:
		return "?"
	}
	return "no"
}

// page is a report that is written to memory first, where writing cannot fail, and printed when it
// is complete.
type page struct {
	*tabwriter.Writer
	text bytes.Buffer
}

// newPage returns an empty page.
func newPage() *page {
	p := new(page)
	p.Writer = tabwriter.NewWriter(&p.text, 0, 0, 2, ' ', 0)
	return p
}

// print writes the page to w. The error is that of w.
func (p *page) print(w io.Writer) error {
	p.Flush()
	_, err := p.text.WriteTo(w)
	return err
}

// line adds a line with the given cells.
func (p *page) line(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.Map(Printable, c)
	}
	fmt.Fprintln(p, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

// Printable returns the character to print for r; it is a function for strings.Map. It replaces
// line breaks, control characters and direction marks, so that a model's text or a file's name
// cannot move the cursor or the columns. An escape sequence could do more than set colours on a
// terminal, and a direction mark can make one name look like another.
func Printable(r rune) rune {
	switch {
	case r == '\n' || r == '\r':
		return '⏎'
	case r < ' ' || r >= 0x7f && r < 0xa0, unicode.Is(unicode.Bidi_Control, r):
		return '·'
	}
	return r
}

// title prints the heading of the next part of the report. It first prints the lines before it, so
// that these and the part have columns of different widths.
func (p *page) title(text string) {
	p.Flush()
	p.line(text)
}

// server prints a server with its findings and models. Unknown properties are left out.
func (p *page) server(s Server) {
	text := "SERVER " + s.Name + ", in this process"
	if s.URL != "" {
		text = "SERVER " + s.Name + " at " + s.URL
	}
	if s.Kind != "" {
		text += ", " + strings.TrimSpace(kinds[s.Kind].title()+" "+s.Version)
	}
	p.title(text)
	if s.Missing != "" {
		p.findings(Finding{Problem, "unreachable", s.Missing, ""})
	}
	if s.Slots > 0 {
		p.findings(Finding{OK, "parallel", plural(s.Slots, "request") + " at a time; others wait",
			""})
	}
	p.findings(s.Findings...)
	for _, l := range s.Loaded {
		p.findings(Finding{OK, "loaded", fmt.Sprintf("%s with %d tokens of context, %s", l.Name,
			l.Context, size(l.Bytes)), ""})
	}
	p.models(s)
	p.line("")
}

// none is printed in cells without a value.
const none = "-"

// kindOf returns a model's family, size and quantization as words.
func kindOf(family, parameters, quantization string) string {
	return strings.Join(strings.Fields(family+" "+parameters+" "+quantization), " ")
}

// models prints a table of a server's models. The models of the demo are all alike, so they get one
// line.
func (p *page) models(s Server) {
	switch {
	case len(s.Models) == 0:
		return
	case s.Name == demoHost:
		p.demo(s)
		return
	}
	p.title("")
	p.line("  MODEL", "SIZE", "KIND", "TRAINED FOR", "CAN", "FORMAT", "STRATEGY")
	for _, m := range s.Models {
		p.line("  "+m.Name, size(m.Bytes), cmp.Or(kindOf(m.Family, m.Parameters, m.Quantization),
			none), m.trained(),
			cmp.Or(strings.Join(m.Capabilities, " "), none), m.Format, cmp.Or(m.Strategy, none))
	}
}

// demo prints one line about the models of the demo server, which are all alike: one for each
// format of calls.
func (p *page) demo(s Server) {
	p.findings(Finding{OK, "models", plural(len(s.Models), "model") +
		", one for each format: demo/hermes, …", ""})
}

// findings prints findings in three columns. The consequence of a finding is printed below it,
// after an arrow, since it is often long.
func (p *page) findings(all ...Finding) {
	for _, f := range all {
		p.line("  "+string(f.Level), f.What, f.Found)
		if f.Does != "" {
			p.line("", "", "→ "+f.Does)
		}
	}
}

// model prints the results of asking a model, and then lines for the settings file, ready to be
// copied.
func (p *page) model(m *Model) {
	text := "MODEL " + m.Name
	if kind := kindOf(m.Family, m.Parameters, m.Quantization); kind != "" {
		text += ", " + kind
	}
	if m.Parser != "" {
		text += ", PARSER " + m.Parser
	}
	p.title(text)
	p.findings(m.Findings...)
	if m.Strategy != "" {
		format := m.Format
		if m.Template != "" {
			format += " (its template: " + m.Template + ")"
		}
		p.findings(Finding{OK, "read as", "format " + format + ", strategy " + m.Strategy, ""})
	}
	if m.Speed.Completion > 0 {
		p.findings(Finding{OK, "speed", m.Speed.String(), ""})
	}
	p.ways(m.Ways)
	if m.Settings != "" {
		p.title("")
		p.line("SETTINGS, for the settings file")
		for text := range strings.Lines(m.Settings) {
			p.line("  " + strings.TrimSuffix(text, "\n"))
		}
	}
}

// String returns the speed in words.
func (s Speed) String() string {
	text := fmt.Sprintf("writes %.0f tokens/s", s.Completion)
	if s.Prompt > 0 {
		text += fmt.Sprintf(", reads %.0f tokens/s", s.Prompt)
	}
	return text
}

// ways prints a table that compares the ways of calling. The server's own parser comes first,
// because it is what a client without toolnorm would get.
func (p *page) ways(all []Way) {
	if len(all) == 0 {
		return
	}
	p.title("")
	p.line("  CALLS READ BY", "RIGHT TOOL", "RIGHT ARGUMENTS", "FALSE CALLS", "ERRORS",
		"A REPLY TAKES")
	for _, w := range all {
		name := w.title()
		switch {
		case w.Name == serverWay:
			name = "the server's parser"
		case w.Taken:
			name += " (taken)"
		}
		cells := []string{"  " + name, none, none, none, none, none, w.Note}
		if w.Asked > 0 {
			cells = []string{"  " + name, of(w.Tools, w.Calls), of(w.Arguments, w.Calls),
				of(w.False, w.Plain), fmt.Sprint(w.Errors), seconds(w.Seconds), w.Note}
		}
		p.line(cells...)
	}
	p.misses(all)
}

// mostMisses is how many wrong answers are printed.
const mostMisses = 3

// misses prints what the model wrote for questions that it answered wrongly with the strategy in
// use. With the other strategies the same text would appear again.
func (p *page) misses(all []Way) {
	for _, w := range all {
		if !w.Taken || len(w.Misses) == 0 {
			continue
		}
		p.title("")
		p.line("WRONG")
		for _, m := range w.Misses[:min(len(w.Misses), mostMisses)] {
			p.line("  " + m.Question)
			wrote := m.Wrote
			if m.Error != "" {
				wrote = "error: " + m.Error
			}
			p.line("    " + cmp.Or(short(wrote), none))
		}
	}
}

// short returns the beginning of a text, at most a hundred characters. Models write essays instead
// of a call, and the beginning shows what went wrong.
func short(s string) string {
	if r := []rune(s); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return s
}

// of returns a text such as "3 of 5".
func of(n, all int) string { return fmt.Sprintf("%d of %d", n, all) }

// plural returns a number with a noun, in the plural unless the number is 1.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// seconds returns a time in seconds, with two digits after the point.
func seconds(s float64) string { return fmt.Sprintf("%.2f s", s) }

// size returns a number of bytes in MB or GB. It uses powers of ten as Ollama's own list does, so
// that the two can be compared.
func size(n int64) string {
	switch {
	case n <= 0:
		return none
	case n < 1e9:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
