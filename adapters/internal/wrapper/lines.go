package wrapper

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// The folded labels of a call on two lines: nameLines of the first line, argsLines of the second.
var (
	nameLines = []string{"tool", "toolname", "name", "function", "functionname", "action", "call"}
	argsLines = []string{"arguments", "args", "parameters", "params", "input", "inputs",
		"actioninput", "toolinput"}
)

// types are the names of types in a list of parameters.
var types = scan.WordSet(
	"string number integer boolean bool object array list text int float str any")

// namedLines reads a call on two lines, whose arguments may also be lines below the second line:
//
//	Tool: get_time            tool: get_time
//	Input: {"zone": "UTC"}    arguments:
//	                            zone: UTC
//
// Both lines must begin with a known label, because other lines may be prose. For any other text,
// or with more text around the call, it returns nil.
func (l *law) namedLines(text string) *node {
	m := labelLine.FindStringSubmatch(text)
	if m == nil || !slices.Contains(nameLines, fold(m[1])) {
		return nil
	}
	t := l.tools.Named(strings.Trim(m[2], "`\"'* "))
	with := labelLine.FindStringSubmatch(strings.TrimLeft(m[3], " \t\r\n"))
	if t == nil || with == nil || !slices.Contains(argsLines, fold(with[1])) {
		return nil
	}
	value, below := strings.TrimSpace(with[2]), strings.Trim(with[3], "\r\n")
	var args *node
	switch rest := value + "\n" + below; {
	case strings.HasPrefix(value, "{"):
		args = readJSON(rest)
	// the lines below are the arguments
	case value == "" && below != "" && strings.IndexByte("{`", strings.TrimSpace(below)[0]) < 0:
		if !odd.MatchString(below) {
			args = readLines(below)
		}
	default:
		args = coded(strings.TrimSpace(rest), t)
	}
	if args == nil || args.kind != anObject || slices.ContainsFunc(args.members, describesType) {
		return nil
	}
	return &node{kind: anObject, members: []member{{"name", &node{text: t.Name}},
		{"arguments", args}}}
}

// labelLine matches a line with a label, and the text after the label, as in "Tool: get_time" and
// "- **Arguments:** {…}".
var labelLine = regexp.MustCompile(
	"^(?:[-*] )?\\*{0,2}([A-Za-z_]+(?:[ _-][A-Za-z]+)?)\\*{0,2}:\\*{0,2}[ \t]*([^\n]*)([\\s\\S]*)$")

// describesType reports whether a member's value is the name of a type, as in "zone: string".
func describesType(m member) bool { return m.value.kind == aText && types[m.value.text] }

// nested reads lines of YAML that name a tool and have its arguments indented below a key. The key
// may be the tool's name:
//
//	tool_call:            get_time:
//	  use: get_time         zone: UTC
//	  with:
//	    zone: UTC
//
// It returns nil for any other text. Lines without indentation are not read, because they may be a
// text about a tool.
func (l *law) nested(text string) *node {
	text = remarks.ReplaceAllStringFunc(text, func(line string) string {
		code, _, behind := strings.Cut(line, "  #")
		if !behind || empty(code) {
			return "" // a line of its own
		}
		if strings.Count(code, `"`)%2 == 1 || strings.Count(code, "'")%2 == 1 {
			return line // the sign is part of a text in quotation marks
		}
		return strings.TrimRight(code, " ")
	})
	n := readLines(text)
	if n == nil || odd.MatchString(text) || !l.below(n, maxDepth) {
		return nil
	}
	return n
}

// remarks matches lines with comments of YAML that are not part of a value, unless they are inside
// quotation marks: comments on lines of their own, and comments after two blanks.
var remarks = regexp.MustCompile(`(?m)^ *# .*\n?|^.*?  # .*$`)

// below reports whether the object or list n contains the name of a tool, at most depth levels
// down, and otherwise only objects and members that may occur beside a call, such as an id.
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

// front matches the text that may come before the call on a line of a program: an assignment or
// return, and await.
var front = regexp.MustCompile(`^(?:(?:(?:const|let|var) )?\w+ ?= ?|return )?(?:await )?`)

// around matches print or asyncio.run around a call. These functions only show or await the call.
var around = regexp.MustCompile(`^(?:print|asyncio\.run)\(([\s\S]*)\)$`)

// caller matches a call of a function that takes a tool's name and its arguments, as in
// call_tool("get_time", {"zone": "UTC"}).
var caller = regexp.MustCompile(`^([\w.]+)\(([\s\S]*)\)$`)

// code reads a call as a line of a program, such as result = await get_time(zone="UTC"). It returns
// nil for any other text.
func (l *law) code(text string) *node {
	text = strings.TrimSuffix(text[len(front.FindString(text)):], ";")
	if m := around.FindStringSubmatch(text); m != nil {
		return l.applied(m[1])
	}
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
	if n := readJSON("[" + m[2] + "]"); n != nil && len(n.items) == 2 &&
		n.items[1].kind == anObject {
		return n
	}
	// Call(name="get_time", arguments={"zone": "UTC"})
	if n := pairs(m[2], nil); n != nil && callsIt(m[1]) && n.says(callsIt) {
		return n
	}
	return nil
}
