package xmltools

import "strings"

// voidParser is what Void makes of a reply, written after the rules of its parser: a reply comes in pieces, and at each
// one the text so far is looked at. It shares no code with what is tested.
type voidParser struct {
	tools []Tool

	full, shown, held string
	tool              *Tool
	at                int
}

// voidCall is what Void runs; nil values are parameters that it did not find.
type voidCall struct {
	name   string
	values map[string]string
	closed bool
}

// piece takes the next piece of the reply.
func (v *voidParser) piece(s string) {
	v.full += s
	if v.tool != nil {
		return
	}
	if v.endsInMark(v.held + s) {
		v.held += s
		return
	}
	v.shown += v.held + s
	v.held = ""
	for i, t := range v.tools { // the list's order decides, not the text's
		if at := strings.Index(v.shown, "<"+t.Name+">"); at >= 0 {
			v.tool, v.at = &v.tools[i], at
			v.shown = v.shown[:at]
			return
		}
	}
}

// endsInMark says that the text ends in the beginning of a tool's mark, or in all of it.
func (v *voidParser) endsInMark(s string) bool {
	for _, t := range v.tools {
		mark := "<" + t.Name + ">"
		for n := 1; n <= len(mark); n++ {
			if strings.HasSuffix(s, mark[:n]) {
				return true
			}
		}
	}
	return false
}

// end is what Void shows and runs when the reply is over.
func (v *voidParser) end() (shown string, call *voidCall) {
	shown = strings.TrimRight(v.shown, " \t\r\n")
	if v.tool == nil {
		return shown, nil
	}
	text := v.full[v.at:]
	call = &voidCall{name: v.tool.Name, values: map[string]string{}}
	text = text[strings.Index(text, "<"+call.name+">")+len(call.name)+2:]
	if at := strings.LastIndex(text, "</"+call.name+">"); at >= 0 {
		text, call.closed = text[:at], true
	}
	for range 10 {
		name, rest := firstOf(v.tool.Params, text, "<")
		if name == "" {
			break
		}
		_, after := firstOf(v.tool.Params, rest, "</")
		value := rest
		if after != none {
			value = rest[:len(rest)-len(after)]
			value = value[:strings.LastIndex(value, "</")]
		}
		call.values[name] = value
		if after == none {
			break
		}
		text = after
	}
	for name, value := range call.values {
		call.values[name] = withoutOuterLines(value)
	}
	return shown, call
}

const none = "\x00none"

// firstOf finds the first parameter of the list, in the list's order, whose mark stands anywhere in the text, and what
// follows that mark.
func firstOf(params []Param, text, begin string) (name, after string) {
	for _, p := range params {
		if _, rest, ok := strings.Cut(text, begin+p.Name+">"); ok {
			return p.Name, rest
		}
	}
	return "", none
}

// withoutOuterLines takes off blanks up to the first newline, and those behind the last.
func withoutOuterLines(s string) string {
	if at := strings.Index(s, "\n"); at >= 0 && strings.TrimSpace(s[:at]) == "" {
		s = s[at+1:]
	}
	if at := strings.LastIndex(s, "\n"); at >= 0 && strings.TrimSpace(s[at+1:]) == "" {
		s = s[:at]
	}
	return s
}
