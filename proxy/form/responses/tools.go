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

// toolKind is the type of a tool in the request. It decides which kind of item a call becomes.
type toolKind uint8

const (
	function toolKind = iota
	custom            // its input is a text, which may have to follow a grammar
	search            // the client searches for tools and loads them
)

// inputMember is the name of the only argument with which a model calls a custom tool.
const inputMember = "input"

// tool is a tool of the request, under the name by which the client knows it.
type tool struct {
	kind            toolKind
	namespace, name string
}

// toolset is the set of tools of a request, with both of their names. A model knows a tool by one
// name, a client by a name in a namespace. The zero value is empty.
type toolset struct {
	ask     *form.Ask            // in which the tools are offered
	own     map[string]tool      // by the name for the model
	names   map[[2]string]string // the name for the model, by namespace and name
	later   []chat.Tool          // tools that the client loads by a search
	loading bool                 // whether the tools that are being read were found by a search
	found   bool                 // whether the request has a tool for searching
	leftOut []string             // the types of tools that are not offered
}

// flat returns the name by which the model knows a tool. If the tool is unknown, it makes a name in
// the same way, because an old conversation may call tools that are no longer offered. For example,
// the namespace mcp__docs and the name search become mcp__docs__search. Clients without namespaces
// name the tools of MCP servers like this, so models have seen such names.
func (s *toolset) flat(namespace, name string) string {
	if flat, ok := s.names[[2]string{namespace, name}]; ok {
		return flat
	}
	if namespace == "" {
		return name
	}
	return strings.TrimSuffix(namespace, "__") + "__" + name
}

// of returns the client's tool for the name that a model calls. The engine only passes calls with
// names exactly as they were offered. For an unknown name it returns a function of that name.
func (s *toolset) of(name string) tool {
	if t, ok := s.own[name]; ok {
		return t
	}
	return tool{name: name}
}

// named returns which tool v, a tool_choice, names: the path of the field that has the name, and
// the name under which that tool is offered to the model. It is a function of the type form.Named.
func (s *toolset) named(v *fastjson.Value) (member, name string) {
	if string(v.GetStringBytes("type")) == "tool_search" {
		return "type", s.flat("", searchName)
	}
	member, name = form.FindTool(v)
	return member, s.flat(string(v.GetStringBytes("namespace")), name)
}

// read adds a list of tools to the request. A deferred tool is not offered to the model until a
// search finds it, but if the request has no search tool, all are offered. That is decided after
// the whole list was read, because the search tool may be the last. It returns an error if a tool
// is invalid.
func (s *toolset) read(v *fastjson.Value) error {
	err := field.List(v, func(v *fastjson.Value) error { return s.readTool(v, "", "") })
	if !s.found {
		s.ask.Tools = append(s.ask.Tools, s.later...)
		s.later = nil
	}
	return err
}

// readTool adds one tool. The parameter namespace is the tool's namespace, or "" if it has none.
// The parameter about is the namespace's description, which is put before the tool's description,
// because models would not see it otherwise. It returns an error if the tool is invalid or its type
// is not supported.
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

// readNamespace adds a group of tools:
// {"type":"namespace","name":"mcp__docs","description":…,"tools":[…]}. Codex sends each MCP server
// as a namespace, and accepts calls only with the namespace next to the name. It returns an error
// if the group or one of its tools is invalid.
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

// readCustom returns a function for a tool whose input is a text:
// {"type":"custom","name":"apply_patch","format":{"type":"grammar","syntax":"lark","definition":"…"}}.
// The function has one argument, and its description has the grammar. A grammar that can be
// translated to a pattern becomes part of the function's schema. So calls that do not fit are
// repaired, and servers that support schemas constrain the model to it. For any other grammar the
// client is told that it is not enforced. It returns an error if the tool or its grammar is
// invalid.
func (s *toolset) readCustom(v *fastjson.Value) (t chat.Tool, err error) {
	if t.Name, t.Description, err = namesOf(v); err != nil {
		return t, err
	}
	input := schemaOfText{Type: "string"}
	syntax, definition, err := grammarOf(field.OrNull(v.Get("format")))
	if err == nil && syntax != "" {
		if input.Pattern, err = patternOf(syntax, definition); err == nil && input.Pattern == "" {
			s.ask.Tell("Grammar", t.Name+
				": its grammar cannot be checked here, so its text is free")
		}
		t.Description = paragraphs(t.Description, "The "+inputMember+" must follow this "+syntax+
			" grammar:\n"+definition)
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

// namesOf returns the name and the description of a tool or a namespace. It returns an error if the
// name is empty or one of them is not a string.
func namesOf(v *fastjson.Value) (name, about string, err error) {
	if err = field.Member(v, "name", &name); err == nil && strings.TrimSpace(name) == "" {
		err = field.Bad("name", "must not be empty")
	}
	if err == nil {
		err = field.Member(v, "description", &about)
	}
	return name, about, err
}

// grammarOf returns the grammar in a custom tool's format: its syntax ("lark" or "regex") and its
// text. Both are empty if the tool takes any text. It returns an error if the format is invalid.
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

// schemaOfText is the JSON Schema of a custom tool's input. If the tool has a grammar, the schema
// has it as a regular expression (pattern), since it cannot express any other.
type schemaOfText struct {
	Type    string `json:"type"`
	Pattern string `json:"pattern,omitempty"`
}

// longestPattern is the greatest length of a pattern in bytes. A schema may contain at most 4,096.
const longestPattern = 4000

// patternOf returns a regular expression for a grammar; a text fits the grammar if all of it
// matches. The pattern is empty if the grammar cannot be translated, or if it would be too long for
// a schema. Then any text is accepted, the client is told so, and the client itself checks the
// text. It returns an error for an invalid grammar, as OpenAI does, because no text could ever fit
// it.
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

// beyond lists the errors of Go's regular expressions for features that only other syntaxes have,
// such as lookaround, and other kinds of names and repeats.
var beyond = map[regexpsyntax.ErrorCode]bool{
	regexpsyntax.ErrInvalidPerlOp: true, regexpsyntax.ErrInvalidEscape: true,
	regexpsyntax.ErrInvalidRepeatSize: true, regexpsyntax.ErrInvalidRepeatOp: true,
	regexpsyntax.ErrInvalidNamedCapture: true, regexpsyntax.ErrInvalidCharRange: true,
	regexpsyntax.ErrNestingDepth: true, regexpsyntax.ErrLarge: true,
}

// searchName is the name by which a model calls the search for tools, which has no name in
// requests.
const searchName = "tool_search"

// readSearch adds the tool by which a client loads tools:
// {"type":"tool_search","execution":"client",…}. A search that OpenAI would run is ignored, so all
// tools are offered from the beginning. It returns an error if a field is invalid.
func (s *toolset) readSearch(v *fastjson.Value) error {
	t, execution := chat.Tool{Name: searchName}, ""
	if err := field.Member(v, "execution", &execution); err != nil || execution != "client" {
		return err
	}
	if err := field.Member(v, "description", &t.Description); err != nil {
		return err
	}
	if p := v.Get("parameters"); p != nil && p.Type() == fastjson.TypeObject {
		t.Schema = field.Raw(p)
	}
	s.found = true
	return s.offerTool(t, tool{search, "", searchName}, false)
}

// offerTool adds a tool to those that the model may call. If deferred is true, it stores the tool
// instead, until a search finds it. A tool that is found twice is offered once. If two tools would
// get the same name for the model (a.b__c and a__b.c), the second gets a number. It always returns
// nil.
func (s *toolset) offerTool(t chat.Tool, own tool, deferred bool) error {
	if s.own == nil {
		s.own, s.names = map[string]tool{}, map[[2]string]string{}
	}
	key := [2]string{own.namespace, own.name}
	if name, known := s.names[key]; known {
		if t.Name = name; !s.loading && !deferred {
			s.ask.Tools = append(s.ask.Tools, t) // left out and told by form.Ask.OfferOnce
		}
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

// load offers a deferred tool that a search has found. For any other tool it does nothing, since
// that is offered already. Found tools come after all others, in the order in which they were
// found, so that the beginning of the prompt stays the same as in the server's cache.
func (s *toolset) load(name string) {
	is := func(t chat.Tool) bool { return t.Name == name }
	if at := slices.IndexFunc(s.later, is); at >= 0 && s.loading {
		s.ask.Tools = append(s.ask.Tools, s.later[at])
		s.later = slices.Delete(s.later, at, at+1)
	}
}

// ranElsewhere lists the tools that OpenAI's service runs itself, by the prefixes of their types.
// They are left out and not refused, because Codex offers web_search with every request, and a
// model that cannot look something up answers from what it knows.
var ranElsewhere = []string{"web_search", "file_search", "code_interpreter", "image_generation"}

// leaveOut leaves out a tool that OpenAI's service would run itself, such as a web search, since a
// model can answer without it. For other kinds, such as local_shell and computer, it returns an
// error, because their clients wait for items that no local model writes.
func (s *toolset) leaveOut(kind string) error {
	if slices.ContainsFunc(ranElsewhere, func(begin string) bool {
		return strings.HasPrefix(kind, begin)
	}) {
		s.leftOut = append(s.leftOut, kind)
		return nil
	}
	return field.Bad("type", "is not served here: %q; offer a function, or a custom tool", kind)
}

// tellLeftOut adds a note for the client that names the tools which the model does not get, because
// a reply that never searches the web would look wrong otherwise.
func (s *toolset) tellLeftOut() {
	if len(s.leftOut) > 0 {
		s.ask.Tell("Left-Out", strings.Join(s.leftOut, ","))
	}
}

// paragraphs returns the texts that are not empty, with a blank line between them.
func paragraphs(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n\n")
}

// textOf returns the input of a custom tool from the arguments that the model wrote. Arguments of
// another form are returned unchanged. They can occur if the checks of calls are turned off.
func textOf(args string) string {
	var a struct{ Input *string }
	if json.Unmarshal([]byte(args), &a) != nil || a.Input == nil {
		return args
	}
	return *a.Input
}
