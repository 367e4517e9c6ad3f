// Package xml is the client form of clients that describe tools in their prompt and look for calls
// in the reply's text: Void, Cline and Roo. Their requests then offer no tools, and Void overwrites
// real tool_calls with what it finds in the text.
//
// The tools are read from the prompt, so that the model can be offered real tools. Calls are
// written so that the client's own parser finds them, text that it would mistake for a call is
// changed, and calls in earlier replies become calls and results again.
//
//	xml.go      the tools of a prompt; void.go, cline.go and lines.go read them line by line
//	write.go    a call as the client reads it; prose.go breaks what it would take for one
//	own.go      a call that the model writes in the client's XML all the same
//	history.go  earlier calls and results
//	reply.go    puts it together
//
// Such a text differs from a reply with tool_calls in three ways. There is no escaping, so a value
// may be impossible to write; a call that is cut runs all the same; and prose that names a tool in
// angle brackets counts as a call. Everything here follows from that: calls are held until they are
// whole, they come last, and a call that cannot be written is described in words.
package xml

import (
	"encoding/json"
	"strings"

	"toolnorm/chat"
)

// Protocol is one way of finding calls in a text.
type Protocol string

// The protocols. Each is named after the client that introduced it.
const (
	// the last thing in a reply is one call; no value can contain a parameter's tags
	Void Protocol = "void"
	// one call, anywhere; a value ends at its own closing tag. Roo's is the same
	Cline Protocol = "cline"
)

// Prompt is the list of tools that a client's prompt describes.
type Prompt struct {
	Protocol Protocol
	Tools    []Tool // in the order of the prompt, on which a parser may depend
}

// Tool is a tool that a prompt describes.
type Tool struct {
	Name        string
	Description string
	Params      []Param // in the order of the prompt
}

// Param is a parameter. All values are text.
type Param struct {
	Name        string
	Description string
	Required    bool
}

// callInstructions replaces the prompt's instructions for calling tools, because the template that
// renders the model's prompt says how to call them.
const callInstructions = "You can call the tools that are offered to you: at most ONE in a reply, at its end. " +
	"Then stop and wait; the result comes in the next message."

// Read returns the tools in the conversation's prompt, and the messages without that part of the
// prompt and without the XML of earlier calls. The prompt is a system message or a user's message
// that opens the conversation. The editor Void puts it there, between <SYSTEM_MESSAGE> marks, for
// models that it thinks have no system role. If there are no tools, it returns nil and the given
// messages, which are never changed.
func Read(messages []chat.Message) (*Prompt, []chat.Message) {
	for i, m := range messages {
		if m.Role != chat.System && (m.Role != chat.User || i > 0) {
			break
		}
		p, rest := readPrompt(m.Content)
		if p == nil {
			continue
		}
		out := append([]chat.Message(nil), messages...)
		out[i].Content = rest
		return p, p.history(out)
	}
	return nil, messages
}

// readPrompt returns the tools in a prompt of any client that is known here, and the rest of the
// prompt. If it finds no tool, it returns nil and the whole text, and the request is handled like
// any other.
func readPrompt(text string) (p *Prompt, rest string) {
	if tools, rest := readVoid(text); len(tools) > 0 {
		return &Prompt{Void, tools}, rest
	}
	if tools, rest := readCline(text); len(tools) > 0 {
		return &Prompt{Cline, tools}, rest
	}
	return nil, text
}

// Offer returns the tools in the form in which they are offered to a model. All parameters are
// strings, as in the prompt, because clients read every value as text and convert it themselves.
func (p *Prompt) Offer() []chat.Tool {
	out := make([]chat.Tool, len(p.Tools))
	for i, t := range p.Tools {
		out[i] = chat.Tool{Name: t.Name, Description: t.Description, Schema: t.schema()}
	}
	return out
}

// Find returns the tool of this name, or nil if the prompt has no such tool.
func (p *Prompt) Find(name string) *Tool {
	for i := range p.Tools {
		if p.Tools[i].Name == name {
			return &p.Tools[i]
		}
	}
	return nil
}

// schema returns the JSON Schema of the tool's arguments, with the parameters in their order. It is
// built by hand because a map would lose that order, and models write the members in the order of
// the schema.
func (t *Tool) schema() json.RawMessage {
	b := []byte(`{"type":"object","properties":{`)
	var required []string
	for i, p := range t.Params {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(chat.AppendQuoted(b, p.Name), `:{"type":"string"`...)
		if p.Description != "" {
			b = chat.AppendQuoted(append(b, `,"description":`...), p.Description)
		}
		b = append(b, '}')
		if p.Required {
			required = append(required, string(chat.AppendQuoted(nil, p.Name)))
		}
	}
	b = append(append(b, `},"required":[`...), strings.Join(required, ",")...)
	return append(b, "]}"...)
}

// isName reports whether s can be the name of a tool or a parameter, and so of a tag. A tag with
// any other character is markup in the text, such as <a href="…"> or <!-- … -->.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' ||
			c == '-' || c == '.') {
			return false
		}
	}
	return 0 < len(s) && len(s) <= longestName
}

// longestName is the greatest length of a name in bytes.
const longestName = 128
