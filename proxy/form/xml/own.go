package xml

import (
	"encoding/json"
	"regexp"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// own detects a call that a model writes in the client's own XML although it was offered real
// tools. Models know that form from their training or from earlier turns. Text that may become such
// a call is held back from the beginning of its line. All other text is passed on.
type own struct {
	prompt *Prompt
	shown  string // the end of the text that has passed
	held   strings.Builder
	// the closing tag of the tool with whose tag held begins; empty: the opening tag is incomplete
	mark  string
	until int // where the closing tag ends in held; 0: it has not come yet
}

// longestOwn is how many bytes may be held back. A call may write a whole file.
const longestOwn = 1 << 20

// text takes the next part of the reply's text, and returns what can be passed on now, which may
// include text that was held back before. What may be a call is held back.
func (o *own) text(piece string) string {
	from := max(0, o.held.Len()-len(o.mark))
	o.held.WriteString(piece)
	all := o.held.String()
	if o.mark == "" {
		at := o.begins(all)
		o.pass(all, at)
		return all[:at]
	}
	// Only the new part is searched: otherwise a long value would be read again with each piece.
	if i := strings.LastIndex(all[from:], o.mark); i >= 0 {
		o.until = from + i + len(o.mark)
	}
	if len(all) > longestOwn || o.until > 0 && strings.Trim(all[o.until:], "` \t\n") != "" {
		o.pass(all, len(all))
		return all
	}
	return ""
}

// pass records that the first at bytes of the text all are passed on to the client, and that the
// rest is held back.
func (o *own) pass(all string, at int) {
	o.shown += all[:at]
	o.shown = o.shown[max(0, len(o.shown)-1024):]
	o.held, o.mark, o.until = strings.Builder{}, "", 0
	o.held.WriteString(all[at:])
	for _, t := range o.prompt.Tools {
		if strings.HasPrefix(trimFence(all[at:]), "<"+t.Name+">") {
			o.mark = "</" + t.Name + ">"
			if i := strings.LastIndex(all[at:], o.mark); i >= 0 {
				o.until = i + len(o.mark)
			}
		}
	}
}

// begins returns the offset of the first line that may begin a call, or the length of the text if
// there is none.
func (o *own) begins(text string) int {
	for at := 0; at < len(text); {
		if (at > 0 || o.shown == "" || strings.HasSuffix(o.shown, "\n")) && o.may(text[at:]) {
			return at
		}
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return len(text)
}

// may reports whether text, which begins at the start of a line, could be a call. It could if it
// begins with a tool's opening tag or is the first part of such a tag, perhaps after a code fence.
// If the closing tag is there too, nothing may follow it.
func (o *own) may(text string) bool {
	text = trimFence(text)
	for _, t := range o.prompt.Tools {
		mark := "<" + t.Name + ">"
		if strings.HasPrefix(mark, text) {
			return true
		}
		if rest, ok := strings.CutPrefix(text, mark); ok {
			_, behind, closed := strings.Cut(rest, "</"+t.Name+">")
			return !closed || strings.Contains(behind, "</"+t.Name+">") ||
				strings.Trim(behind, "` \t\n") == ""
		}
	}
	return false
}

// fenceOpening matches the opening line of a fence of XML, or a part of it.
var fenceOpening = regexp.MustCompile("^[ \t]*(?:`{1,3}$|```(?:x|xm|xml)?[ \t]*(?:\n[ \t\n]*|$))?")

// trimFence returns text without the line that opens a block of code, such as ```xml, and without
// the blanks after it.
func trimFence(text string) string {
	return strings.TrimLeft(text[len(fenceOpening.FindString(text)):], " \t")
}

// end returns the text that was held back when the reply ends. If the text is a complete call, and
// the words before it announce one, end returns the call instead. The parameter finish is the
// reply's finish reason. If it is chat.Length, a call without its closing tag was cut, and stays
// text.
func (o *own) end(finish string) (call *chat.Call, rest string) {
	rest = o.held.String()
	o.held = strings.Builder{}
	text := strings.TrimRight(trimFence(rest), "` \t\n")
	for i := range o.prompt.Tools {
		t := &o.prompt.Tools[i]
		body, ok := strings.CutPrefix(text, "<"+t.Name+">")
		if !ok || !adapters.Meant(o.shown, "") {
			continue
		}
		inner, closed := strings.CutSuffix(body, "</"+t.Name+">")
		if args, ok := t.read(inner); ok && (closed || finish != chat.Length) {
			return &chat.Call{Name: t.Name, Args: args}, ""
		}
	}
	return nil, rest
}

// read returns the arguments of a call. It returns false if the body contains anything but
// parameters, has a parameter twice, or lacks a required one.
func (t *Tool) read(body string) (json.RawMessage, bool) {
	members := map[string]string{}
	for body = strings.TrimSpace(body); body != ""; body = strings.TrimSpace(body) {
		found := false
		for _, p := range t.Params {
			rest, ok := strings.CutPrefix(body, "<"+p.Name+">")
			if !ok {
				continue
			}
			value, behind, closed := strings.Cut(rest, "</"+p.Name+">")
			if _, twice := members[p.Name]; twice || !closed ||
				strings.Contains(behind, "</"+p.Name+">") {
				return nil, false
			}
			members[p.Name], body, found = trimNewlines(value), behind, true
			break
		}
		if !found {
			return nil, false
		}
	}
	for _, p := range t.Params {
		if _, ok := members[p.Name]; p.Required && !ok {
			return nil, false
		}
	}
	text, err := chat.JSON(members)
	return text, err == nil
}

// trimNewlines returns value without the newlines at its beginning and its end, which around adds.
// A value that does not begin with a newline is returned unchanged.
func trimNewlines(value string) string {
	if inner, ok := strings.CutPrefix(value, "\n"); ok {
		return strings.TrimSuffix(inner, "\n")
	}
	return value
}
