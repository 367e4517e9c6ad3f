package voidmodel

import "strings"

// Parser reads the text of a reply as Void's own parser does: the text arrives in pieces, and after
// each piece the whole text so far is examined. To use it for one reply, set Tools.
type Parser struct {
	Tools []Tool // in Void's order, by which calls are searched

	full, shown, held string
	tool              *Tool
	at                int
}

// Call is a tool call that Void, a code editor, finds in a reply and runs. Args has the parameters
// whose tags are in the reply, so some parameters of the tool may be missing.
type Call struct {
	Name   string
	Args   map[string]string
	Closed bool // the closing tag was there; Void runs the call without it as well
}

// Piece reads the next piece of the reply. Text that may be the beginning of a tool's opening tag
// is held back until it turns out not to be one. What follows an opening tag is not shown. So if a
// proxy wrote <read_file> in prose, the rest of the reply would be lost; toolnorm writes "<
// read_file>" instead.
func (v *Parser) Piece(s string) {
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
	for i, t := range v.Tools { // the list's order decides, not the text's
		if at := strings.Index(v.shown, "<"+t.Name+">"); at >= 0 {
			v.tool, v.at = &v.Tools[i], at
			v.shown = v.shown[:at]
			return
		}
	}
}

// endsInMark reports whether s ends in a tool's opening tag or in the beginning of one. A whole tag
// counts, too, so that, as in Void, a call is recognised only when the text after the tag arrives.
func (v *Parser) endsInMark(s string) bool {
	for _, t := range v.Tools {
		mark := "<" + t.Name + ">"
		for n := 1; n <= len(mark); n++ {
			if strings.HasSuffix(s, mark[:n]) {
				return true
			}
		}
	}
	return false
}

// End returns the text that Void shows and the call that it runs after a whole reply; call is nil
// if there is none. A call runs even without its closing tag, so the proxy must never send a call
// that was cut off. As in Void, at most ten parameters are read.
func (v *Parser) End() (shown string, call *Call) {
	shown = strings.TrimRight(v.shown, " \t\r\n")
	if v.tool == nil {
		return shown, nil
	}
	text := v.full[v.at:]
	call = &Call{Name: v.tool.Name, Args: map[string]string{}}
	text = text[strings.Index(text, "<"+call.Name+">")+len(call.Name)+2:]
	if at := strings.LastIndex(text, "</"+call.Name+">"); at >= 0 {
		text, call.Closed = text[:at], true
	}
	for range 10 {
		name, rest, found := firstOf(v.tool.Params, text, "<")
		if !found {
			break
		}
		_, after, closed := firstOf(v.tool.Params, rest, "</")
		value := rest
		if closed {
			value = rest[:len(rest)-len(after)]
			value = value[:strings.LastIndex(value, "</")]
		}
		call.Args[name] = value
		if !closed {
			break
		}
		text = after
	}
	for name, value := range call.Args {
		call.Args[name] = withoutOuterLines(value)
	}
	return shown, call
}

// firstOf returns the name of the first of the parameters whose tag is anywhere in the text, and
// the text after that tag. The parameter begin is the beginning of the tag, "<" or "</". If no tag
// is found, found is false. The order of the parameters decides, not that of the text, as in Void.
// So a value cannot contain the tag of another parameter, since Void's form has no escapes.
func firstOf(params []Param, text, begin string) (name, after string, found bool) {
	for _, p := range params {
		if _, rest, ok := strings.Cut(text, begin+p.Name+">"); ok {
			return p.Name, rest, true
		}
	}
	return "", "", false
}

// withoutOuterLines removes the first line and the last line of s if they are blank. Models put
// long values on lines of their own. Blanks inside the remaining lines belong to the value.
func withoutOuterLines(s string) string {
	if at := strings.Index(s, "\n"); at >= 0 && strings.TrimSpace(s[:at]) == "" {
		s = s[at+1:]
	}
	if at := strings.LastIndex(s, "\n"); at >= 0 && strings.TrimSpace(s[at+1:]) == "" {
		s = s[:at]
	}
	return s
}
