package derive

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// If examples cannot express a template's calls, a form is searched for that reads what the
// template prints. Calls whose parts are words that occur nowhere else show the positions of the
// parts; two calls show the texts around them; and the ways to write values are tried until every
// rendered call is read back correctly.

// formTools lists the tools of the calls with which a form is searched for.
var formTools = []chat.Tool{
	{Name: "fetch_gnus", Description: "Fetches gnus.", Schema: []byte(
		`{"type":"object","properties":{"lemur":{"type":"string","description":"Which."},"okapi":{"type":"string","description":"Where."}},"required":["lemur","okapi"],"additionalProperties":false}`)},
	{Name: "count_emus", Description: "Counts emus.", Schema: []byte(
		`{"type":"object","properties":{"ibis":{"type":"integer","description":"How many."},"kiwi":{"type":"boolean","description":"Whether."},"moa":{"type":"number","description":"How much."}},"required":["ibis","kiwi","moa"],"additionalProperties":false}`)},
	{Name: "store_yaks", Description: "Stores yaks.", Schema: []byte(
		`{"type":"object","properties":{"newt":{"type":"array","items":{"type":"string"},"description":"Names."},"oryx":{"type":"object","description":"More."}},"required":[],"additionalProperties":false}`)},
	{Name: "greet_bats", Description: "Greets bats.", Schema: []byte(
		`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)},
}

// formProbe returns a call with the given name and arguments. It is the n-th call of its turn, and
// the number decides the call's id.
func formProbe(n int, name, args string) chat.Call {
	return chat.Call{ID: "Zq000000" + strconv.Itoa(n), Name: name, Args: json.RawMessage(args)}
}

// gnus lists calls of one tool that differ only in their values and the lengths of their values.
var gnus = []chat.Call{
	formProbe(1, "fetch_gnus", `{"lemur": "wombat", "okapi": "numbat"}`),
	formProbe(2, "fetch_gnus", `{"lemur": "dingo", "okapi": "quoll"}`),
	formProbe(3, "fetch_gnus", `{"lemur": "bilby", "okapi": "gecko"}`),
}

// formTurns lists the turns of calls that a form must read back.
var formTurns = [][]chat.Call{
	gnus[:1], gnus[:2], gnus,
	{formProbe(1, "fetch_gnus", `{"lemur": "it's \"q\" \\ é", "okapi": "a < b && c\n  d\n"}`)},
	{formProbe(1, "count_emus", `{"ibis": 7531, "kiwi": true, "moa": -2.5}`)},
	{formProbe(1, "store_yaks", `{"newt": ["ant", "b e e"]}`)},
	{formProbe(1, "store_yaks",
		`{"newt": ["ant"], "oryx": {"p": "cat", "q": {"r": ["dog", 5, false], "s": "eel"}}}`)},
	{formProbe(1, "greet_bats", `{}`)},
	{formProbe(1, "count_emus", `{"ibis": 7531, "kiwi": false, "moa": 0.5}`),
		formProbe(2, "greet_bats", `{}`),
		formProbe(3, "fetch_gnus", `{"lemur": "wombat", "okapi": "numbat"}`)},
}

// escapedTurn is a call whose value looks as if it had escapes. A format that reads them as escapes
// is used only if no form reads the value as it is.
var escapedTurn = []chat.Call{formProbe(1, "fetch_gnus",
	`{"lemur": "one\\ntwo", "okapi": "numbat"}`)}

// The indices in formTurns of a call with nested objects, and of one without arguments.
const deepTurn, bareTurn = 6, 7

// printer renders calls with a template.
type printer struct {
	stage
	results bool     // results follow the calls, and not a request
	fillers []string // the texts before calls without reasoning
	printed map[string]string
}

// show returns the part of a rendered turn that contains its calls, or "" if the template refuses
// the calls.
func (p *printer) show(calls ...chat.Call) string {
	key := callsText(calls)
	text, ok := p.printed[key]
	if ok || len(calls) == 0 {
		return text
	}
	follows := request(0)
	if p.results {
		follows = nil
		for _, c := range calls {
			follows = append(follows, chat.Message{Role: chat.ToolRole, Content: probeResult,
				Name: c.Name, CallID: c.ID})
		}
	}
	turn := func(m chat.Message) string {
		m.Role = chat.Assistant
		text, _ := p.conversation(append([]chat.Message{m}, follows...)...)
		return text
	}
	if spoken, called := turn(chat.Message{Content: probeText}),
		turn(chat.Message{Calls: calls}); spoken != "" && called != "" {
		text = difference(spoken, called)
		for _, filler := range p.fillers {
			text = trimSpaced(text, filler)
		}
	}
	p.printed[key] = text
	return text
}

// arranged searches for a form (lines of a declaration) that describes how a template prints calls.
// It returns the finding for the first form that reads all test turns. If there is none, it returns
// ErrForm, with the error of the form that read the most turns.
func (o *observed) arranged(model string, set *adapters.Set, p *printer) (*Finding, error) {
	one, two := p.show(gnus[0]), p.show(gnus[:2]...)
	if one == "" {
		return nil, fmt.Errorf("%w: it cannot be told from the rest of the turn", ErrForm)
	}
	var last error
	most := -1
	for _, lines := range arrangements(p, one, two, o.glue) {
		text := heading(model) + o.markLines() + lines + o.dropLine()
		if o.spoken != "" {
			text += "flag    marked\n"
		}
		f, n, err := p.tried(set, text)
		// a call without arguments has a line of its own
		if bare := p.bareCall(lines); err != nil && n == bareTurn && bare != "" {
			text += bare
			f, n, err = p.tried(set, text)
		}
		if n < most {
			continue
		}
		most = n
		if err == nil {
			return &Finding{Lines: text, Format: f, Shown: []string{one},
				Result: strings.ReplaceAll(o.result, probeResult, "…")}, nil
		}
		last = fmt.Errorf("its calls are read otherwise\n%w\n%s", err, lines)
	}
	if last == nil {
		return nil, cmp.Or(o.unsaid, ErrForm)
	}
	return nil, fmt.Errorf("%w: %w", ErrForm, last)
}

// turns returns the turns of formTurns, with nil for those that the template cannot print in full.
// For example, MiniCPM5's template, as llama-server renders it, prints nothing for an object, and
// nothing between the elements of a list. In that case the turns with nested values are nil.
func (p *printer) turns() [][]chat.Call {
	deep := p.show(formTurns[deepTurn]...)
	if deep == "" || strings.Contains(deep, "cat") && strings.Contains(deep, "eel") {
		return formTurns
	}
	return slices.Concat(formTurns[:deepTurn-1], make([][]chat.Call, 2), formTurns[bareTurn:])
}

// tried parses a declaration and tests its format on the test turns. It returns the format and the
// number of turns that the format reads before the first error, with that error. If the declaration
// cannot be parsed, it returns that error.
func (p *printer) tried(set *adapters.Set, text string) (*adapters.Format, int, error) {
	f, err := set.Parse([]byte(text))
	if err != nil {
		return nil, 0, err
	}
	n, err := p.readsTurns(f)
	return f, n, err
}

// bareCall returns the call line for a call without arguments, or "" if the template does not print
// the name of such a call. The parameter lines has the other form lines. If one of them already has
// the texts around all calls, these texts are left out of the call line.
func (p *printer) bareCall(lines string) string {
	text := escapeLiteral.Replace(strings.TrimLeft(p.show(formTurns[bareTurn]...), "\n "))
	if strings.Count(text, "greet_bats") == 0 {
		return ""
	}
	if around := aroundCalls.FindStringSubmatch(lines); around != nil {
		blank := strings.NewReplacer(`\s`, " ")
		text = strings.TrimPrefix(text, blank.Replace(around[1]))
		text = strings.TrimSuffix(text, blank.Replace(around[2]))
	}
	text = strings.NewReplacer("greet_bats", "{name}", "Zq0000001", "{id}").Replace(text)
	return "form    call " + markEdges(text) + "\n"
}

// aroundCalls matches the line about the text around calls, without the newlines before it.
var aroundCalls = regexp.MustCompile(`form    calls (?:\\n)*(.*?)\{call\}.*\{call\}(.*)`)

// printer returns a printer that renders calls with the template, in the same kind of conversation
// as this observation: either results follow the calls, or a new request does.
func (o *observed) printer(render Render) *printer {
	return &printer{stage: stage{render: render, tools: formTools}, results: o.answered,
		printed: map[string]string{}, fillers: o.fillers}
}

// misread returns an error for each turn in which a format reads a call that was not rendered.
// Missed calls are not errors.
func (p *printer) misread(f *adapters.Format) (wrong []error) {
	for _, calls := range p.turns() {
		if err := p.otherwise(f, calls); err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

// content reports whether a declaration whose format reads calls while they arrive is good enough.
// If it is not, one with form lines is searched for, whose format reads only whole calls. The
// format must read the test turns, and must not be misled by values that contain calls. The latter
// is not tested for arguments in tags that close as in XML, since their reader handles such values
// well.
func (p *printer) content(f *Finding) bool {
	for _, calls := range p.turns() {
		if text := p.show(calls...); text != "" &&
			readsAs(f.Format, text, "", calls,
				adapters.Options{Tools: formTools, Alone: true}) != nil {
			return false
		}
	}
	return !aTag.MatchString(f.Lines) || p.misled(f.Format) == nil
}

// aTag matches an arg line whose value does not end with a closing tag.
var aTag = regexp.MustCompile(`(?m)^arg .*\{value\}(?:\\n)*(?:[^<\\]|<[^/]|\\[^n])`)

// readsTurns tests a format on the test turns. It returns how many turns precede the first one that
// the format does not read, or does not print as the template does, and an error for that turn. If
// there is no such turn, it returns the error of misled, or of a turn with escapes.
func (p *printer) readsTurns(f *adapters.Format) (int, error) {
	for n, calls := range p.turns() {
		text := p.show(calls...)
		if text == "" {
			continue // the template refuses this turn
		}
		if err := readsAs(f, text, "", calls,
			adapters.Options{Tools: formTools, Alone: true}); err != nil {
			return n, err
		}
		if got := string(f.Append(nil, calls...)); !begins(plain(text), plain(got)) {
			return n, fmt.Errorf("printed calls differ from the template's\ngot  %q\nwant %q", got,
				text)
		}
	}
	return len(formTurns), cmp.Or(p.misled(f), p.otherwise(f, escapedTurn))
}

// misled prints calls that have the text of a call as a value, and returns an error if the format
// reads other calls from what was printed. It is no error if the format reads no call at all, since
// without escapes such a text is ambiguous.
func (p *printer) misled(f *adapters.Format) error {
	whole, other := p.show(gnus[0]),
		p.show(formProbe(1, "count_emus", `{"ibis": 7531, "kiwi": true}`))
	for _, value := range []string{whole, behind(whole, "wombat"), "`" + whole + "`\n" + whole,
		other, "`" + strings.TrimSpace(other) + "`", behind(other, "7531")} {
		for _, args := range []string{`{"lemur": %s, "okapi": "numbat"}`,
			`{"lemur": "wombat", "okapi": %s}`} {
			calls := []chat.Call{
				formProbe(1, "fetch_gnus", fmt.Sprintf(args, chat.AppendQuoted(nil, value)))}
			if err := p.otherwise(f, calls); err != nil {
				return err
			}
		}
	}
	return nil
}

// behind returns the text after the first occurrence of a word, or "" if the word does not occur.
func behind(text, word string) string {
	_, rest, _ := strings.Cut(text, word)
	return rest
}

// otherwise returns an error if a format reads, in the text of a turn, a call that is not one of
// the turn's calls. It returns nil if the format misses calls or fails.
func (p *printer) otherwise(f *adapters.Format, calls []chat.Call) error {
	text := p.show(calls...)
	reply, err := read(f, text, formTools)
	if text == "" || err != nil {
		return nil
	}
	for _, c := range reply.Calls {
		if !slices.ContainsFunc(calls, func(d chat.Call) bool {
			return d.Name == c.Name && same(d.Args, c.Args)
		}) {
			return fmt.Errorf("a value of the template's calls is read otherwise\ngot  %s\nwant %s",
				callsText(reply.Calls), callsText(calls))
		}
	}
	return nil
}

// markLines returns the think and text lines of a declaration, which do not depend on the calls. It
// returns "" if no marks around reasoning and text are known.
func (o *observed) markLines() string {
	var b strings.Builder
	for _, line := range []struct {
		kind, text, probe, placeholder string
	}{{"think", o.thought, probeThink, "reasoning"}, {"text", o.spoken, probeText, "text"}} {
		if before, after, ok := strings.Cut(line.text, line.probe); ok {
			fmt.Fprintf(&b, "%-7s %s{%s}%s\n", line.kind, example(before), line.placeholder,
				example(after))
		}
	}
	return b.String()
}

// dropLine returns the "drop" line of a declaration, which lists the marks that end turns, or "" if
// there are none.
func (o *observed) dropLine() string {
	var ends []string
	for _, mark := range o.ends {
		if len(mark) > 1 && !strings.ContainsAny(mark, " \n") {
			ends = append(ends, mark)
		}
	}
	if len(ends) == 0 {
		return ""
	}
	return "drop    " + strings.Join(ends, " ") + "\n"
}
