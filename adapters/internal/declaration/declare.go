package declaration

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolnorm/adapters/internal/form"
)

// ErrUnknown is returned for a declaration with a like line that names an unknown family. Files are
// read in the order of their names, so mistral-small3.2.txt comes before mistral.txt, which it
// names. A caller that loads a folder therefore tries again.
var ErrUnknown = errors.New("the format it is like does not exist")

// Route is a route line of a family whose replies are messages. It says what the body of a message
// is, such as reasoning or the arguments of a call, by the recipient or the channel in its header.
// For example, harmony has
//
//	route   to={name} {json}
//	route   channel=analysis {reasoning}
//
// The first line that fits counts, so their order matters. The line "else" is for all other
// messages. In glimmer to=self is reasoning and to=user is text.
type Route struct {
	// Field is "to", "channel" or "else", and Value is the text that the header must have there.
	// With "to", the value "{name}" means any offered tool, and "*" any recipient.
	Field, Value string
	Body         string // reasoning, text, junk, json, args (tags), calls (with any marks)
}

// Says returns what the route compares: the name of a field of the header, or "{name}" if the
// recipient may be any tool, or "*" if it may be anyone.
func (r Route) Says() string {
	if r.Value == "{name}" || r.Value == "*" {
		return r.Value
	}
	return r.Field
}

// Parse reads a declaration, which consists of lines "kind value" up to the first line that begins
// with "-- ". Lines that begin with "#" are comments. It checks everything that reading, printing
// and grammars rely on, so that these need no checks of their own. Its errors give the number of
// the line, except ErrUnknown and those about missing lines. For a like line it calls the function
// named, which returns the family of a given name, or nil. A family of messages needs no call line,
// because gpt-oss's calls are recognised by the header of their message.
func Parse(src []byte, named func(name string) *Family) (*Family, error) {
	f := &Family{source: source{file: string(src)}, Layout: plainLayout}
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
	if err := f.check(); err != nil {
		return nil, err
	}
	f.prepare()
	return f, nil
}

// check returns an error if a line is missing that another line needs, or if calls of the family
// could not be read or printed. A family that passes it never fails in the middle of a reply.
func (f *Family) check() error {
	examples := f.Calls
	switch m := f.Message; {
	case f.Name == "":
		return errors.New("no format line")
	case f.Form != nil:
		return f.Form.Check()
	case len(f.Calls) == 0 && f.Header == nil:
		return errors.New("no call line: how does the family write a call?")
	case f.Header != nil && (m == nil || len(f.Ends) < 2):
		return errors.New(
			"a header needs a message line, how a call's message is printed, and two marks in the ends line")
	case m == nil:
	case !strings.Contains(m.Parts[0].Lit.Text, " "): // a grammar begins at the blank
		return errors.New("a message needs a blank in front of its recipient")
	case m.Index("calls") >= 0 && (len(f.Sections) == 0 || len(f.Calls) == 0):
		return errors.New("{calls} in a message needs a section line and a call line")
	default:
		examples = append(slices.Clip(examples), m)
	}
	for _, p := range examples {
		if p.Index("args") >= 0 && len(f.Args) == 0 || p.Index("pseudo") >= 0 && len(f.Quotes) == 0 {
			return errors.New("{args} needs an arg line, {pseudo} a quote line")
		}
		for _, word := range []string{"name", "id", "index", "junk"} {
			i := p.Index(word)
			bare := i+1 == len(p.Parts) || p.PlaceholderAt(i+1) != "" && (word == "index" ||
				word == "junk")
			if i >= 0 && bare {
				return fmt.Errorf("{%s} needs a mark behind it", word)
			}
		}
		if slices.ContainsFunc(p.Parts[p.Body()+1:], func(part Part) bool {
			return placeholders[part.Placeholder]
		}) {
			return errors.New("a call holds its arguments once")
		}
	}
	return nil
}

// line is one line of a declaration. The field first says that it is the first line of its kind. It
// then replaces all lines of that kind from the family that a like line names. Blanks before the
// value only align it, so an example cannot begin with a blank.
type line struct {
	kind, value string
	first       bool
}

// take adds the line l of a declaration to the family. For a like line it calls the function named,
// which returns the family of a given name. It returns an error if the line is not valid.
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
	words := map[string]*[]string{"drop": &f.Drop, "ends": &f.Ends, "noise": &f.noise,
		"prompt": &f.PromptMarks}
	if list := words[kind]; list != nil {
		return marksOf(list, first, value)
	}
	// a second line of these kinds adds another example; one of the kinds below replaces the first
	lists := map[string]*[]*Pattern{"think": &f.Think, "text": &f.Plain, "section": &f.Sections,
		"call": &f.Calls, "arg": &f.Args}
	if list := lists[kind]; list != nil {
		p, err := f.example(kind, value)
		*list = append(fresh(*list, first), p)
		return err
	}
	alone := map[string]**Pattern{"header": &f.Header, "message": &f.Message, "result": &f.Result,
		"results": &f.ResultList}
	if one := alone[kind]; one != nil {
		*one, err = f.example(kind, value)
		return err
	}
	switch kind {
	case "form":
		if first || f.Form == nil {
			f.Form = &form.Form{First: 1}
		}
		err = f.Form.Take(value)
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

// marksOf adds the words in value, which are separated by blanks, to a list of marks. If first is
// true, they replace the list. It returns an error if a mark has less than two bytes, because an
// Index looks at the first two bytes of a mark before it compares the rest.
func marksOf(list *[]string, first bool, value string) error {
	*list = append(fresh(*list, first), strings.Fields(value)...)
	for _, mark := range *list {
		if len(mark) < 2 {
			return fmt.Errorf("the mark %q is too short to be one", mark)
		}
	}
	return nil
}

// fresh returns the list to which the next line is added. It is nil for the first line of its kind,
// so that this line replaces those that a like line has copied from another family.
func fresh[T any](list []T, first bool) []T {
	if first {
		return nil
	}
	return list
}

// shapes lists the allowed shapes for each kind of line, with # for a literal. A family has one
// header and one message line, because the routes distinguish its messages.
var shapes = map[string][]string{
	"think":   {"# reasoning #"},
	"text":    {"# text #", "# text"},
	"section": {"# calls #"},
	"arg":     {"# key # value #", "# key # type # value #", "# key # value # key #"},
	"header":  {"# junk #"},
	"message": {"# name # json", "# name # args", "# name # calls"},
}

// loose lists the allowed placeholders for each kind of line that may have any shape. A call may
// have any shape that names a tool. A line about results must have the first of its placeholders,
// or {quoted}.
var loose = map[string]struct {
	about        string
	placeholders []string
}{
	"call": {"calls", []string{"name", "id", "index", "junk", "json", "args", "pseudo", "call",
		"calls", "named", "python"}},
	"result":  {"results", []string{"result", "quoted", "name", "id"}},
	"results": {"results", []string{"results"}},
}

// example compiles the example of a line. It returns an error if the order of its placeholders and
// the texts between them (its shape) is not allowed for this kind of line, because such a pattern
// would fail later, in the middle of a reply.
func (f *Family) example(kind, value string) (*Pattern, error) {
	p, err := compile(f, value)
	if err != nil {
		return nil, err
	}
	may := loose[kind]
	for _, part := range p.Parts {
		if may.placeholders != nil && part.Placeholder != "" &&
			!slices.Contains(may.placeholders, part.Placeholder) {
			return nil, fmt.Errorf("no {%s} in a line about %s", part.Placeholder, may.about)
		}
	}
	switch want := shapes[kind]; {
	case want != nil && !slices.Contains(want, p.shape()):
		return nil, misshapen(kind, want[0], p.shape())
	case kind == "call" && !p.isCall():
		return nil, errors.New(
			"a call needs {name} or {id} behind a mark, or a placeholder that holds the name: {call}, {calls}, {named}, {python}")
	case may.about == "results" && p.Index(may.placeholders[0]) < 0 && p.Index("quoted") < 0:
		return nil, fmt.Errorf("a line about results needs {%s}", may.placeholders[0])
	case may.about != "results" && p.PlaceholderAt(0) == "" && len(p.Parts[0].Lit.Key()) < 2:
		return nil, fmt.Errorf("%s must begin with a mark of at least two bytes; %q is shorter",
			kind, p.Parts[0].Lit.Text)
	}
	return p, nil
}

// misshapen returns an error that says which fixed text (mark) an example lacks: "arg needs a mark
// before {key}, between {key} and {value}, and after {value}; yours has none before {key}". The
// parameters want and got are shapes (see Pattern.shape), which the message does not show. It names
// only the first missing one, because mostly only one is missing.
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
	if placeholders := slices.DeleteFunc(gots, isMark); !slices.Equal(placeholders,
		slices.DeleteFunc(wants, isMark)) {
		missing = "no placeholder"
		if len(placeholders) > 0 {
			missing = "{" + strings.Join(placeholders, "} {") + "}"
		}
	}
	if n := len(places) - 1; n > 1 {
		places = []string{strings.Join(places[:n], ", ") + ",", places[n]}
	}
	return fmt.Errorf("%s needs a mark %s; yours has %s", kind, strings.Join(places, " and "),
		missing)
}

// placeOf says in words where the fixed text i of an example is, such as "before {key}". It names
// the placeholders next to that text, because the author of the example knows these. The parameter
// shape has the fixed texts and the names of the placeholders in turn.
func placeOf(shape []string, i int) string {
	switch {
	case i == 0:
		return "before {" + shape[1] + "}"
	case i == len(shape)-1:
		return "after {" + shape[i-1] + "}"
	}
	return "between {" + shape[i-1] + "} and {" + shape[i+1] + "}"
}

// route adds a route line, such as "channel=analysis {reasoning}". If first is true, it replaces
// the lines before. It returns an error if the line is not valid. A route with the body {args}
// needs an arg line before it, because the family's tags are needed to read the body.
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

// takeFrom replaces everything that was declared so far by the lines of the family cousin, for a
// line such as "like hermes". It returns ErrUnknown if cousin is nil. The lines are compiled again,
// so that their patterns belong to this family, with its layout and flags. The models line is not
// copied, because the names in it are the cousin's. Result lines are copied, because a fine-tuned
// model has the same template.
func (f *Family) takeFrom(cousin *Family) error {
	if cousin == nil {
		return ErrUnknown
	}
	*f = Family{Name: f.Name, Models: f.Models, source: source{file: f.file}, Layout: plainLayout}
	for _, l := range cousin.lines {
		if err := f.take(l, nil); err != nil {
			return err
		}
	}
	return nil
}
