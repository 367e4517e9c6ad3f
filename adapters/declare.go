package adapters

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// errLater says that a declaration is like one that is not known yet.
var errLater = errors.New("like a format that is not known yet")

// route is one line of a message family: the recipient or channel it is for, and what the body is.
type route struct {
	field, value string // "to" or "channel" and the value; "to" and "{name}" is any offered tool; "to" and "*" any recipient; "else"
	body         string // reasoning, text, junk, json, args (tags), calls (whatever marks there are)
}

// parse reads a declaration: lines "kind value" up to the first "-- " line; "#" begins a comment line.
func (s *FamilySet) parse(src []byte) (*Family, error) {
	f := &Family{file: string(src)}
	own := map[string]bool{}
	head := "\n" + f.Declaration()
	for n, line := range strings.Split(head, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if line == "" || line[0] == '#' {
			continue
		}
		kind, value, _ := strings.Cut(line, " ")
		if err := s.line(f, kind, strings.TrimLeft(value, " "), own); err != nil {
			if err == errLater {
				return nil, err
			}
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if f.Name == "" {
		return nil, errors.New("no format line")
	}
	if len(f.call) == 0 && f.header == nil {
		return nil, errors.New("no call line: how does the family write a call?")
	}
	if f.header != nil && (f.message == nil || len(f.ends) < 2) {
		return nil, errors.New("a header needs a message line, how a call's message is printed, and two marks in the ends line")
	}
	for _, p := range f.call {
		for _, word := range []string{"index", "junk"} {
			if i := p.hole(word); i >= 0 && (i+1 == len(p.parts) || p.holeAt(i+1) != "") {
				return nil, fmt.Errorf("{%s} needs a mark behind it", word)
			}
		}
		if p.hole("args") >= 0 && len(f.arg) == 0 || p.hole("pseudo") >= 0 && len(f.quotes) == 0 {
			return nil, errors.New("{args} needs an arg line, {pseudo} a quote line")
		}
	}
	f.prepare()
	return f, nil
}

// line takes over one line of a declaration. own tells which kinds the declaration has given itself: the first line of a
// kind replaces all lines of that kind that it had from the format it is like.
func (s *FamilySet) line(f *Family, kind, value string, own map[string]bool) error {
	first := !own[kind]
	own[kind] = true
	switch kind {
	case "format":
		f.Name = value
	case "models":
		f.Models = append(f.Models, strings.Fields(strings.ToLower(value))...)
	case "like":
		cousin := s.Named(value)
		if cousin == nil {
			return errLater
		}
		f.takeFrom(cousin)
	case "think":
		return declare(f, &f.think, first, value, "# reasoning #")
	case "text":
		return declare(f, &f.plain, first, value, "# text #", "# text")
	case "section":
		return declare(f, &f.section, first, value, "# calls #")
	case "call":
		return declare(f, &f.call, first, value, "")
	case "arg":
		return declare(f, &f.arg, first, value, "# key # value #", "# key # type # value #", "# key # value # key #")
	case "header":
		return declareOne(f, &f.header, value, "# junk #")
	case "message":
		return declareOne(f, &f.message, value, "# name # json", "# name # args", "# name # calls")
	case "result":
		return declareResult(f, &f.result, value, "result", "quoted", "name", "id")
	case "results":
		return declareResult(f, &f.results, value, "results")
	case "drop":
		return marksOf(&f.drop, first, value)
	case "ends":
		return marksOf(&f.ends, first, value)
	case "noise":
		return marksOf(&f.noise, first, value)
	case "prompt":
		return marksOf(&f.ahead, first, value)
	case "flag":
		return f.flag(value)
	case "quote":
		f.quotes = append(fresh(f.quotes, first), strings.Fields(value)...)
	case "keys":
		return f.nameKeys(value)
	case "wording":
		w, err := ParseWording(value)
		f.wording = w
		return err
	case "route":
		return f.route(value, first)
	default:
		return fmt.Errorf("no line kind %q", kind)
	}
	return nil
}

// marksOf adds the marks of a line to a list.
func marksOf(list *[]string, first bool, value string) error {
	*list = append(fresh(*list, first), strings.Fields(value)...)
	for _, mark := range *list {
		if len(mark) < 2 {
			return fmt.Errorf("the mark %q is too short to be one", mark)
		}
	}
	return nil
}

func fresh(list []string, first bool) []string {
	if first {
		return nil
	}
	return list
}

// declare compiles one example into a list of alternatives. shapes are what it may look like, literals written #; [""] for
// a call.
func declare(f *Family, list *[]*pattern, first bool, value string, shapes ...string) error {
	p, err := compile(f, value)
	if err != nil {
		return err
	}
	isCall := shapes[0] == ""
	if got := p.shape(); !isCall && !slices.Contains(shapes, got) {
		return fmt.Errorf("the example must be made of %s (# is a mark), not %s", shapes[0], got)
	}
	if isCall && !p.isCall() {
		return fmt.Errorf("a call needs a {name} or {id} behind a mark, or a hole that holds one: {call}, {calls}, {python}")
	}
	if p.holeAt(0) == "" && len(p.parts[0].lit.key()) < 2 {
		return fmt.Errorf("the example must begin with a mark of at least two bytes")
	}
	if first {
		*list = nil
	}
	*list = append(*list, p)
	return nil
}

// declareOne compiles an example that stands alone.
func declareOne(f *Family, p **pattern, value string, shapes ...string) error {
	var list []*pattern
	if err := declare(f, &list, true, value, shapes...); err != nil {
		return err
	}
	*p = list[0]
	return nil
}

// declareResult compiles an example of what tools answered. It is printed and never read, so it may be made of anything, but
// must have the first of the holes that it may have.
func declareResult(f *Family, line **pattern, value string, holes ...string) error {
	p, err := compile(f, value)
	if err != nil {
		return err
	}
	*line = p
	for _, part := range p.parts {
		if part.hole != "" && !slices.Contains(holes, part.hole) {
			return fmt.Errorf("no {%s} in a line about results", part.hole)
		}
	}
	if p.hole(holes[0]) < 0 && p.hole("quoted") < 0 {
		return fmt.Errorf("a line about results needs {%s}", holes[0])
	}
	return nil
}

// flag notes what a family does besides its examples: blank (one blank behind the mark of a message's body is its
// tokenizer's), cdata (values that hold markup stand in CDATA), entities (&amp; and &quot; in the names of arguments),
// think-calls (calls at the end of closed reasoning are real).
func (f *Family) flag(value string) error {
	f.flags = map[string]bool{}
	for _, word := range strings.Fields(value) {
		if !slices.Contains([]string{"blank", "cdata", "entities", "think-calls"}, word) {
			return fmt.Errorf("no flag %q", word)
		}
		f.flags[word] = true
	}
	return nil
}

func (f *Family) nameKeys(value string) error {
	f.keys = map[string]string{}
	for _, field := range strings.Fields(value) {
		k, v, ok := strings.Cut(field, "=")
		if !ok {
			return fmt.Errorf("keys are written name=word, not %q", field)
		}
		f.keys[k] = v
	}
	return nil
}

func (f *Family) route(value string, first bool) error {
	if first {
		f.routes = nil
	}
	field, body, ok := strings.Cut(value, " ")
	if !ok {
		return fmt.Errorf("a route is written field=value {body}, not %q", value)
	}
	body = strings.Trim(strings.TrimSpace(body), "{}")
	switch body {
	case "reasoning", "text", "junk", "json", "calls":
	case "args":
		if len(f.arg) == 0 {
			return errors.New("{args} needs an arg line, in front of the route")
		}
	default:
		return fmt.Errorf("no body {%s} in a route", body)
	}
	name, want, _ := strings.Cut(field, "=")
	f.routes = append(f.routes, route{field: name, value: want, body: body})
	return nil
}

// takeFrom copies a cousin's lines. Patterns are compiled again, since each knows its format.
func (f *Family) takeFrom(g *Family) {
	again := func(list []*pattern) []*pattern {
		var out []*pattern
		for _, p := range list {
			q := *p
			q.f = f
			out = append(out, &q)
		}
		return out
	}
	f.think, f.plain, f.section, f.call, f.arg = again(g.think), again(g.plain), again(g.section), again(g.call), again(g.arg)
	f.drop, f.ends, f.quotes, f.keys, f.routes = g.drop, g.ends, g.quotes, g.keys, g.routes
	f.ahead, f.noise, f.flags = g.ahead, g.noise, g.flags
	f.wording = g.wording
	if g.result != nil {
		f.result = again([]*pattern{g.result})[0]
	}
	if g.results != nil {
		f.results = again([]*pattern{g.results})[0]
	}
	if g.header != nil {
		f.header, f.message = again([]*pattern{g.header})[0], again([]*pattern{g.message})[0]
	}
}

// copyFor is the format as a member of another set.
func (f *Family) copyFor(s *FamilySet) *Family {
	c := &Family{Name: f.Name, Models: f.Models, file: f.file, set: s}
	c.takeFrom(f)
	c.prepare()
	return c
}
