package declaration

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/form"
)

// Family is one model family's way of writing, read from its declaration: a field for each kind of
// line, docs/families.md has the table. It does not change once it is read, and knows nothing of
// the families it is read together with, so that any number of replies and sets can share it.
//
//	format  hermes
//	think   <think>\n{reasoning}\n</think>\n\n
//	call    \n<tool_call>\n{call}\n</tool_call>
//	drop    <|im_end|>
//
// has one pattern in Think, one in Calls and a word in Drop.
type Family struct {
	Name   string   // as the declaration's first line says
	Models []string // globs on the model's name, lower case

	// The examples. All of a list are read, the first is printed: models of one name come in
	// versions that differ.
	Think    []*Pattern // marks around reasoning
	Plain    []*Pattern // text lines: marks around a plain reply
	Sections []*Pattern // marks around all calls
	Calls    []*Pattern
	Args     []*Pattern // one argument of {args}
	Form     *form.Form // calls in an arrangement that the examples cannot say; nil for none

	Drop        []string // marks of the turn, removed where they end something
	Result      *Pattern // how a tool's answer is printed; nil when the family does not say
	ResultList  *Pattern // what stands around all answers; nil for nothing
	Layout      Layout   // how calls are printed, where the examples cannot show it
	PromptMarks []string // marks that every prompt ends with: the reply begins behind them
	noise       []string // marks that mean nothing, wherever they stand
	Flags       Flags    // what the family does besides its examples
	Quotes      []string // string delimiters of {pseudo}, the first one printed
	wording     Wording  // how tools are described, zero: not said

	messages
	source
	derived
}

// messages is how a family writes whose reply is messages with headers; others have none of it.
type messages struct {
	Ends    []string // the marks that end a message
	Header  *Pattern // what opens and closes a header
	Message *Pattern // how a call is printed
	Routes  []Route  // what a message is, by its header
}

// derived is what follows from the examples.
type derived struct {
	marks      []Mark     // what begins or ends something in a reply
	headless   []*Pattern // calls whose opening mark is missing
	CloseBytes *[256]bool // first bytes of what can end a tagged value
	ValueStops *[256]bool // bytes at which copying a tagged value stops
	ValueEnds  []string   // marks that end a tagged value, so that it cannot hold them
}

// source is what a family was read from.
type source struct {
	file  string // the text, cases and all
	lines []line // all that it says, what it took over from a cousin in front
}

// What stands around a value that holds markup, in families with flag cdata.
// minicpm5's own template writes them, <param name="content"><![CDATA[a < b]]></param>.
const (
	CDATAOpen  = "<![CDATA["
	CDATAClose = "]]>"
)

// Begun returns the calls and plain replies of a family whose marks are already opened by every
// prompt, without the part that the prompt has written. functionary-v3.2's prompts end with >>>, so
// that its replies begin with a bare name: "get_weather\n{…}" is a call and "all\nHello" is text.
func (f *Family) Begun(list []*Pattern) []*Pattern {
	var out []*Pattern
	for _, p := range list {
		for _, mark := range f.PromptMarks {
			if rest, ok := strings.CutPrefix(p.Parts[0].Lit.Text, mark); ok {
				out = append(out, p.beginningWith(rest))
			}
		}
	}
	return out
}

// prepare builds what is derived from the lines, when all of them are known. A tagged value is
// copied up to the next byte that may end it, so a file of megabytes in an argument costs one
// look-up a byte. Which bytes those are depends on the family: < for most, ] for minimax-m3.
func (f *Family) prepare() {
	if f.Form != nil {
		f.Calls = []*Pattern{formPattern(f)}
	}
	f.CloseBytes = new([256]bool)
	note := func(l Literal) {
		for _, u := range l.Units {
			if u.Kind == Exact {
				f.CloseBytes[u.Byte] = true
				return
			}
		}
	}
	for _, p := range f.Args {
		note(p.Parts[0].Lit)
		closer := p.Parts[p.Hole("value")+1].Lit.Trimmed()
		note(closer)
		note(Literal{Units: closer.Units[1:]}) // its first byte may be missing
	}
	f.ValueEnds, f.marks = f.valueEnds(), f.ownMarks()
	for _, p := range f.Calls {
		for _, l := range p.Close {
			note(l)
		}
		if q := p.WithoutOpener(); q != nil {
			f.headless = append(f.headless, q)
		}
	}
	if f.Flags.CDATA {
		f.CloseBytes[CDATAClose[0]] = true
	}
	f.ValueStops = new([256]bool)
	for c, closes := range f.CloseBytes {
		f.ValueStops[c] = closes || c < ' ' || c == '"' || c == '\\' || c >= 0x80 // what JSON escapes, and what may be no UTF-8
	}
}

// Printed returns a literal as it is printed: with the suffix of the family's checkpoints where it
// has a place for one. Reading takes any suffix, so one family file serves all checkpoints; nothing
// in a request says which of them a model is.
func (f *Family) Printed(text string) string {
	return strings.ReplaceAll(text, SuffixHole, f.Layout.Suffix)
}

// ChannelMark is the mark in front of a channel's name, inside a header or at its start: gpt-oss
// leaves out <|start|> when the prompt has written it, and begins with <|channel|>analysis.
const ChannelMark = "<|channel|>"

// valueEnds returns the marks that end a raw value: those of arguments, and what closes the call. A
// grammar keeps them out of values, since nothing escapes them there. Where one mark contains
// another, the shorter is enough.
//
//	qwen3-coder   <parameter=   </parameter>   </function>
//	glm4          <arg_key>   </arg_value>   </tool_call>
func (f *Family) valueEnds() []string {
	var all []string
	for _, arg := range f.Args {
		all = append(all, strings.TrimSpace(f.Printed(arg.Parts[0].Lit.Text)))
		if last := arg.Parts[len(arg.Parts)-1].Lit.Text; !arg.Keyed() {
			all = append(all, strings.TrimSpace(f.Printed(last)))
		}
	}
	for _, call := range f.Calls {
		if i := call.Hole("args"); i >= 0 && i+1 < len(call.Parts) {
			mark, _, _ := strings.Cut(strings.TrimSpace(f.Printed(call.Parts[i+1].Lit.Text)), "\n")
			all = append(all, mark)
		}
	}
	var shortest []string
	for _, mark := range distinct(all) {
		holds := func(other string) bool { return other != "" && other != mark && strings.Contains(mark, other) }
		if !slices.ContainsFunc(all, holds) {
			shortest = append(shortest, mark)
		}
	}
	return shortest
}
