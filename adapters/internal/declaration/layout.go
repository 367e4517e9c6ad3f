package declaration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Layout describes how a family's calls are printed, as far as examples cannot show it: the names
// of members, the signs around several calls, the spelling of values. It is parsed from the keys
// line, for the printer and the grammar. The decoder does not use it: it understands every layout.
// Each key exists because some template prints so; docs/families.md has the list.
type Layout struct {
	Name, Args string // members of {call}; command-r writes "tool_name" and "parameters"
	// id=: a first member that counts the conversation's calls: command-r7b's "tool_call_id": "0"
	Counter string
	// endid=: a last member with the call's own id: mistral-v3's "id": "abc123XY0"
	ID    string
	List  List  // list=: the signs around and between calls that share one hole
	Words Words // scalars=, objects=: which values other than strings are Python's
	// sfx=: what {sfx} prints; hunyuan-v3's open checkpoint has <tool_call:opensource>
	Suffix string
	// glue=always: glm4's template prints the newline before a call even at the start of a reply
	GlueAlways bool
	// empty=lines: deepseek-v4 keeps both newlines around {args} when there are no arguments
	EmptyLines bool
}

// plainLayout is the layout of a family without a keys line: {"name": …, "arguments": …}, which
// most templates print.
var plainLayout = Layout{Name: "name", Args: "arguments"}

// List describes the signs around and between the calls in one hole. An example cannot show them,
// since it has only one call.
type List uint8

// The lists that templates print. The default has brackets around several calls only.
const (
	ListOfSeveral List = iota
	ListAlways         // [{…}] for one call, too: mistral-v3, granite3
	ListLines          // one call per line: JSON in brackets (command-r7b), Python without (olmo3)
	ListBare           // one object per line, no brackets: minimax-m1
	ListIndent         // json.dumps(indent=4): command-r
)

// Words selects the values other than strings that are written as in Python. Models copy the
// earlier calls in their prompt, so a history in the wrong words makes their calls worse, although
// all of these can be read.
type Words uint8

// The words: JSON's true, or Python's True from a template that prints a value without its JSON
// filter.
const (
	JSONWords     Words = iota
	PythonScalars       // True, False and None outside of objects and lists: qwen3-coder
	PythonObjects       // inside them too, with Python's quotes: minicpm5's {'a': True}
)

// layoutWords holds the words that some keys are limited to, in the order of their values.
var layoutWords = map[string][]string{
	"list":    {"", "always", "lines", "bare", "indent"},
	"scalars": {"json", "python"},
	"objects": {"json", "", "python"},
	"glue":    {"", "always"},
	"empty":   {"", "lines"},
}

// parseLayout reads a keys line: "list=always endid=id". An unknown key or word is an error, so
// that no setting is ignored silently. Errors list the allowed ones, for the author of the family
// file.
func parseLayout(line string) (Layout, error) {
	l := plainLayout
	texts := map[string]*string{"name": &l.Name, "args": &l.Args, "id": &l.Counter, "endid": &l.ID,
		"sfx": &l.Suffix}
	for _, field := range strings.Fields(line) {
		key, word, ok := strings.Cut(field, "=")
		if !ok {
			return l, fmt.Errorf("keys are written name=word, not %q", field)
		}
		if text := texts[key]; text != nil {
			*text = word
			continue
		}
		known := layoutWords[key]
		if known == nil {
			return l, fmt.Errorf(
				"keys has no %s=: it has name, args, id, endid, sfx, list, scalars, objects, glue, empty", key)
		}
		n := slices.Index(known, word)
		if n < 0 || word == "" {
			return l, fmt.Errorf("%s= takes %s, not %q", key,
				strings.Join(strings.Fields(strings.Join(known, " ")), " or "), word)
		}
		l.set(key, n)
	}
	return l, nil
}

// set applies the n-th word of a key in layoutWords, whose order is that of the constants.
// objects=python includes scalars=python, in any order of the two.
func (l *Layout) set(key string, n int) {
	switch key {
	case "list":
		l.List = List(n)
	case "scalars", "objects":
		l.Words = max(l.Words, Words(n))
	case "glue":
		l.GlueAlways = true
	case "empty":
		l.EmptyLines = true
	}
}

// Several holds the signs around and between the calls in one hole.
type Several struct {
	Open, Comma, Close string
	OneIsBare          bool // a single call has no Open and Close
	Indented           bool // one member per line, at every level
}

// Several returns the signs around and between the calls in hole i. {call} and {calls} contain
// objects. {named} and {python} have brackets even around a single call, since one keyed object or
// one Python call without them could be anything: lfm2 writes [get_weather(city="Paris")]. Python
// calls with list=lines and objects with list=bare have none. The printer writes these signs and
// the grammar allows no others, so under the grammar a model writes what its template would have
// printed.
func (p *Pattern) Several(i int) Several {
	list := p.Family.Layout.List
	switch hole := p.HoleAt(i); {
	case hole == "python" && list == ListLines, hole != "python" && list == ListBare:
		return Several{Comma: "\n"}
	case hole == "named" || hole == "python":
		return Several{Open: "[", Comma: ", ", Close: "]"}
	case list == ListLines:
		return Several{Open: "[\n    ", Comma: ",\n    ", Close: "\n]"}
	case list == ListIndent:
		return Several{Open: "[", Comma: ", ", Close: "]", Indented: true}
	// phi4 has the bracket in its mark: functools[{…}]
	case i > 0 && strings.HasSuffix(p.Parts[i-1].Lit.Text, "["):
		return Several{Comma: ", "}
	}
	return Several{Open: "[", Comma: ", ", Close: "]", OneIsBare: list != ListAlways}
}

// HoldsSeveral reports whether one example prints all calls of a reply, rather than one for each.
// {call} does not: hermes writes two calls as two <tool_call> blocks, while granite3 writes one
// list.
func (p *Pattern) HoldsSeveral() bool {
	return p.Hole("calls") >= 0 || p.Hole("named") >= 0 || p.Hole("python") >= 0
}

// Between returns how many newlines are printed between two calls, at most one: qwen3-coder's call
// begins with two, which follow text, but its template joins calls with one. Newlines at a call's
// own end already count as that one.
func (p *Pattern) Between() int { return max(min(p.Glue, 1)-p.Tail, 0) }

// OnLines reports whether each of several arguments in hole i is on a line of its own. An example
// with a single argument shows this by the newline before {args}.
func (p *Pattern) OnLines(i int) bool {
	return i > 0 && strings.HasSuffix(p.Parts[i-1].Lit.Text, "\n")
}

// ClosesOnLine reports whether a newline follows hole i. The newline after {args} belongs to the
// last argument and not to the closer, so a call without arguments does not have it: glm4 prints
// <tool_call>get_time\n</tool_call>, without an empty line.
func (p *Pattern) ClosesOnLine(i int) bool {
	return i+1 < len(p.Parts) && strings.HasPrefix(p.Parts[i+1].Lit.Text, "\n")
}

// Printed returns literal i of the example as it is printed: "" for a hole, and for i after the
// last part the newlines that the example ends with. The newline after {args} is left out, since it
// belongs to the last argument. To write an example, a caller prints i from 0 to the number of
// parts, and fills in the holes.
func (p *Pattern) Printed(i int) string {
	if i == len(p.Parts) {
		return strings.Repeat("\n", p.Tail)
	}
	text := p.Family.Printed(p.Parts[i].Lit.Text)
	if p.HoleAt(i-1) == "args" {
		text = strings.TrimPrefix(text, "\n")
	}
	return text
}

// Flags are habits of a family that its examples cannot show, but that reading depends on. Each was
// needed by one family so far: without it, values or texts of that family would have a surplus
// byte, or its calls would be missed.
type Flags struct {
	// one blank after the mark of a message's body comes from the tokenizer: llm-jp's <|message|>
	// {text}
	Blank bool
	// values with markup are in CDATA: minicpm5's <param name="content"><![CDATA[…]]></param>
	CDATA    bool
	Entities bool // keys in attributes are escaped: kimi-k3's argument key="a &amp; b"
	// calls at the end of closed reasoning are real: trinity was trained to call there
	ThinkCalls bool
}

// parseFlags reads a flag line, which replaces all flags of the family that this one is like. An
// unknown word is an error: the lack of a misspelt flag would not be noticed later.
func parseFlags(line string) (f Flags, err error) {
	flags := map[string]*bool{"blank": &f.Blank, "cdata": &f.CDATA, "entities": &f.Entities,
		"think-calls": &f.ThinkCalls}
	for _, word := range strings.Fields(line) {
		if flags[word] == nil {
			return f, fmt.Errorf("no flag %q: there are %s", word,
				strings.Join(slices.Sorted(maps.Keys(flags)), ", "))
		}
		*flags[word] = true
	}
	return f, nil
}
