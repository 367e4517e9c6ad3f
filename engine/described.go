package engine

import (
	"fmt"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// described is r for a model that was never taught to call: the tools stand in front of the system text, calls of
// earlier turns are written out in the model's form, and results come from the user.
// It grows at its end only, so the server's cache of the prompt stays good from turn to turn.
func described(r *chat.Request, f *adapters.Format) *chat.Request {
	c := *r
	c.Tools, c.Messages = nil, make([]chat.Message, 0, len(r.Messages)+1)
	rest := r.Messages
	text := f.Prompt(r.Tools)
	if len(rest) > 0 && rest[0].Role == chat.System {
		text += "\n\n" + rest[0].Content
		rest = rest[1:]
	}
	c.Messages = append(c.Messages, chat.Message{Role: chat.System, Content: text})
	names := map[string]string{}
	for _, m := range rest {
		for _, call := range m.Calls {
			names[call.ID] = call.Name
		}
		c.Messages = append(c.Messages, writtenOut(m, f, names))
	}
	return &c
}

// writtenOut is m without calls and results, which became text.
func writtenOut(m chat.Message, f *adapters.Format, names map[string]string) chat.Message {
	switch {
	case m.Role == chat.ToolRole:
		name := m.Name
		if name == "" {
			name = names[m.CallID]
		}
		return chat.Message{Role: chat.User, Content: fmt.Sprintf("Result of %s:\n%s", name, m.Content)}
	case len(m.Calls) > 0:
		m.Content = string(f.Append([]byte(m.Content), m.Calls...))
		m.Calls = nil
	}
	return m
}
