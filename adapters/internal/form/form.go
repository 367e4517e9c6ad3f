// Package form reads calls in any arrangement: name, arguments, counters and lengths in any order,
// and arguments one by one between any separators.
//
// A [Form] describes calls as a model's chat template prints them. It consists of examples with
// placeholders, like other declarations, but a call is read only when it is whole, and must match
// exactly: it does not stream, and no slips are repaired.
//
//	form  call  @@TOOL {name}\n{args}@@END
//	form  arg   {key} := {value}\n
//
// One rule makes it safe to run the calls: a value without escapes ends at the first place where
// another argument of the tool or the end of the call could begin. If the value was meant to
// continue there, the text after the call shows it, and no call is returned.
//
//	form.go     Form: the lines of a declaration
//	read.go     Read: calls in a text
//	value.go    arguments, and values in notations of their own
package form

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Form describes one way to write calls, by examples and the texts around them. The zero value is
// not valid, because it has no example of a call.
type Form struct {
	Call []Example // a call; a second example may be for a call without arguments
	Arg  Example   // one of the {args}, with the placeholders {key} and {value}

	Calls, Args  Series // the texts around and between calls, and arguments
	Object, List Series // the same for the members of an object, and the elements of a list
	Member       Example
	Element      Example

	Writing
	Indent  string // what {indent} prints for each level after the first
	Step    string // the same for each list; Check sets it to Indent without a line
	First   int    // the number with which {index} begins
	Glue    int    // how many newlines before the calls belong to the text before them
	Types   string // the words of {type}: json, number (also for integers), python
	flat    bool   // there is a step line
	Several bool   // all calls are read together, even if Calls is empty
	Runes   bool   // {length} counts characters instead of bytes
}

// Writing says how the form writes values: strings, numbers, lists and objects.
type Writing struct {
	Strings string // how strings are written: raw, json, python
	Quote   string // the text before and after raw strings, which other values do not have
	Escape  string // how values are escaped after that: xml, url; "" if they are not
	// Block is how a text of several lines is written, with the placeholders {indent} and {line}.
	// The text before its line break is written once, and the rest for each line. It is empty if
	// texts are never written so.
	Block Example
	// Values says how numbers, true, false, null, lists and objects are written: json, compact,
	// python or nested.
	Values string
	// Plain is the text before a value, except before objects and lists in the form's own notation.
	Plain string
}

// Example is a text with placeholders such as {name}.
type Example []Part

// Part is a part of an example: a placeholder if the field Placeholder is set, and otherwise the
// fixed text Lit.
type Part struct{ Lit, Placeholder string }

// Series has the texts that are printed before, between and after several calls, arguments, members
// or elements.
type Series struct{ Open, Between, Close string }

// placeholders lists the allowed placeholders for each kind of example.
var placeholders = map[string]string{
	"call": "name id index length count json quoted args", "arg": "key type value",
	"member": "key value indent", "element": "value indent", "block": "indent line",
}

// series maps each kind of line for a Series to the placeholder in that line.
var series = map[string]string{"calls": "call", "args": "arg", "object": "member",
	"list": "element"}

// codings lists the allowed words for each kind of line about values.
var codings = map[string]string{"values": "json compact python nested",
	"types": "json number python"}

// aCoding matches the value of a strings line: how strings are written, and how the result is
// escaped.
var aCoding = regexp.MustCompile(`^(raw|json|python|) ?\b(xml|url|)$`)

// Take adds one line of a declaration, given without its first word, such as "call @@TOOL
// {name}\n…". It returns an error if the line is not valid.
func (f *Form) Take(line string) error {
	kind, value, _ := strings.Cut(line, " ")
	value = strings.TrimLeft(value, " ")
	examples := map[string]*Example{"arg": &f.Arg, "member": &f.Member, "element": &f.Element,
		"block": &f.Block}
	lists := map[string]*Series{"calls": &f.Calls, "args": &f.Args, "object": &f.Object,
		"list": &f.List}
	words := map[string]*string{"values": &f.Values, "types": &f.Types}
	texts := map[string]*string{"indent": &f.Indent, "step": &f.Step, "plain": &f.Plain,
		"quote": &f.Quote}
	f.Several = f.Several || kind == "calls"
	var err error
	switch {
	case kind == "call":
		var e Example
		e, err = parse(value, placeholders["call"])
		f.Call = append(f.Call, e)
	case examples[kind] != nil:
		*examples[kind], err = parse(value, placeholders[kind])
	case lists[kind] != nil:
		*lists[kind], err = parseSeries(value, series[kind])
	case kind == "strings" && aCoding.MatchString(value):
		m := aCoding.FindStringSubmatch(value)
		f.Strings, f.Escape = m[1], m[2]
	case words[kind] != nil && strings.Contains(" "+codings[kind]+" ", " "+value+" "):
		*words[kind] = value
	case texts[kind] != nil:
		*texts[kind] = unescape.Replace(value)
		f.flat = f.flat || kind == "step"
	case kind == "first" && (value == "0" || value == "1"):
		f.First = int(value[0] - '0')
	case kind == "length" && (value == "bytes" || value == "runes"):
		f.Runes = value == "runes"
	default:
		return fmt.Errorf("a form has no line %q", line)
	}
	return err
}

// Check completes a form. It must be called once, after all lines were added. It moves newlines
// before the calls to the field Glue. It returns an error if a line is missing.
func (f *Form) Check() error {
	if len(f.Call) == 0 || !f.Call[0].has("name") {
		return fmt.Errorf("a form needs a call line with {name}")
	}
	first := &f.Calls.Open
	if *first == "" && f.Call[0][0].Placeholder == "" {
		first = &f.Call[0][0].Lit
	}
	if !f.flat {
		f.Step = f.Indent
	}
	text := strings.TrimLeft(*first, "\n")
	f.Glue, *first = len(*first)-len(text), text
	if f.Call[0].has("args") && (!f.Arg.has("key") || !f.Arg.has("value")) {
		return fmt.Errorf("{args} in a form needs an arg line with {key} and {value}")
	}
	if f.Quote != "" && f.Strings+f.Escape != "raw" {
		return fmt.Errorf("a quote line in a form needs the line strings raw")
	}
	if f.Values == "nested" && !(f.Member.has("value") && f.Element.has("value")) {
		return fmt.Errorf("nested values in a form need a member line and an element line")
	}
	return nil
}

// Opening returns the fixed text with which the calls of a reply begin, or "" if they begin with a
// placeholder.
func (f *Form) Opening() string {
	if f.Calls.Open != "" {
		return f.Calls.Open
	}
	return f.Call[0][0].Lit
}

// Text returns the texts between the placeholders of the form's examples, separated by blanks, for
// callers that look for tags in them.
func (f *Form) Text() string {
	words := []string{f.Calls.Open, f.Calls.Between, f.Calls.Close, f.Args.Open, f.Args.Between,
		f.Args.Close}
	for _, e := range append([]Example{f.Arg, f.Member, f.Element}, f.Call...) {
		for _, p := range e {
			words = append(words, p.Lit)
		}
	}
	return strings.Join(words, " ")
}

// has reports whether the example contains the given placeholder.
func (e Example) has(placeholder string) bool {
	return slices.ContainsFunc(e, func(p Part) bool { return p.Placeholder == placeholder })
}

// unescape replaces the escapes in the literals of a line. A blank at the edge of a literal is
// written as \s.
var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\s`, " ", "{{",
	"{")

// parse reads an example, in which only the placeholders listed in the parameter may are allowed.
// It returns an error for any other placeholder, and for an empty example.
func parse(text, may string) (e Example, err error) {
	for text != "" {
		at := placeholderIn(text)
		if at != 0 {
			end := len(text)
			if at > 0 {
				end = at
			}
			e, text = append(e, Part{Lit: unescape.Replace(text[:end])}), text[end:]
			continue
		}
		word, rest, ok := strings.Cut(text[1:], "}")
		if !ok || !strings.Contains(" "+may+" ", " "+word+" ") {
			return nil, fmt.Errorf("no placeholder {%s} in this line of a form: it may have %s",
				word, may)
		}
		e, text = append(e, Part{Placeholder: word}), rest
	}
	if len(e) == 0 {
		return nil, fmt.Errorf("an example is empty")
	}
	return e, nil
}

// placeholderIn returns the offset of the first placeholder, such as {name}, in a text, or -1 if
// there is none. Two opening braces in a row stand for one brace.
func placeholderIn(text string) int {
	for i := 0; i < len(text); i++ {
		if text[i] != '{' {
			continue
		}
		if strings.HasPrefix(text[i:], "{{") {
			i++
			continue
		}
		return i
	}
	return -1
}

// parseSeries reads an example with exactly two placeholders of the given kind, and returns the
// texts before, between and after them. It returns an error for any other number.
func parseSeries(text, kind string) (Series, error) {
	parts := strings.Split(text, "{"+kind+"}")
	if len(parts) != 3 {
		return Series{}, fmt.Errorf("a series shows {%s} twice", kind)
	}
	for i := range parts {
		parts[i] = unescape.Replace(parts[i])
	}
	return Series{parts[0], parts[1], parts[2]}, nil
}
