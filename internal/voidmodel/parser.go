package voidmodel

import "strings"

// Parser is what Void makes of a reply's text, by the rules of its own parser: the text comes in
// pieces, and at each one all of it so far is looked at. The zero value with Tools is ready for one
// reply.
type Parser struct {
	Tools []Tool // in Void's order, which decides

	full, shown, held string
	tool              *Tool
	at                int
}

// Call is what Void runs. Values that were not found are absent.
type Call struct {
	Name   string
	Args   map[string]string
	Closed bool // the closing mark was there; Void runs the call without it all the same
}

// Piece reads the next piece of the reply. Text that may be the beginning of a tool's mark is held
// back until it turns out not to be one, and what follows the mark is not shown. So a proxy that
// writes a mark in prose loses the rest of the reply; it writes "< read_file>" there.
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

// endsInMark reports whether s ends in the beginning of a tool's mark, or in a whole mark. A whole
// mark counts as well, so a call is recognised only with the piece that follows its mark.
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

// End returns what Void shows and runs when the reply is over; no call is nil. A call runs even
// without its closing mark: therefore the proxy must never send one that was cut. The loop stops
// after ten parameters, as Void's does: an eleventh cannot be passed to it.
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

// firstOf finds the first parameter of the list, in the list's order, whose mark stands anywhere in
// the text, and what follows that mark. This is why a value that holds another parameter's mark
// cannot be written in Void's form, which has no escaping.
func firstOf(params []Param, text, begin string) (name, after string, found bool) {
	for _, p := range params {
		if _, rest, ok := strings.Cut(text, begin+p.Name+">"); ok {
			return p.Name, rest, true
		}
	}
	return "", "", false
}

// withoutOuterLines removes blanks up to the first newline, and those after the last. Models put
// long values on lines of their own; the blanks inside the outer lines are the value's.
func withoutOuterLines(s string) string {
	if at := strings.Index(s, "\n"); at >= 0 && strings.TrimSpace(s[:at]) == "" {
		s = s[at+1:]
	}
	if at := strings.LastIndex(s, "\n"); at >= 0 && strings.TrimSpace(s[at+1:]) == "" {
		s = s[:at]
	}
	return s
}
