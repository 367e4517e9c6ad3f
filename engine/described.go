package engine

import (
	"fmt"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// described is r for a model that was never taught to call: the tools stand in front of the system text, calls of earlier
// turns are written out in the model's form, and results come from the user, as the family shows them.
// It grows at its end only, so the server's cache of the prompt stays good from turn to turn.
func described(r *chat.Request, f *adapters.Format, w adapters.Wording) *chat.Request {
	c := *r
	c.Tools, c.Messages = nil, make([]chat.Message, 0, len(r.Messages)+1)
	rest := r.Messages
	text := f.Prompt(r.Tools, w)
	if len(rest) > 0 && rest[0].Role == chat.System {
		text = strings.TrimPrefix(text+"\n\n"+rest[0].Content, "\n\n")
		rest = rest[1:]
	}
	if text != "" {
		c.Messages = append(c.Messages, chat.Message{Role: chat.System, Content: text})
	}
	names := map[string]string{}
	for i, m := range rest {
		for _, call := range m.Calls {
			names[call.ID] = call.Name
		}
		if m.Role != chat.ToolRole {
			c.Messages = append(c.Messages, writtenOut(m, f))
			continue
		}
		name := m.Name
		if name == "" {
			name = names[m.CallID]
		}
		shown := shownResult(f, name, m.Content)
		if last := &c.Messages[len(c.Messages)-1]; i > 0 && rest[i-1].Role == chat.ToolRole {
			last.Content += "\n" + shown // results of one turn are one message: some templates refuse two of a role in a row
			continue
		}
		c.Messages = append(c.Messages, chat.Message{Role: chat.User, Content: shown})
	}
	return &c
}

// shownResult is what a tool answered, in the family's own form if its declaration has one.
func shownResult(f *adapters.Format, name, result string) string {
	if own, ok := f.AppendResult(nil, name, result); ok {
		return string(own)
	}
	return fmt.Sprintf("Result of %s:\n%s", name, result)
}

// writtenOut is m without calls, which became text.
func writtenOut(m chat.Message, f *adapters.Format) chat.Message {
	if len(m.Calls) > 0 {
		m.Content = string(f.Append([]byte(m.Content), m.Calls...))
		m.Calls = nil
	}
	return m
}
