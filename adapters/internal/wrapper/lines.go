package wrapper

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/toolset"
)

// The folded words before the two colons of a call on two lines.
var (
	nameLines = []string{"tool", "toolname", "name", "function", "functionname", "action", "call"}
	argsLines = []string{"arguments", "args", "parameters", "params", "input", "inputs", "actioninput", "toolinput"}
)

// types holds the names of types in a list of parameters.
var types = set("string number integer boolean bool object array list text int float str any")

// namedLines reads a call on two lines, or with arguments as lines below the second, and nothing
// else around it:
//
//	Tool: get_time            tool: get_time
//	Input: {"zone": "UTC"}    arguments:
//	                            zone: UTC
//
// Both lines must begin with a word from the lists above, since other lines may be prose.
func (l *law) namedLines(text string) *node {
	first, rest, _ := strings.Cut(text, "\n")
	name, tool, _ := strings.Cut(first, ":")
	with, value, ok := strings.Cut(rest, ":")
	t := l.tools.Named(strings.TrimSpace(tool))
	if !ok || t == nil || !slices.Contains(nameLines, fold(name)) || !slices.Contains(argsLines, fold(with)) {
		return nil
	}
	var args *node
	if strings.HasPrefix(strings.TrimLeft(value, " \t\r"), "\n") {
		args = readLines(strings.TrimLeft(value, " \t\r\n"))
		if body := strings.TrimLeft(value, " \t\r"); body[1:] != "" && body[1] == ' ' {
			args = readLines(body[1:])
		}
	} else if value = strings.TrimSpace(value); strings.HasPrefix(value, "{") {
		args = readJSON(value)
	}
	if args == nil || args.kind != anObject || slices.ContainsFunc(args.members, describesType) {
		return nil
	}
	return &node{kind: anObject, members: []member{{"name", &node{text: t.Name}}, {"arguments", args}}}
}

// describesType reports whether a member describes the type of a value: zone: string.
func describesType(m member) bool { return m.value.kind == aText && types[m.value.text] }

// nested reads lines of YAML that name a tool and have its arguments indented below a key, which
// may be the tool's name:
//
//	tool_call:            get_time:
//	  use: get_time         zone: UTC
//	  with:
//	    zone: UTC
//
// Lines without indentation may as well be a text about a tool.
func (l *law) nested(text string) *node {
	n := readLines(strings.TrimSuffix(text, "\n..."))
	if n == nil || !l.below(n, maxDepth) {
		return nil
	}
	return n
}

// below reports whether a value names a tool, and has only objects beside or below the name.
func (l *law) below(n *node, depth int) bool {
	if depth == 0 || n.kind == aText {
		return false
	}
	if n.kind == aList {
		return len(n.items) == 1 && l.below(n.items[0], depth-1)
	}
	named := false
	for _, m := range n.members {
		object := m.value.kind == anObject && !slices.ContainsFunc(m.value.members, describesType)
		switch {
		case l.named(m.key) != nil && object, l.nameIn(m.value) != nil:
			named = true
		case !object && !beside(fold(m.key), m.value):
			return len(n.members) == 1 && l.below(m.value, depth-1)
		}
	}
	return named || len(n.members) == 1 && l.below(n.members[0].value, depth-1)
}

// front matches the beginning of a line of a program before its call: await, and an assignment.
var front = regexp.MustCompile(`^(?:(?:(?:const|let|var) )?\w+ ?= ?)?(?:await )?`)

// caller matches a call of a function that takes a tool's name and its arguments:
// call_tool("get_time", {"zone": "UTC"}).
var caller = regexp.MustCompile(`^([\w.]+)\(([\s\S]*)\)$`)

// code reads a call as a line of a program: result = await get_time(zone="UTC").
func (l *law) code(text string) *node {
	text = strings.TrimSuffix(text[len(front.FindString(text)):], ";")
	if n := l.applied(text); n != nil {
		return n
	}
	m := caller.FindStringSubmatch(text)
	if m == nil || shown[fold(m[1])] || records[fold(m[1])] {
		return nil
	}
	if n := readJSON(m[2]); n != nil && n.kind == anObject {
		return n
	}
	if n := readJSON("[" + m[2] + "]"); n != nil && len(n.items) == 2 && n.items[1].kind == anObject {
		return n
	}
	return nil
}

// lines reads a text that begins with a letter, byte by byte, and decides when it can no longer be
// a call on lines or a line of a program.
type lines struct {
	front []byte // the first line so far
	free  bool   // the rest may be any text
}

// program matches a line of a program up to its bracket; partial matches the beginning of such a
// line, or of a line of YAML. Variables begin with a small letter, so that the first word of a
// sentence is not held back.
var (
	program = regexp.MustCompile(`^(?:(?:(?:const|let|var) )?\w+ ?= ?)?(?:await )?[\w.]+$`)
	partial = regexp.MustCompile(`^(?:(?:const|let|var) )?[a-z_]\w* ?$|^(?:(?:(?:const|let|var) )?\w+ ?= ?)?(?:await )?[\w.]*$|^-( ?|--?|[ ]\w*)$`)
)

// goes adds a byte and reports whether the text may still be such a call.
func (s *lines) goes(c byte, tools *toolset.Set) bool {
	l := law{tools: tools}
	switch {
	case s.free:
		return true
	// the first line of YAML
	case c == '\n' && string(s.front) == "---":
		s.front = s.front[:0]
		return true
	// tool: get_time⏎, tool_call:⏎, - use: get_time⏎
	case c == '\n':
		name, value, ok := strings.Cut(strings.TrimPrefix(string(s.front), "- "), ":")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		s.free = ok && (value == "" && (l.named(name) != nil || kinds[fold(name)]) || value != "" && l.named(value) != nil)
		return s.free
	case c == '(' && program.Match(s.front):
		s.free = true
		return true
	}
	s.front = append(s.front, c)
	line := string(s.front)
	if _, value, ok := strings.Cut(line, ":"); ok {
		return len(value) <= toolset.MaxName
	}
	return len(line) <= toolset.MaxName && (partial.MatchString(line) ||
		slices.ContainsFunc(nameLines, func(w string) bool { return strings.HasPrefix(w, fold(line)) }))
}
