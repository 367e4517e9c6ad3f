package history

import "toolnorm/chat"

// alternate makes a conversation fit templates that want one system message at the start, then user and assistant
// in turn, and raise an error for any other. Nothing is left out: turns of one role are joined, system messages
// further behind become the user's, and where a turn is missing there is one without text. A late system message
// is never moved to the front: a changed start costs the server the whole prompt again.
//
// A user behind a result gets an empty turn of the assistant's in between, an assistant that begins one of the
// user's in front.
func (t *talk) alternate() {
	out := make([]turn, 0, len(t.turns))
	for i, m := range t.turns {
		if m.Role == chat.System && i > 0 && (len(out) != 1 || out[0].Role != chat.System) {
			m.Role = chat.User
			t.note(m.at, Roles)
		}
		switch last := lastOf(out); {
		case last.Role == m.Role && m.Role != chat.ToolRole:
			join(last, m.Message)
			t.note(m.at, Roles)
			continue
		case m.Role == chat.User && last.Role == chat.ToolRole:
			out = append(out, turn{chat.Message{Role: chat.Assistant}, m.at})
			t.note(m.at, Roles)
		case m.Role == chat.Assistant && (last.Role == "" || last.Role == chat.System):
			out = append(out, turn{chat.Message{Role: chat.User}, m.at})
			t.note(m.at, Roles)
		}
		out = append(out, m)
	}
	t.turns = out
}

// lastOf is the last turn, an empty one when there is none.
func lastOf(turns []turn) *turn {
	if len(turns) == 0 {
		return new(turn)
	}
	return &turns[len(turns)-1]
}

// join puts a message behind another of the same role. The other's images are not written over: they are the
// client's.
func join(dst *turn, m chat.Message) {
	dst.Content = joined(dst.Content, m.Content)
	dst.Reasoning = joined(dst.Reasoning, m.Reasoning)
	dst.Calls = append(dst.Calls, m.Calls...)
	dst.Images = append(dst.Images[:len(dst.Images):len(dst.Images)], m.Images...)
}

// joined are two texts with a blank line between, or the one that there is. Clients that send several turns of a
// role mean several paragraphs.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
