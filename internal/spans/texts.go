package spans

import (
	"encoding/json"

	"toolnorm/chat"
	"toolnorm/internal/clip"
)

// longest is the most bytes of a text that a span contains. Receivers refuse larger texts, or even
// everything sent with them.
const longest = 64 << 10

// begin returns the beginning of a text, up to the length of the constant longest.
func begin(s string) string { return clip.To(s, longest) }

// part is one part of a message, in the form of OpenTelemetry's conventions.
type part struct {
	Type      string          `json:"type"`
	Content   string          `json:"content,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Response  string          `json:"response,omitempty"`
}

// message is one message of a conversation.
type message struct {
	Role  chat.Role `json:"role"`
	Parts []part    `json:"parts"`
}

// conversationOf returns the messages of a request as JSON. If the JSON would exceed the constant
// longest, the first messages are left out.
func conversationOf(r *chat.Request) string {
	var all []json.RawMessage
	size := 0
	for i := len(r.Messages) - 1; i >= 0; i-- {
		text, err := json.Marshal(messageOf(&r.Messages[i]))
		if err != nil {
			continue
		}
		if size += len(text); size > longest {
			break
		}
		all = append([]json.RawMessage{text}, all...)
	}
	text, _ := json.Marshal(all)
	return string(text)
}

// messageOf returns a message in the form of OpenTelemetry's conventions for generative AI.
// Pictures are left out.
func messageOf(m *chat.Message) message {
	out := message{Role: m.Role, Parts: []part{}}
	if m.Role == chat.ToolRole {
		out.Parts = append(out.Parts, part{Type: "tool_call_response", ID: m.CallID,
			Response: begin(m.Content)})
		return out
	}
	if m.Reasoning != "" {
		out.Parts = append(out.Parts, part{Type: "reasoning", Content: begin(m.Reasoning)})
	}
	if m.Content != "" {
		out.Parts = append(out.Parts, part{Type: "text", Content: begin(m.Content)})
	}
	for _, c := range m.Calls {
		args := c.Args
		if !json.Valid(args) {
			args = nil
		}
		out.Parts = append(out.Parts, part{Type: "tool_call", ID: c.ID, Name: c.Name,
			Arguments: args})
	}
	return out
}
