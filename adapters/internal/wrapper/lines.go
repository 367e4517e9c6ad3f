package wrapper

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/toolset"
)

// What may stand in front of the two colons of a call on lines of its own, folded.
var (
	nameLines = []string{"tool", "toolname", "name", "function", "functionname", "action", "call"}
	argsLines = []string{"arguments", "args", "parameters", "params", "input", "inputs", "actioninput", "toolinput"}
)

// types are words that say what a value is, where a listing of parameters has them.
var types = set("string number integer boolean bool object array list text int float str any")

// namedLines reads a call on two lines, or with arguments as lines below the second, and nothing
// else around it:
//
//	Tool: get_time            tool: get_time
//	Input: {"zone": "UTC"}    arguments:
//	                            zone: UTC
//
// Words of a reply are prose: both lines must begin with a word for what they hold.
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

// describesType reports whether a member says of which type a value is: zone: string.
func describesType(m member) bool { return m.value.kind == aText && types[m.value.text] }

// lines looks at a text that begins with a letter, byte by byte, and tells when it can be no call on
// lines of its own.
type lines struct {
	line  []byte // the first two lines up to their colons, then the first line's rest
	colon bool
	n     int // how many lines are over
}

// goes takes one more byte and reports whether the text may still be such a call.
func (s *lines) goes(c byte, tools *toolset.Set) bool {
	words := nameLines
	if s.n > 0 {
		words = argsLines
	}
	switch {
	// the arguments, up to the end of the reply
	case s.n > 0 && s.colon:
		return true
	case c == ':' && !s.colon:
		s.colon = slices.Contains(words, fold(string(s.line)))
		s.line = s.line[:0]
		return s.colon
	case c == '\n' && s.colon:
		known := tools.Named(strings.TrimSpace(string(s.line))) != nil
		*s = lines{n: 1}
		return known
	}
	s.line = append(s.line, c)
	if s.colon {
		return len(s.line) <= toolset.MaxName
	}
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, fold(string(s.line))) })
}
