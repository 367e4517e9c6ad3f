package declaration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Layout is what a family prints where its examples cannot show it: names of members, what stands
// around several calls, how values are spelled. It comes from the keys line and is read once, so
// that the printer and the grammar ask the same fields instead of the same strings. Reading a reply
// needs none of it: whatever layout a model takes is understood. Each key is there for templates
// that print so; docs/families.md has the list.
type Layout struct {
	Name, Args string // members of {call}; command-r writes "tool_name" and "parameters"
	Counter    string // id=: a member in front that counts the conversation's calls: command-r7b's "tool_call_id": "0"
	ID         string // endid=: a member at the end with the call's own id: mistral-v3's "id": "abc123XY0"
	List       List   // list=: what stands around and between calls that share one hole
	Words      Words  // scalars=, objects=: which values that are no strings are Python's
	Suffix     string // sfx=: what {sfx} prints; hunyuan-v3's open checkpoint says <tool_call:opensource>
	GlueAlways bool   // glue=always: glm4's template prints the newline in front of a call at the start of a reply, too
	EmptyLines bool   // empty=lines: deepseek-v4 keeps both newlines around {args} when there are none
}

// plainLayout is that of a family without a keys line: {"name": …, "arguments": …}, which most
// templates print.
var plainLayout = Layout{Name: "name", Args: "arguments"}

// List is what stands around and between the calls that one hole holds. An example has one call, so
// it cannot show this.
type List uint8

// The lists that templates print. A list that is not declared has brackets around several calls
// only.
const (
	ListOfSeveral List = iota
	ListAlways         // [{…}] for one call, too: mistral-v3, granite3
	ListLines          // a call a line: in brackets where it is JSON (command-r7b), without them in Python (olmo3)
	ListBare           // an object a line, no brackets: minimax-m1
	ListIndent         // json.dumps(indent=4): command-r
)

// Words is which of the values that are no strings are written as Python writes them. Models copy
// what their template shows them of earlier calls, so a history in the wrong words makes for worse
// calls, though all of them are read.
type Words uint8

// The words: JSON's true, or Python's True from a template that prints a value without its JSON
// filter.
const (
	JSONWords     Words = iota
	PythonScalars       // True, False and None by themselves; inside objects and lists JSON's: qwen3-coder
	PythonObjects       // Python's also inside, with its quotes: minicpm5's {'a': True}
)

// layoutWords are the words of the keys that take one of a few, in the order of their values.
var layoutWords = map[string][]string{
	"list":    {"", "always", "lines", "bare", "indent"},
	"scalars": {"json", "python"},
	"objects": {"json", "", "python"},
	"glue":    {"", "always"},
	"empty":   {"", "lines"},
}

// parseLayout reads a keys line: "list=always endid=id". A word that no key takes is an error
// rather than a layout that is silently not printed. Errors list what there is: they are read by
// whoever writes a family file.
func parseLayout(line string) (Layout, error) {
	l := plainLayout
	texts := map[string]*string{"name": &l.Name, "args": &l.Args, "id": &l.Counter, "endid": &l.ID, "sfx": &l.Suffix}
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
			return l, fmt.Errorf("keys has no %s=: it has name, args, id, endid, sfx, list, scalars, objects, glue, empty", key)
		}
		n := slices.Index(known, word)
		if n < 0 || word == "" {
			return l, fmt.Errorf("%s= takes %s, not %q", key, strings.Join(strings.Fields(strings.Join(known, " ")), " or "), word)
		}
		l.set(key, n)
	}
	return l, nil
}

// set applies the n-th word of a key. objects=python says more than scalars=python, whichever comes
// first. The words are given as their place in layoutWords, so a word there and a constant here
// have the same order.
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

// Several is what stands around and between the calls that one hole holds.
type Several struct {
	Open, Comma, Close string
	OneIsBare          bool // a single call stands without Open and Close
	Indented           bool // a member a line, all the way down
}

// Several returns how the calls of hole i are put together. {call} and {calls} hold objects,
// {named} and {python} always a list, since one keyed object or one Python call without brackets
// could be anything. The printer writes it and the grammar allows it and nothing else, so a model
// that is held to the grammar writes what its template would have printed. Python calls without
// list=lines have a list even around a single one: [get_weather(city="Paris")] is lfm2's.
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
	case i > 0 && strings.HasSuffix(p.Parts[i-1].Lit.Text, "["): // phi4 has the bracket in its mark: functools[{…}]
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

// OnLines reports whether hole i is on lines of its own, so that each of several arguments is: the
// newline before {args} is all that an example with a single argument shows of it.
func (p *Pattern) OnLines(i int) bool { return i > 0 && strings.HasSuffix(p.Parts[i-1].Lit.Text, "\n") }

// ClosesOnLine reports whether a newline follows hole i. The newline after {args} belongs to the
// last argument and not to the closer, so there is none without arguments: glm4 prints
// <tool_call>get_time\n</tool_call>, not an empty line between.
func (p *Pattern) ClosesOnLine(i int) bool {
	return i+1 < len(p.Parts) && strings.HasPrefix(p.Parts[i+1].Lit.Text, "\n")
}

// Printed returns literal i of the example as it is printed: "" for a hole, and for the place after
// the last part the newlines that the example ends with. The newline after {args} is not part of
// it, since it goes with the last argument. To write an example, a caller goes through its parts up
// to that place, and puts something into the holes.
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

// Flags are what a family does besides its examples, and reading must know. Each is there for one
// family so far; without it that family's values or texts would come out with a byte too many, or
// its calls not at all.
type Flags struct {
	Blank      bool // one blank behind the mark of a message's body is its tokenizer's: llm-jp's <|message|> {text}
	CDATA      bool // values that hold markup stand in CDATA: minicpm5's <param name="content"><![CDATA[…]]></param>
	Entities   bool // keys in attributes are escaped: kimi-k3's argument key="a &amp; b"
	ThinkCalls bool // calls at the end of closed reasoning are real: trinity was trained to call there
}

// parseFlags reads a flag line, which replaces all flags of the family that this one is like. An
// unknown word is an error and no warning: a flag that is misspelt would be missed in the middle of
// a reply, by nobody.
func parseFlags(line string) (f Flags, err error) {
	flags := map[string]*bool{"blank": &f.Blank, "cdata": &f.CDATA, "entities": &f.Entities, "think-calls": &f.ThinkCalls}
	for _, word := range strings.Fields(line) {
		if flags[word] == nil {
			return f, fmt.Errorf("no flag %q: there are %s", word, strings.Join(slices.Sorted(maps.Keys(flags)), ", "))
		}
		*flags[word] = true
	}
	return f, nil
}
