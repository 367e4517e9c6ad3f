// Package wrapper reads calls in wrappers of an unknown form, by one rule: a value is a call if it
// names one offered tool and has one object that fits the tool's schema, and beside these nothing
// but ids, types, roles and thoughts.
//
// Small models write what they saw most often: messages of OpenAI, Anthropic, Gemini and MCP, or a
// form of their own. A list of member names would never be complete, but the structure is always
// the same:
//
//	{"tool_name": "get_time", "tool_args": {"zone": "UTC"}}         a name and an object beside each other
//	{"get_time": {"zone": "UTC"}}                                   the name is the key of the object
//	["get_time", {"zone": "UTC"}]                                   the two are a pair
//	<call tool="get_time" zone="UTC"/>                              the object's members are beside the name
//	{"role": "assistant", "tool_calls": [{"function": {…}}]}        wrappers around one of the two
//	<get_time><zone>UTC</zone></get_time>                           the same in tags
//	<act>use: get_time                                              the same in lines, between tags or marks
//	### get_time⏎{"zone": "UTC"}                                    a place for the name, and a coding of one object
//
// The files of the package:
//
//	wrapper.go  the law: which values are calls
//	words.go    what may be beside a call, and what makes it a record or an example
//	node.go     values, however they were written; arguments as JSON of a schema
//	read.go     which form a text has; marks and fences around it; name(…); lines
//	lines.go    a call on two lines: Tool: NAME, Input: {…}; YAML
//	flow.go     mappings and sequences of YAML on one line
//	placed.go   places for a name: a heading, a sign, a label, a word; expressions
//	coded.go    codings of one object: JSON, lines, flags, assignments, a query; TOML
//	tags.go     tags
//	ahead.go    when a text that is still being written can no longer be a wrapper
//	front.go    the same for a text that begins with a letter or a sign
package wrapper

import (
	"html"
	"slices"
	"strings"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat/schema"
)

// Call is a call that was found in a text. Args is strict JSON, and ID is empty if the text has no
// id.
type Call struct {
	Tool     *toolset.Tool
	ID, Args string
}

// Calls returns the calls of a text that consists only of calls and what is around them, such as a
// JSON message (a wrapper). It returns nil for any other text. The result of type Form says how
// clearly these are calls. The text is read as a whole or not at all, because otherwise the user
// would see the torn rest of it.
func Calls(text string, tools *toolset.Set) ([]Call, Form) {
	l := law{tools: tools}
	all := l.calls(l.document(strings.TrimSpace(text)), 0)
	return all, l.form
}

// Form says how clearly the way in which calls are written shows that they are calls. A larger
// value is less clear.
type Form int

// The forms.
const (
	Known Form = iota // the form in which APIs, model families and programs write calls
	// Loose is a form in which documents are written as well, so a user who asks for a document may
	// mean it.
	Loose
	Command // the form of a command that the user is to run
)

// Doubtful returns the name of the first tool that a text calls. It also reads texts that can be
// read in two ways, which Calls refuses. For example, entities such as &amp; in tags are data in
// some forms of calls and not in others. It returns "" for texts without calls.
func Doubtful(text string, tools *toolset.Set) string {
	l := law{tools: tools, unsure: true}
	for _, call := range l.calls(l.document(strings.TrimSpace(text)), 0) {
		return call.Tool.Name
	}
	return ""
}

// law finds calls in values of any notation, by one rule: a value is a call if it names one offered
// tool and has one object that fits the tool's schema. See the package comment.
type law struct {
	tools  *toolset.Set
	marked bool // marks surround the text, so it can only be meant as a call
	tagged bool // tags or a fence surround the text, so text in other notations is inside them
	unsure bool // texts that can be read in two ways are read as well
	form   Form
}

// maxDepth bounds how many wrappers may be around a call.
const maxDepth = 6

// calls returns the calls of a value, or nil if any part of the value is not a call.
func (l *law) calls(n *node, depth int) []Call {
	switch {
	case n == nil || depth > maxDepth:
		return nil
	case n.kind == aText:
		return l.text(n, depth)
	// ["get_time", {…}]
	case n.kind == aList && len(n.items) == 2 && n.items[1].kind == anObject &&
		l.nameIn(n.items[0]) != nil:
		t := l.nameIn(n.items[0])
		args, ok := l.fits(n.items[1], t, "arguments")
		if !ok {
			return nil
		}
		return []Call{{Tool: t, Args: args}}
	// [{…}, {…}]
	case n.kind == aList:
		return l.each(n.items, depth)
	}
	return l.object(n, depth)
}

// text returns the calls of a value that is a text, or nil. In a JSON string the text may be JSON
// or name(…), and in a tag it may be in any notation.
func (l *law) text(n *node, depth int) []Call {
	var inner *node
	switch text := strings.TrimSpace(n.text); {
	case n.json == "":
		inner = l.document(text)
		if plain := html.UnescapeString(text); plain != text {
			if inner != nil && !l.unsure {
				return nil // the entities may be data or not
			}
			inner = l.document(plain) // {&quot;name&quot;: …}
		}
	case text != "" && (text[0] == '{' || text[0] == '['):
		inner = readJSON(text)
	// "get_time(zone=\"UTC\")"
	default:
		inner = l.applied(text)
	}
	if inner == nil || inner.kind == aText {
		return nil
	}
	return l.calls(inner, depth+1)
}

// each returns the calls that the given values describe, in one list, or nil if one of the values
// is not a call. The parameter depth is the number of wrappers around the values.
func (l *law) each(items []*node, depth int) (all []Call) {
	for _, item := range items {
		found := l.calls(item, depth+1)
		if found == nil {
			return nil
		}
		all = append(all, found...)
	}
	return all
}

// parts are the members of an object, sorted by their role in a call.
type parts struct {
	tool  *toolset.Tool // the tool that a member names, or nil
	id    string
	rest  []member // other members, which may be arguments
	wrong bool     // the object is a record of a call, or names two tools
}

// object returns the calls of an object, or nil if any part of it is not a call. A member may name
// the tool, the keys may be the names of tools, or the object may be around calls, as
// {"tool_calls": […]} is.
func (l *law) object(n *node, depth int) []Call {
	p := l.divide(n)
	switch {
	// a record, or no possible arguments: {"tool": "get_time"} may be a setting
	case p.wrong || len(p.rest) == 0:
		return nil
	// {"do": "get_time", "with": {…}}
	case p.tool != nil:
		args, ok := "", false
		if len(p.rest) == 1 {
			args, ok = l.fits(p.rest[0].value, p.tool, p.rest[0].key)
		}
		if !ok {
			args, ok = l.flat(n, &p)
		}
		if !ok {
			return nil
		}
		return []Call{{p.tool, p.id, args}}
	}
	// {"get_time": {…}}
	if all := l.byKey(&p); all != nil {
		return all
	}
	// {"call": {…}}, and <invoke>…</invoke><invoke>…</invoke> one after the other
	var inner []*node
	for _, m := range p.rest {
		// {"tools": […]} is a list of tools, {"result": {…}} a result
		key := fold(m.key)
		if m.key != p.rest[0].key || shown[key] && !answers(key, m.value) ||
			n.json == "" && pages[m.key] {
			return nil
		}
		// {"usage": "get_time(zone=…)"} is not a call, {"action": "get_time(zone=…)"} is
		if m.value.holdsCode() && !kinds[key] && !strings.Contains(key, "call") {
			return nil
		}
		inner = append(inner, m.value)
	}
	// {"alarms": [{…}, {…}]} is a list of records
	all := l.each(inner, depth)
	if len(inner) == 1 && inner[0].kind == aList {
		inner = inner[0].items
	}
	if len(inner) > 1 && !l.marked && !callsIt(p.rest[0].key) &&
		slices.ContainsFunc(inner, func(n *node) bool { return !n.says(callsIt) }) {
		return nil
	}
	return all
}

// flat returns the arguments of a call that has them beside its name, as in <call tool="get_time"
// zone="UTC"/>. It returns false if they do not fit the tool, or if a parameter of the tool was
// taken for an id or a type of the call.
func (l *law) flat(n *node, p *parts) (string, bool) {
	own, rest := 0, p.rest
	for _, m := range n.members {
		if p.tool.Type().Has(m.key) {
			own++
		}
		// "mode": "bike", which may also be a member of the wrapper, but is one that the tool lists
		if typeKeys[fold(m.key)] && slices.Contains(p.tool.Type().Prop(m.key).Enum(),
			schema.Quote(m.value.text)) {
			rest = append(slices.Clip(rest), m)
		}
	}
	if own != len(rest) {
		return "", false
	}
	return l.fitsIn(&node{kind: anObject, members: rest}, p.tool, "")
}

// byKey returns the calls of an object whose members are named like tools, as in {"get_time":
// {"timezone": "UTC"}}. It returns nil if a member is not a call. A member with an empty object is
// a call only if the text is between tags or tokens for a call, or if the tool has no parameters.
func (l *law) byKey(p *parts) (all []Call) {
	for _, m := range p.rest {
		t := l.named(m.key)
		if t == nil {
			return nil
		}
		// {"get_time": [{…}, {…}]}
		values := []*node{m.value}
		if m.value.kind == aList && len(m.value.items) > 0 {
			values = m.value.items
		}
		for _, value := range values {
			args, ok := l.fits(value, t, "arguments")
			if !ok || args == "{}" && !l.marked && len(t.Type().Members()) > 0 {
				return nil
			}
			all = append(all, Call{t, p.id, args})
		}
	}
	return all
}

// divide sorts the members of an object by their role in a call: its name, its arguments, and the
// rest. Any member may name the tool. A member such as "type" or "id" names it only if no other
// member does.
func (l *law) divide(n *node) (p parts) {
	var second *toolset.Tool
	answered := false
	for _, m := range n.members {
		key := fold(m.key)
		t := l.nameIn(m.value)
		stands := beside(key, m.value)
		switch {
		// {"response": {"tool_calls": […]}}, but not beside the name of a tool
		case messages[key] && m.value.kind != aText:
			answered = true
			p.rest = append(p.rest, m)
		// {"name": …, "status": "ok"}, or a message of the user
		case records[key] || key == "role" && !speaks[m.value.text],
			// "set_by": "set_alarm", <artifactId>lint_file</artifactId>
			t != nil && !stands && attributed.MatchString(key) && !callsIt(key):
			p.wrong = true
		// two members may name the same tool: "tool" and "title"
		case t != nil && !stands:
			p.wrong = p.wrong || p.tool != nil && p.tool != t
			p.tool = t
		// "id": "call_1"
		case stands:
			if t != nil && second == nil {
				second = t
			}
			if idKeys[key] && m.value.kind == aText {
				p.id = m.value.text
			}
		default:
			p.rest = append(p.rest, m)
		}
	}
	if p.tool == nil {
		p.tool = second
	}
	p.wrong = p.wrong || answered && p.tool != nil
	return p
}

// nameIn returns the tool whose name is the text of a value, or nil.
func (l *law) nameIn(n *node) *toolset.Tool {
	if n.kind != aText {
		return nil
	}
	return l.named(n.text)
}

// named returns the tool with exactly this name, or nil. Only a namespace may precede it, as in
// mcp__clock__get_time. Other spellings are not accepted, because they may be words of a document:
// "Search" is not the tool search.
func (l *law) named(name string) *toolset.Tool {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > toolset.MaxName {
		return nil
	}
	if t := l.tools.Find(name); t != nil {
		if strings.HasSuffix(strings.ReplaceAll(name, `\`, ""), t.Name) {
			return t
		}
		return nil
	}
	// call:get_time
	if t := l.tools.Named(name[strings.LastIndexByte(name, ':')+1:]); t != nil {
		return t
	}
	// mcp__clock__get_time, functions.get_time:0
	base, _, _ := strings.Cut(name, ":")
	for _, sep := range []string{"__", ".", "/"} {
		if i := strings.LastIndex(base, sep); i > 0 {
			if t := l.tools.Named(base[i+len(sep):]); t != nil {
				return t
			}
		}
	}
	return nil
}

// fits returns the value n as the arguments of the tool t, in JSON. It returns false if n does not
// fit. The arguments must have the required members, and only members that the tool lists. The
// parameter key is the name that the value had in the text. If the tool lists no members, key must
// be a word for arguments, such as "arguments". An object around the arguments is removed, as in
// <tool name="f"><parameters>…</parameters></tool>.
func (l *law) fits(n *node, t *toolset.Tool, key string) (string, bool) {
	if n.kind == aText {
		switch text := strings.TrimSpace(n.text); {
		// <arguments></arguments>
		case text == "" || text == "null":
			return "{}", len(t.Type().Required()) == 0
		// OpenAI's own arguments are JSON in a string
		case text[0] == '{':
			if n.json == "" && html.UnescapeString(text) != text && !l.unsure {
				return "", false
			}
			return l.fitsIn(readJSON(text), t, key)
		// <arguments>zone: UTC</arguments>; in JSON such a text is not an object
		case n.json == "":
			return l.fitsIn(readLines(n.text), t, key)
		}
		return "", false
	}
	return l.fitsIn(n, t, key)
}

// fitsIn returns the object n as the arguments of the tool t, and false if n does not fit. The
// parameter key is the name of n in the text. If n itself does not fit, fitsIn tries members named
// by attributes, <p name="city">Rome</p>, and then the only member of n.
func (l *law) fitsIn(n *node, t *toolset.Tool, key string) (string, bool) {
	if n == nil || n.kind != anObject || n.unsure(t.Type()) && !l.unsure ||
		len(t.Type().Members()) == 0 && len(n.members) > 0 && !lenient.ArgsKeys[key] {
		return "", false
	}
	args := n.gathered(t.Type()).arguments(t.Type())
	if takes(t, scan.Fields(args)) && !n.describes(t.Type()) {
		return args, true
	}
	// <tool name="f"><p name="city">Rome</p></tool>
	if named := n.byAttribute(); named != nil {
		return l.fitsIn(named, t, key)
	}
	// <tool name="f"><parameters>…</parameters></tool>
	if len(n.members) == 1 && !shown[fold(n.members[0].key)] && n.members[0].value.kind != aList &&
		!t.Type().Has(n.members[0].key) {
		return l.fits(n.members[0].value, t, n.members[0].key)
	}
	return "", false
}
