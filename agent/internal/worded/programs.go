package worded

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// programs are the languages of fences that may contain one call and nothing else.
var programs = []string{"", "python", "py", "javascript", "js", "typescript", "ts", "tool_code",
	"tool", "text", "plaintext"}

// program reads a call in a fence of Python or JavaScript at the end of the reply, and returns the
// call and the text before it. The parameter end is the reason why the reply ended: a fence that
// the token limit has cut is no call. If there is no call, calls is nil.
func (r *Reader) program(text, end string) (calls []chat.Call, front string) {
	i := strings.Index(text, "```")
	if i < 0 {
		return r.span(strings.TrimSpace(text))
	}
	m := fenced.FindStringSubmatch(text[i:])
	inner, behind, _ := fence(text[i:])
	front, _ = bared(text[:i])
	called, rest := name(unwrapped(strings.TrimSpace(inner)))
	t, known := r.tool(called)
	rest = strings.TrimSpace(rest)
	if !known || !slices.Contains(programs, strings.ToLower(m[2])) ||
		strings.TrimSpace(behind) != "" || end == chat.Length && behind == "" ||
		!strings.HasPrefix(rest, "(") || !strings.HasSuffix(rest, ")") ||
		!adapters.Meant(front, "") {
		return nil, ""
	}
	args, ok := read(t, rest[1:len(rest)-1], false, true)
	if !ok {
		return nil, ""
	}
	return []chat.Call{{Name: t.Name, Args: args}}, front
}

// These match code around a call that only uses its result, by printing it or by assigning it to a
// variable that is then printed.
var (
	printed  = regexp.MustCompile(`(?s)^(?:print|display|console\.log)\(\s*(.*\))\s*\)$`)
	assigned = regexp.MustCompile(
		`(?s)^([A-Za-z_]\w*)\s*=\s*(.*?\))(?:\s*\n\s*(?:print|display)\((\w+)\))?$`)
	wrapped = regexp.MustCompile(
		`^(?:(?:print|display|console\.log)\(\s*|[A-Za-z_]\w*\s*=\s*)?(?:await\s+)?`)
)

// unwrapped returns a program without the print, the assignment or the await around its only call.
func unwrapped(program string) string {
	if m := printed.FindStringSubmatch(program); m != nil {
		program = m[1]
	} else if m := assigned.FindStringSubmatch(program); m != nil && (m[3] == "" || m[3] == m[1]) {
		program = m[2]
	}
	return strings.TrimPrefix(program, "await ")
}

// lastCall matches a call after a colon at the end of a line.
var lastCall = regexp.MustCompile(`^[^\n]*:[ \t]*([\pL_][\pL\pN_.]*\([^\n]*\))$`)

// span reads a call that is the whole reply, or that ends the reply in `…` or after a colon. It
// also returns the text before the call. It returns nil if there is no call.
func (r *Reader) span(text string) (calls []chat.Call, front string) {
	text = strings.TrimSuffix(text, ".")
	if m := lastCall.FindStringSubmatchIndex(text); m != nil {
		front, text = strings.TrimSpace(text[:m[2]]), text[m[2]:]
	} else if inner, ok := strings.CutSuffix(text, "`"); ok {
		i := strings.LastIndexByte(inner, '`')
		if i < 0 {
			return nil, ""
		}
		front, text = strings.TrimSpace(inner[:i]), inner[i+1:]
	}
	called, rest := name(text)
	if strings.HasSuffix(text, "()") {
		rest = "()" // name leaves the brackets out
	}
	t, known := r.tool(called)
	if !known || !strings.HasPrefix(text, called) || !strings.HasPrefix(rest, "(") ||
		!strings.HasSuffix(rest, ")") || !adapters.Meant(front, "") {
		return nil, ""
	}
	args, ok := python(t, rest[1:len(rest)-1])
	if !ok {
		return nil, ""
	}
	return []chat.Call{{Name: t.Name, Args: args}}, front
}
