package xml

import (
	"fmt"
	"slices"
	"strings"

	"toolnorm/chat"
)

// history turns the XML of earlier calls in the messages back into real calls and results, and
// returns the messages. A model that sees the client's XML would begin to write it. A call is
// turned back if it ends the assistant's message, its tool is known, and the next message begins
// with that tool's result. The result becomes a tool's message, and what the user wrote after it a
// user's message. All other text stays as it is.
func (p *Prompt) history(in []chat.Message) (out []chat.Message) {
	calls := 0
	for i := 0; i < len(in); i++ {
		m := in[i]
		if m.Role != chat.Assistant || len(m.Calls) > 0 || i+1 == len(in) ||
			in[i+1].Role != chat.User {
			out = append(out, m)
			continue
		}
		said, call := p.called(m.Content)
		var result, rest string
		ok := call != nil
		if ok {
			result, rest, ok = p.result(call.Name, in[i+1].Content)
		}
		if !ok {
			out = append(out, m)
			continue
		}
		i++
		calls++
		// the same id in each request, because the text is the same
		call.ID = fmt.Sprintf("call_%s_%d", p.Protocol, calls)
		m.Content, m.Calls = said, []chat.Call{*call}
		out = append(out, m, chat.Message{Role: chat.ToolRole, CallID: call.ID, Name: call.Name,
			Content: result})
		if rest != "" || len(in[i].Images) > 0 {
			out = append(out, chat.Message{Role: chat.User, Content: rest, Images: in[i].Images})
		}
	}
	return out
}

// called returns the call at the end of a reply, and the text before the call. If there is no such
// call, it returns the unchanged text and nil. The call begins at the first opening tag with the
// name of its tool. The text before the call cannot contain another such tag, because Prose writes
// those as "< read_file>".
func (p *Prompt) called(text string) (said string, call *chat.Call) {
	body := strings.TrimSpace(text)
	at := strings.LastIndex(body, "</")
	if at < 0 || !strings.HasSuffix(body, ">") {
		return text, nil
	}
	t := p.Find(body[at+2 : len(body)-1])
	if t == nil {
		return text, nil
	}
	said, body, found := strings.Cut(body[:at], "<"+t.Name+">")
	if !found {
		return text, nil
	}
	args, ok := p.arguments(t, body)
	if !ok {
		return text, nil
	}
	return strings.TrimSpace(said), &chat.Call{Name: t.Name, Args: args}
}

// arguments returns the parameters in the body of an XML call as a JSON object. A value ends where
// its closing tag is followed by another parameter or by nothing. ok is false if a parameter comes
// twice or is unknown to the tool. Such a call was not written by this package.
func (p *Prompt) arguments(t *Tool, body string) (args []byte, ok bool) {
	args = []byte{'{'}
	left := append([]Param(nil), t.Params...)
	for body = strings.TrimSpace(body); body != ""; body = strings.TrimSpace(body) {
		at := opens(left, body)
		if at < 0 {
			return nil, false
		}
		name := left[at].Name
		left = append(left[:at:at], left[at+1:]...)
		value, rest, found := value(left, name, body[len(name)+2:])
		if !found {
			return nil, false
		}
		if p.Protocol == Cline { // Void has already removed the newlines around it
			value = strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n")
		}
		if len(args) > 1 {
			args = append(args, ',')
		}
		args = chat.AppendQuoted(append(chat.AppendQuoted(args, name), ':'), value)
		body = rest
	}
	return append(args, '}'), true
}

// opens returns the index of the parameter whose opening tag begins the text, or -1 if there is
// none.
func opens(params []Param, text string) int {
	return slices.IndexFunc(params, func(p Param) bool {
		return strings.HasPrefix(text, "<"+p.Name+">")
	})
}

// value splits text at the closing tag </name> of a parameter. It returns the parameter's value,
// which is before the tag, and the rest after it. A file's content may contain that tag as well,
// because nothing is escaped. So the value ends only at a tag that is followed by nothing, or by
// the opening tag of a parameter in left, the parameters that may come next. ok is false if there
// is no such tag.
func value(left []Param, name, text string) (value, rest string, ok bool) {
	mark := "</" + name + ">"
	for from := 0; ; {
		at := strings.Index(text[from:], mark)
		if at < 0 {
			return "", "", false
		}
		rest = strings.TrimLeft(text[from+at+len(mark):], " \t\r\n")
		if rest == "" || opens(left, rest) >= 0 {
			return text[:from+at], rest, true
		}
		from += at + len(mark)
	}
}

// result returns the result of a tool at the beginning of a user's message, and the text after it.
// It returns false if the message does not begin with a result. The editor Void writes
// <read_file_result>, the result, and the closing tag, on lines of their own. The result ends at
// the last closing tag, because it may itself contain such tags. For Cline the whole message
// belongs to the result.
func (p *Prompt) result(name, text string) (result, rest string, ok bool) {
	if p.Protocol == Cline { // [read_file for 'main.go'] Result: …; the rest belongs to it
		head, _, found := strings.Cut(text, "Result:")
		return text, "", found && strings.HasPrefix(head, "["+name) &&
			strings.HasSuffix(strings.TrimSpace(head), "]") && !strings.Contains(head, "\n")
	}
	text, ok = strings.CutPrefix(strings.TrimSpace(text), "<"+name+"_result>\n")
	if !ok {
		return "", "", false
	}
	mark := "\n</" + name + "_result>"
	at := strings.LastIndex(text, mark)
	if at < 0 {
		return "", "", false
	}
	return text[:at], strings.TrimSpace(text[at+len(mark):]), true
}
