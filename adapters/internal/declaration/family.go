package declaration

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/form"
)

// Family is one model family's way of writing, read from its declaration. It has a field for each
// kind of line, and docs/families.md has a table of them. A Family does not change after it is
// read, and does not refer to other families of its set, so that any number of replies and sets can
// share it. For example,
//
//	format  hermes
//	think   <think>\n{reasoning}\n</think>\n\n
//	call    \n<tool_call>\n{call}\n</tool_call>
//	drop    <|im_end|>
//
// gives one pattern in Think, one in Calls and a word in Drop.
type Family struct {
	Name   string   // from the declaration's first line
	Models []string // globs for the model's name, in lower case

	// The examples. Replies may match any pattern of a list, because versions of one model differ.
	// The first pattern is printed.
	Think    []*Pattern // marks around reasoning
	Plain    []*Pattern // text lines: marks around a plain reply
	Sections []*Pattern // marks around all calls
	Calls    []*Pattern
	Args     []*Pattern // one argument of {args}
	Form     *form.Form // the form lines, for calls that examples cannot express; may be nil

	Drop        []string // marks of a turn, which are removed at the end of text or a call
	Result      *Pattern // how the result of a tool is printed; nil if not declared
	ResultList  *Pattern // the marks around all results; nil if there are none
	Layout      Layout   // what examples cannot show about how calls are printed
	PromptMarks []string // marks with which every prompt ends, right before the reply
	noise       []string // marks without a meaning, anywhere in a reply
	Flags       Flags    // what the examples cannot show about reading
	Quotes      []string // string delimiters of {pseudo}, of which the first is printed
	wording     Wording  // how tools are described; 0 if not declared

	messages
	source
	derived
}

// messages contains what a declaration says about a family whose replies consist of messages with
// headers. It is empty for other families.
type messages struct {
	Ends    []string // the marks that end a message
	Header  *Pattern // the marks around a header
	Message *Pattern // how a call is printed
	Routes  []Route  // what the body of a message is, depending on its header
}

// derived contains the fields that are computed from the examples.
type derived struct {
	marks      []Mark     // the marks to look for in a reply
	headless   []*Pattern // calls whose opening mark is missing
	CloseBytes *[256]bool // first bytes of marks that can end a value in tags
	ValueStops *[256]bool // bytes at which copying a value in tags stops
	ValueEnds  []string   // marks that end a value in tags, so the value cannot contain them
}

// source is the text from which a family was read.
type source struct {
	file  string // the whole text, with its cases
	lines []line // its lines, after those of the family in its like line
}

// The marks around a value that contains markup, in families with the flag cdata. minicpm5's own
// template writes them: <param name="content"><![CDATA[a < b]]></param>.
const (
	CDATAOpen  = "<![CDATA["
	CDATAClose = "]]>"
)

// Begun returns the patterns in list whose first text is already at the end of the prompt, without
// that text. If there are none, it returns nil. For example, functionary-v3.2's prompts end with
// >>>, so its replies begin with a bare name: "get_weather\n{…}" is a call and "all\nHello" is
// text.
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

// prepare computes the fields that are derived from the lines of a declaration. It must be called
// after all lines are known. CloseBytes has the bytes that may end a value in tags, such as < for
// most families and ] for minimax-m3. A value is copied up to the next such byte, so a file of
// megabytes in an argument costs one look-up for each byte.
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
		closer := p.Parts[p.Index("value")+1].Lit.Trimmed()
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
		// bytes that JSON escapes, that may be invalid UTF-8, or that begin [/tag] and &lt;/tag&gt;
		f.ValueStops[c] = closes || c < ' ' || c == '"' || c == '\\' || c >= 0x80 || c == '[' ||
			c == '&'
	}
}

// Printed returns text, which is a part of an example, with the suffix of the family's tokens in
// place of {sfx}. Reading accepts any suffix, so one family file is enough for all checkpoints of a
// model. A request does not name the checkpoint.
func (f *Family) Printed(text string) string {
	return strings.ReplaceAll(text, SuffixPlaceholder, f.Layout.Suffix)
}

// ChannelMark is the mark before a channel's name, inside a header or at its start. Where the
// prompt has written <|start|>, gpt-oss begins its reply with <|channel|>analysis.
const ChannelMark = "<|channel|>"

// valueEnds returns the texts that end a value which is raw text: those around arguments, and the
// one that closes the call. A grammar does not allow these texts in values, because they cannot be
// escaped there. If one of them contains another, only the shorter is returned.
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
		if i := call.Index("args"); i >= 0 && i+1 < len(call.Parts) {
			mark, _, _ := strings.Cut(strings.TrimSpace(f.Printed(call.Parts[i+1].Lit.Text)), "\n")
			all = append(all, mark)
		}
	}
	var shortest []string
	for _, mark := range distinct(all) {
		holds := func(other string) bool {
			return other != "" && other != mark && strings.Contains(mark, other)
		}
		if !slices.ContainsFunc(all, holds) {
			shortest = append(shortest, mark)
		}
	}
	return shortest
}
