package declaration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnknown says that a declaration is like one that is not known, or not yet. Files are read in the order of their names, and
// mistral-small3.2.txt comes before mistral.txt, which it is like: who loads a folder tries again.
var ErrUnknown = errors.New("the format it is like does not exist")

// Route is one line of a message family: the recipient or channel it is for, and what the body is. harmony's
//
//	route   to={name} {json}
//	route   channel=analysis {reasoning}
//
// The first that fits counts, so the order of lines is part of what they say.
// glimmer's to=self is reasoning and to=user text; what fits no line is said by "else".
type Route struct {
	Field, Value string // "to" or "channel" and the value; "to" and "{name}" is any offered tool; "to" and "*" any recipient; "else"
	Body         string // reasoning, text, junk, json, args (tags), calls (whatever marks there are)
}

// Says is which part of a header the route looks at: to for one recipient, {name} for any tool, * for any recipient.
func (r Route) Says() string {
	if r.Value == "{name}" || r.Value == "*" {
		return r.Value
	}
	return r.Field
}

// Parse reads a declaration: lines "kind value" up to the first "-- " line; "#" begins a comment line. What it accepts can
// be read, printed and turned into a grammar without a check later, so everything that those rely on is checked here, with
// the number of the line for its author. named finds the family that it is like.
// A message family needs no call line: gpt-oss's calls are told by the header of their message.
func Parse(src []byte, named func(name string) *Family) (*Family, error) {
	f := &Family{file: string(src), Layout: plainLayout}
	own := map[string]bool{}
	head := "\n" + f.Declaration()
	for n, text := range strings.Split(head, "\n") {
		text = strings.TrimRight(text, " \t\r")
		if text == "" || text[0] == '#' {
			continue
		}
		kind, value, _ := strings.Cut(text, " ")
		l := line{kind, strings.TrimLeft(value, " "), !own[kind]}
		own[kind] = true
		if err := f.take(l, named); err == ErrUnknown {
			return nil, err
		} else if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if f.Name == "" {
		return nil, errors.New("no format line")
	}
	if len(f.Calls) == 0 && f.Header == nil {
		return nil, errors.New("no call line: how does the family write a call?")
	}
	if f.Header != nil && (f.Message == nil || len(f.Ends) < 2) {
		return nil, errors.New("a header needs a message line, how a call's message is printed, and two marks in the ends line")
	}
	for _, p := range f.Calls {
		for _, word := range []string{"index", "junk"} {
			if i := p.Hole(word); i >= 0 && (i+1 == len(p.Parts) || p.HoleAt(i+1) != "") {
				return nil, fmt.Errorf("{%s} needs a mark behind it", word)
			}
		}
		if p.Hole("args") >= 0 && len(f.Args) == 0 || p.Hole("pseudo") >= 0 && len(f.Quotes) == 0 {
			return nil, errors.New("{args} needs an arg line, {pseudo} a quote line")
		}
	}
	f.prepare()
	return f, nil
}

// line is one line of a declaration. The first line of a kind replaces all lines of that kind that the declaration has from the
// format it is like.
// The value begins behind the blanks that line it up with others, so an example that begins with a blank cannot be said.
type line struct {
	kind, value string
	first       bool
}

// take takes over one line; named finds the family that it is like.
func (f *Family) take(l line, named func(name string) *Family) (err error) {
	kind, value, first := l.kind, l.value, l.first
	switch kind {
	case "format":
		f.Name = value
		return nil
	case "models":
		f.Models = append(f.Models, strings.Fields(strings.ToLower(value))...)
		return nil
	case "like":
		return f.takeFrom(named(value))
	}
	f.lines = append(f.lines, l)
	marks := map[string]*[]string{"drop": &f.Drop, "ends": &f.Ends, "noise": &f.noise, "prompt": &f.PromptMarks}
	if list := marks[kind]; list != nil {
		return marksOf(list, first, value)
	}
	switch kind {
	case "think":
		return declare(f, &f.Think, first, kind, value, "# reasoning #")
	case "text":
		return declare(f, &f.Plain, first, kind, value, "# text #", "# text")
	case "section":
		return declare(f, &f.Sections, first, kind, value, "# calls #")
	case "call":
		return declare(f, &f.Calls, first, kind, value)
	case "arg":
		return declare(f, &f.Args, first, kind, value, "# key # value #", "# key # type # value #", "# key # value # key #")
	case "header":
		return declareOne(f, &f.Header, kind, value, "# junk #")
	case "message":
		return declareOne(f, &f.Message, kind, value, "# name # json", "# name # args", "# name # calls")
	case "result":
		return declareResult(f, &f.Result, value, "result", "quoted", "name", "id")
	case "results":
		return declareResult(f, &f.ResultList, value, "results")
	case "flag":
		f.Flags, err = parseFlags(value)
	case "quote":
		f.Quotes = append(fresh(f.Quotes, first), strings.Fields(value)...)
	case "keys":
		f.Layout, err = parseLayout(value)
	case "wording":
		f.wording, err = ParseWording(value)
	case "route":
		return f.route(value, first)
	default:
		return fmt.Errorf("no kind of line %q: docs/families.md has the list", kind)
	}
	return err
}

// marksOf adds the marks of a line to a list. One byte is no mark: the index looks at two before it compares anything.
// Marks are separated by blanks, so one with a blank in it cannot be said there.
func marksOf(list *[]string, first bool, value string) error {
	*list = append(fresh(*list, first), strings.Fields(value)...)
	for _, mark := range *list {
		if len(mark) < 2 {
			return fmt.Errorf("the mark %q is too short to be one", mark)
		}
	}
	return nil
}

// fresh is the list that a line goes on with: its own kind's lines so far, without those of the family it is like.
func fresh[T any](list []T, first bool) []T {
	if first {
		return nil
	}
	return list
}

// declare compiles one example into a list of alternatives. shapes are what a line of that kind may look like, literals
// written #; none for a call, which may be made of anything that names a tool.
// The shapes are checked when a file is read, since a pattern of another shape would only fail in the middle of a reply.
func declare(f *Family, list *[]*Pattern, first bool, kind, value string, shapes ...string) error {
	p, err := compile(f, value)
	if err != nil {
		return err
	}
	if len(shapes) > 0 && !slices.Contains(shapes, p.shape()) {
		return misshapen(kind, shapes[0], p.shape())
	}
	if len(shapes) == 0 && !p.isCall() {
		return errors.New("a call needs {name} or {id} behind a mark, or a hole that holds the name: {call}, {calls}, {named}, {python}")
	}
	if p.HoleAt(0) == "" && len(p.Parts[0].Lit.Key()) < 2 {
		return fmt.Errorf("%s must begin with a mark of at least two bytes; %q is shorter", kind, p.Parts[0].Lit.Text)
	}
	*list = append(fresh(*list, first), p)
	return nil
}

// misshapen says in words what an example lacks: "arg needs a mark before {key}, between {key} and {value}, and after
// {value}; yours has none before {key}". The shapes are ours, so a message must not show them.
// It looks for the first mark that is missing: mostly one is, and a list of all would hide it.
func misshapen(kind, want, got string) error {
	wants, gots := strings.Fields(want), strings.Fields(got)
	var places []string
	missing, read := "", 0
	for i, word := range wants {
		there := read < len(gots) && gots[read] == word
		if there {
			read++
		}
		if word == "#" {
			places = append(places, placeOf(wants, i))
			if !there && missing == "" {
				missing = "none " + places[len(places)-1]
			}
		}
	}
	isMark := func(word string) bool { return word == "#" }
	if holes := slices.DeleteFunc(gots, isMark); !slices.Equal(holes, slices.DeleteFunc(wants, isMark)) {
		missing = "no hole"
		if len(holes) > 0 {
			missing = "{" + strings.Join(holes, "} {") + "}"
		}
	}
	if n := len(places) - 1; n > 1 {
		places = []string{strings.Join(places[:n], ", ") + ",", places[n]}
	}
	return fmt.Errorf("%s needs a mark %s; yours has %s", kind, strings.Join(places, " and "), missing)
}

// placeOf is where mark i of a shape stands, in words of the author's own line.
// An author sees {key} and {value} in the line, and no numbers of parts.
func placeOf(shape []string, i int) string {
	switch {
	case i == 0:
		return "before {" + shape[1] + "}"
	case i == len(shape)-1:
		return "after {" + shape[i-1] + "}"
	}
	return "between {" + shape[i-1] + "} and {" + shape[i+1] + "}"
}

// declareOne compiles an example that stands alone: headers and messages have no alternatives, since all messages of a family
// are told apart by their routes instead.
// A second line of that kind replaces the first.
func declareOne(f *Family, p **Pattern, kind, value string, shapes ...string) error {
	var list []*Pattern
	if err := declare(f, &list, true, kind, value, shapes...); err != nil {
		return err
	}
	*p = list[0]
	return nil
}

// declareResult compiles an example of what tools answered. It is printed and never read, so it may be made of anything, but
// must have the first of the holes that it may have.
func declareResult(f *Family, line **Pattern, value string, holes ...string) error {
	p, err := compile(f, value)
	if err != nil {
		return err
	}
	*line = p
	for _, part := range p.Parts {
		if part.Hole != "" && !slices.Contains(holes, part.Hole) {
			return fmt.Errorf("no {%s} in a line about results", part.Hole)
		}
	}
	if p.Hole(holes[0]) < 0 && p.Hole("quoted") < 0 {
		return fmt.Errorf("a line about results needs {%s}", holes[0])
	}
	return nil
}

// route takes over a route line.
// A body {args} needs its arg line in front, since the family's tags are what it is read by.
func (f *Family) route(value string, first bool) error {
	if first {
		f.Routes = nil
	}
	field, body, ok := strings.Cut(value, " ")
	if !ok {
		return fmt.Errorf("a route is written field=value {body}, not %q", value)
	}
	body = strings.Trim(strings.TrimSpace(body), "{}")
	switch body {
	case "reasoning", "text", "junk", "json", "calls":
	case "args":
		if len(f.Args) == 0 {
			return errors.New("{args} needs an arg line, in front of the route")
		}
	default:
		return fmt.Errorf("no body {%s} in a route", body)
	}
	name, want, _ := strings.Cut(field, "=")
	f.Routes = append(f.Routes, Route{Field: name, Value: want, Body: body})
	return nil
}

// takeFrom says again what a cousin says, in the place of all that was said before: patterns know their family, so that the
// layout and the flags that count for a body are those of the family that took them over.
// Models are not among the lines: a cousin's names are the cousin's. Result lines are, as a tune keeps its template.
func (f *Family) takeFrom(cousin *Family) error {
	if cousin == nil {
		return ErrUnknown
	}
	*f = Family{Name: f.Name, Models: f.Models, file: f.file, Layout: plainLayout}
	for _, l := range cousin.lines {
		if err := f.take(l, nil); err != nil {
			return err
		}
	}
	return nil
}
