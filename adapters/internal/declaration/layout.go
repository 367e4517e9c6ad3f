package declaration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Layout describes details of a family's printed calls that examples cannot show: the names of
// members, the texts around and between several calls, and how values are written. It is parsed
// from the keys line of the declaration, for the printer and the grammar. The decoder does not use
// it, because it understands every layout. Each key exists because some template prints so.
// docs/families.md lists the keys.
type Layout struct {
	Name, Args string // members of {call}; command-r writes "tool_name" and "parameters"
	// Counter (id=) is a first member that counts the conversation's calls, such as command-r7b's
	// "tool_call_id": "0".
	Counter string
	// ID (endid=) is a last member with the call's own id, such as mistral-v3's "id": "abc123XY0".
	ID    string
	List  List  // list=: the signs around and between calls that share one placeholder
	Words Words // scalars=, objects=: which values other than strings are written as in Python
	// Suffix (sfx=) is what {sfx} prints. hunyuan-v3's open checkpoint has <tool_call:opensource>.
	Suffix string
	// GlueAlways (glue=always) means that the newline before a call is printed even at the start of
	// a reply, as in glm4's template.
	GlueAlways bool
	// EmptyLines (empty=lines) means that both newlines around {args} are printed even without
	// arguments, as in deepseek-v4's template.
	EmptyLines bool
}

// plainLayout is the layout of a family without a keys line: {"name": …, "arguments": …}, as most
// templates print it.
var plainLayout = Layout{Name: "name", Args: "arguments"}

// List describes the texts around and between several calls in the same placeholder, such as
// {calls}. An example cannot show these texts, because it has only one call.
type List uint8

// The lists that templates print. The default has brackets only around several calls.
const (
	ListOfSeveral List = iota
	ListAlways         // [{…}] even for one call: mistral-v3, granite3
	ListLines          // one call per line: JSON in brackets (command-r7b), Python without (olmo3)
	ListBare           // one object per line, no brackets: minimax-m1
	ListIndent         // json.dumps(indent=4): command-r
)

// Words says which JSON values other than strings are printed in Python's words, such as True.
// Models copy the earlier calls in their prompt, so a history in the wrong words makes their calls
// worse, although all of these words can be read.
type Words uint8

// The words are JSON's true, or Python's True from a template that prints a value without its JSON
// filter.
const (
	JSONWords     Words = iota
	PythonScalars       // True, False and None outside of objects and lists: qwen3-coder
	PythonObjects       // inside them too, with Python's quotes: minicpm5's {'a': True}
)

// layoutWords lists the allowed words of some keys, in the order of their values.
var layoutWords = map[string][]string{
	"list":    {"", "always", "lines", "bare", "indent"},
	"scalars": {"json", "python"},
	"objects": {"json", "", "python"},
	"glue":    {"", "always"},
	"empty":   {"", "lines"},
}

// parseLayout reads the line of a family file that says how calls are printed, such as "list=always
// endid=id". It returns an error for an unknown key or word, so that no setting is ignored
// silently. Errors list the allowed words, for the author of the family file.
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

// set gives the setting with the given key of a keys line the value n. The value is the index of
// the written word in layoutWords[key], where the words are in the order of the constants. The
// setting objects=python includes scalars=python, in any order of the two.
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

// Several contains the texts that are printed before, between and after the calls in a placeholder
// for all calls, such as {calls}.
type Several struct {
	Open, Comma, Close string
	OneIsBare          bool // a single call is written without Open and Close
	Indented           bool // one member per line, at every level
}

// Several returns the texts before, between and after the calls that fill placeholder i. {call} and
// {calls} contain objects. {named} and {python} have brackets even around a single call, because
// one keyed object or one Python call without them could be anything. For example, lfm2 writes
// [get_weather(city="Paris")]. Python calls with list=lines and objects with list=bare have no
// brackets. The printer writes these texts and the grammar allows no others, so under the grammar a
// model writes what its template would have printed.
func (p *Pattern) Several(i int) Several {
	list := p.Family.Layout.List
	switch placeholder := p.PlaceholderAt(i); {
	case placeholder == "python" && list == ListLines, placeholder != "python" && list == ListBare:
		return Several{Comma: "\n"}
	case placeholder == "named" || placeholder == "python":
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

// HoldsSeveral reports whether one example is used for all calls of a reply, rather than one for
// each call. For {call} it is false: hermes writes two calls as two <tool_call> blocks, while
// granite3 writes one list.
func (p *Pattern) HoldsSeveral() bool {
	return p.Index("calls") >= 0 || p.Index("named") >= 0 || p.Index("python") >= 0
}

// Between returns how many newlines are printed between two calls: one or none. For example,
// qwen3-coder's call begins with two newlines after other text, but its template joins calls with
// one. If a call ends with newlines, no further one is printed.
func (p *Pattern) Between() int { return max(min(p.Glue, 1)-p.Tail, 0) }

// OnLines reports whether each of several arguments in placeholder i is on a line of its own. An
// example, which has a single argument, shows this by the newline before {args}.
func (p *Pattern) OnLines(i int) bool {
	return i > 0 && strings.HasSuffix(p.Parts[i-1].Lit.Text, "\n")
}

// ClosesOnLine reports whether a newline follows placeholder i in the example. The newline after
// {args} belongs to the last argument and not to the closing tag, so a call without arguments does
// not have it. For example, glm4 prints <tool_call>get_time\n</tool_call>, without an empty line.
func (p *Pattern) ClosesOnLine(i int) bool {
	return i+1 < len(p.Parts) && strings.HasPrefix(p.Parts[i+1].Lit.Text, "\n")
}

// Printed returns part i of the example as it is printed, if it is a fixed text, and "" if it is a
// placeholder. For i after the last part it returns the newlines with which the example ends. The
// newline after {args} is left out, because it belongs to the last argument. To write an example, a
// caller prints i from 0 to the number of parts, and fills in the placeholders.
func (p *Pattern) Printed(i int) string {
	if i == len(p.Parts) {
		return strings.Repeat("\n", p.Tail)
	}
	text := p.Family.Printed(p.Parts[i].Lit.Text)
	if p.PlaceholderAt(i-1) == "args" {
		text = strings.TrimPrefix(text, "\n")
	}
	return text
}

// Flags are habits of a family that its examples cannot show, but that matter for reading its
// replies. Each flag was needed by one family so far. Without the flag, values or texts of that
// family would have a surplus byte, or its calls would be missed.
type Flags struct {
	// Blank means that one blank after the mark of a message's body comes from the tokenizer, as in
	// llm-jp's <|message|> {text}.
	Blank bool
	// CDATA means that values with markup are in CDATA, as in minicpm5's <param
	// name="content"><![CDATA[…]]></param>.
	CDATA    bool
	Entities bool // keys in attributes are escaped: kimi-k3's argument key="a &amp; b"
	// Marked means that every plain reply has the marks of a text line. In other families a tag is
	// such a mark only alone on its line or after a thought.
	Marked bool
	// ThinkCalls means that calls at the end of closed reasoning are real, because trinity was
	// trained to call there.
	ThinkCalls bool
}

// parseFlags reads a flag line of a family file, such as "cdata entities". These flags replace all
// those of a family that a like line copies. It returns an error for an unknown word, because the
// lack of a misspelt flag would not be noticed later.
func parseFlags(line string) (f Flags, err error) {
	flags := map[string]*bool{"blank": &f.Blank, "cdata": &f.CDATA, "entities": &f.Entities,
		"marked": &f.Marked, "think-calls": &f.ThinkCalls}
	for _, word := range strings.Fields(line) {
		if flags[word] == nil {
			return f, fmt.Errorf("no flag %q: there are %s", word,
				strings.Join(slices.Sorted(maps.Keys(flags)), ", "))
		}
		*flags[word] = true
	}
	return f, nil
}
