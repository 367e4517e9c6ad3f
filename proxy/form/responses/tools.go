package responses

import (
	"encoding/json"
	"errors"
	"fmt"
	regexpsyntax "regexp/syntax"
	"slices"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// toolKind says what a client calls a tool, and so which item a call of it becomes.
type toolKind uint8

const (
	function toolKind = iota
	custom            // its input is a text, perhaps by a grammar
	search            // finds tools at the client, which loads them
)

// inputMember is the one argument by which a model calls a custom tool.
const inputMember = "input"

// tool is a tool as its client knows it.
type tool struct {
	kind            toolKind
	namespace, name string
}

// toolset is the tools of a request, by both of their names: a model knows one name a tool, a
// client a name within a namespace. The zero value has none and takes none.
type toolset struct {
	ask     *form.Ask            // in which they are offered
	own     map[string]tool      // by the model's name
	names   map[[2]string]string // the model's name, by namespace and name
	later   []chat.Tool          // those that the client loads by a search
	loading bool                 // tools are read that a search has found
	found   bool                 // there is such a search
	leftOut []string             // the types of those that are not offered
}

// flat returns the name by which the model knows a tool. A name of which nobody has heard is made
// in the same way: an old conversation may call tools that are no longer offered. mcp__docs and
// search make mcp__docs__search, which is how clients without namespaces name the tools of MCP
// servers, and so what models have seen.
func (s *toolset) flat(namespace, name string) string {
	if flat, ok := s.names[[2]string{namespace, name}]; ok {
		return flat
	}
	if namespace == "" {
		return name
	}
	return strings.TrimSuffix(namespace, "__") + "__" + name
}

// of returns the tool that a model calls by that name. The engine lets only offered names through,
// by exactly the spelling of the offer. One that is not listed is a function of that name.
func (s *toolset) of(name string) tool {
	if t, ok := s.own[name]; ok {
		return t
	}
	return tool{name: name}
}

// named finds the tool that tool_choice names, as form.Named.
func (s *toolset) named(v *fastjson.Value) (member, name string) {
	if string(v.GetStringBytes("type")) == "tool_search" {
		return "type", s.flat("", searchName)
	}
	return "name", s.flat(string(v.GetStringBytes("namespace")), string(v.GetStringBytes("name")))
}

// read reads a list of tools. Those that wait to be loaded are offered at once when nothing could
// load them. The search may stand behind what it finds, so this is settled when the list is read.
func (s *toolset) read(v *fastjson.Value) error {
	err := field.List(v, func(v *fastjson.Value) error { return s.readTool(v, "", "") })
	if !s.found {
		s.ask.Tools = append(s.ask.Tools, s.later...)
		s.later = nil
	}
	return err
}

// readTool reads one tool, within a namespace or outside any. What a namespace says of itself
// stands in front of its first tool's description, or no model would read it.
func (s *toolset) readTool(v *fastjson.Value, namespace, about string) error {
	if v.Type() != fastjson.TypeObject {
		return field.Bad("", "must be an object, not %s", field.KindOf(v))
	}
	deferred := false
	if err := field.Member(v, "defer_loading", &deferred); err != nil {
		return err
	}
	switch kind := string(v.GetStringBytes("type")); kind {
	case "", "function":
		t, err := form.ReadTool(v)
		if err != nil {
			return err
		}
		t.Description = paragraphs(about, t.Description)
		return s.offerTool(t, tool{function, namespace, t.Name}, deferred)
	case "custom":
		t, err := s.readCustom(v)
		if err != nil {
			return err
		}
		t.Description = paragraphs(about, t.Description)
		return s.offerTool(t, tool{custom, namespace, t.Name}, deferred)
	case "namespace":
		return s.readNamespace(v)
	case "tool_search":
		return s.readSearch(v)
	default:
		return s.leaveOut(kind)
	}
}

// readNamespace reads a group of tools:
// {"type":"namespace","name":"mcp__docs","description":…,"tools":[…]}. Codex sends each MCP server
// as one, and takes calls back only with the namespace beside the name.
func (s *toolset) readNamespace(v *fastjson.Value) error {
	name, about, err := namesOf(v)
	if err != nil {
		return err
	}
	return field.Within("tools", field.Items(v.Get("tools"), func(v *fastjson.Value) error {
		first := about
		about = ""
		return s.readTool(v, name, first)
	}))
}

// readCustom reads a tool whose input is a text: the model gets a function with one argument, and
// is told the grammar.
// {"type":"custom","name":"apply_patch","format":{"type":"grammar","syntax":"lark","definition":"…"}}.
// A grammar that can be said as a pattern becomes part of the function's schema, so that everything
// which holds for schemas holds for it: calls that do not fit are repaired, and servers that can
// are held to it. Of any other the client is told.
func (s *toolset) readCustom(v *fastjson.Value) (t chat.Tool, err error) {
	if t.Name, t.Description, err = namesOf(v); err != nil {
		return t, err
	}
	input := schemaOfText{Type: "string"}
	syntax, definition, err := grammarOf(field.OrNull(v.Get("format")))
	if err == nil && syntax != "" {
		if input.Pattern, err = patternOf(syntax, definition); err == nil && input.Pattern == "" {
			s.ask.Tell("Grammar", t.Name+": its grammar cannot be checked here, so its text is free")
		}
		t.Description = paragraphs(t.Description, "The "+inputMember+" must follow this "+syntax+" grammar:\n"+definition)
	}
	if err != nil {
		return t, field.Within("format", err)
	}
	t.Schema, err = chat.JSON(struct {
		Type       string                  `json:"type"`
		Properties map[string]schemaOfText `json:"properties"`
		Required   []string                `json:"required"`
		Additional bool                    `json:"additionalProperties"`
	}{"object", map[string]schemaOfText{inputMember: input}, []string{inputMember}, false})
	return t, err
}

// namesOf returns a tool's or a namespace's name and what it says of itself.
func namesOf(v *fastjson.Value) (name, about string, err error) {
	if err = field.Member(v, "name", &name); err == nil && strings.TrimSpace(name) == "" {
		err = field.Bad("name", "must not be empty")
	}
	if err == nil {
		err = field.Member(v, "description", &about)
	}
	return name, about, err
}

// grammarOf returns the grammar of a custom tool's format: none where the text is free.
func grammarOf(v *fastjson.Value) (syntax, definition string, err error) {
	if field.IsNull(v) {
		return "", "", nil
	}
	if v.Type() != fastjson.TypeObject {
		return "", "", field.Bad("", "must be an object, not %s", field.KindOf(v))
	}
	switch kind := string(v.GetStringBytes("type")); kind {
	case "text":
		return "", "", nil
	case "grammar":
	default:
		return "", "", field.Bad("type", `must be "text" or "grammar", not %q`, kind)
	}
	if err = field.Member(v, "syntax", &syntax); err == nil && syntax == "" {
		err = field.Bad("syntax", `must be "lark" or "regex"`)
	}
	if err == nil {
		err = field.Member(v, "definition", &definition)
	}
	return syntax, definition, err
}

// schemaOfText is the JSON Schema of a custom tool's input. A pattern is the only part of a grammar
// that a schema can say.
type schemaOfText struct {
	Type    string `json:"type"`
	Pattern string `json:"pattern,omitempty"`
}

// longestPattern is how many bytes a pattern may have: a schema may hold no more than 4,096.
const longestPattern = 4000

// patternOf returns a grammar as a pattern that a whole text must match; empty where it cannot be
// said as one, or would be longer than schemas may hold. Then the text is free, the client is told
// so, and says what is wrong with a text. A grammar that is none is an error, as with OpenAI: no
// text could ever follow it.
func patternOf(syntax, definition string) (pattern string, err error) {
	wrong := ""
	switch syntax {
	case "regex":
		pattern = definition
	case "lark":
		pattern, wrong = larkPattern(definition)
	default:
		return "", field.Bad("syntax", `must be "lark" or "regex", not %q`, syntax)
	}
	if strings.TrimSpace(definition) == "" {
		wrong = "is empty"
	}
	whole := "^(?:" + pattern + ")$"
	_, unread := regexpsyntax.Parse(schema.GoPattern(whole), regexpsyntax.Perl)
	if re, ok := errors.AsType[*regexpsyntax.Error](unread); ok && wrong == "" && !beyond[re.Code] {
		wrong = fmt.Sprintf("holds an expression that is none: %s: %.40q", re.Code, re.Expr)
	}
	switch {
	case wrong != "":
		return "", field.Bad("definition", "%s", wrong)
	case unread != nil || pattern == "" || len(whole) > longestPattern:
		return "", nil
	}
	return whole, nil
}

// beyond are the complaints of Go's expressions about what others can say: lookaround, and names
// and repeats of other syntaxes.
var beyond = map[regexpsyntax.ErrorCode]bool{
	regexpsyntax.ErrInvalidPerlOp: true, regexpsyntax.ErrInvalidEscape: true, regexpsyntax.ErrInvalidRepeatSize: true, regexpsyntax.ErrInvalidRepeatOp: true,
	regexpsyntax.ErrInvalidNamedCapture: true, regexpsyntax.ErrInvalidCharRange: true, regexpsyntax.ErrNestingDepth: true, regexpsyntax.ErrLarge: true,
}

// searchName is what a model calls the search for tools, which has no name of its own.
const searchName = "tool_search"

// readSearch reads the tool by which a client loads tools:
// {"type":"tool_search","execution":"client",…}. Where OpenAI would search, nothing does here, so
// all tools are offered from the start.
func (s *toolset) readSearch(v *fastjson.Value) error {
	t, execution := chat.Tool{Name: searchName}, ""
	if err := field.Member(v, "execution", &execution); err != nil || execution != "client" {
		return err
	}
	if err := field.Member(v, "description", &t.Description); err != nil {
		return err
	}
	if p := v.Get("parameters"); p != nil && p.Type() == fastjson.TypeObject {
		b, err := field.Raw(p)
		if err != nil {
			return field.Within("parameters", err)
		}
		t.Schema = b
	}
	s.found = true
	return s.offerTool(t, tool{search, "", searchName}, false)
}

// offerTool offers a tool under a name of the model's own. A tool that was found twice is offered
// once. Two tools may come to one name (a.b__c and a__b.c): the second gets a number, so that each
// call finds its own.
func (s *toolset) offerTool(t chat.Tool, own tool, deferred bool) error {
	if s.own == nil {
		s.own, s.names = map[string]tool{}, map[[2]string]string{}
	}
	key := [2]string{own.namespace, own.name}
	if name, known := s.names[key]; known {
		s.load(name)
		return nil
	}
	t.Name = s.flat(own.namespace, own.name)
	for base, n := t.Name, '2'; s.own[t.Name].name != ""; n++ {
		t.Name = base + "_" + string(n)
	}
	s.own[t.Name], s.names[key] = own, t.Name
	if deferred && !s.loading {
		s.later = append(s.later, t)
	} else {
		s.ask.Tools = append(s.ask.Tools, t)
	}
	return nil
}

// load offers a tool that waited to be loaded. Any other is offered already. Tools that were loaded
// stand behind the rest of the offer, in the order in which they were found, so that the prompt's
// beginning stays what the server has in its cache.
func (s *toolset) load(name string) {
	is := func(t chat.Tool) bool { return t.Name == name }
	if at := slices.IndexFunc(s.later, is); at >= 0 && s.loading {
		s.ask.Tools = append(s.ask.Tools, s.later[at])
		s.later = slices.Delete(s.later, at, at+1)
	}
}

// ranElsewhere are the tools that OpenAI's service runs itself, by the beginnings of their types. A
// model that cannot look something up answers from what it knows, so they are left out: Codex
// offers web_search with every request.
var ranElsewhere = []string{"web_search", "file_search", "code_interpreter", "image_generation"}

// leaveOut leaves a tool out that only adds to what the model can do, and refuses one whose client
// waits for items of a form that no local model writes, such as local_shell and computer.
func (s *toolset) leaveOut(kind string) error {
	if slices.ContainsFunc(ranElsewhere, func(begin string) bool { return strings.HasPrefix(kind, begin) }) {
		s.leftOut = append(s.leftOut, kind)
		return nil
	}
	return field.Bad("type", "is not served here: %q; offer a function, or a custom tool", kind)
}

// tellLeftOut tells the client which tools the model does not get: a reply that never searches the
// web looks wrong otherwise.
func (s *toolset) tellLeftOut() {
	if len(s.leftOut) > 0 {
		s.ask.Tell("Left-Out", strings.Join(s.leftOut, ","))
	}
}

// paragraphs joins texts that are not empty.
func paragraphs(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n\n")
}

// textOf returns the input of a custom tool's call, of the arguments that the model wrote.
// Arguments of another form, which nothing promises to be absent when a client switches the checks
// off, are given as they are.
func textOf(args string) string {
	var a struct{ Input *string }
	if json.Unmarshal([]byte(args), &a) != nil || a.Input == nil {
		return args
	}
	return *a.Input
}
