package history

import (
	"slices"
	"strings"

	"toolnorm/chat"
)

// alternate makes a conversation fit templates that want one system message at the start, then user
// and assistant in turn, and raise an error for any other. Nothing is left out: turns of one role
// are joined, system messages further behind become the user's, and where a turn is missing there
// is one without text. A late system message is never moved to the front: a changed start costs the
// server the whole prompt again.
//
// A user behind a result gets an empty turn of the assistant's in between, an assistant that begins
// one of the user's in front.
func (t *talk) alternate() {
	var out [][]*turn // those that become one
	role := chat.Role("")
	add := func(m *turn) { out, role = append(out, []*turn{m}), m.Role }
	for i, m := range t.turns {
		if m.Role == chat.System && i > 0 && (len(out) != 1 || role != chat.System) {
			m.Role = chat.User
			t.note(m.at, Roles)
		}
		switch {
		case len(out) > 0 && role == m.Role && m.Role != chat.ToolRole:
			out[len(out)-1] = append(out[len(out)-1], m)
			t.note(m.at, Roles)
			continue
		case m.Role == chat.User && role == chat.ToolRole:
			add(&turn{chat.Message{Role: chat.Assistant}, m.at})
			t.note(m.at, Roles)
		case m.Role == chat.Assistant && (role == "" || role == chat.System):
			add(&turn{chat.Message{Role: chat.User}, m.at})
			t.note(m.at, Roles)
		}
		add(m)
	}
	t.turns = t.turns[:0]
	for _, same := range out {
		t.turns = append(t.turns, joined(same))
	}
}

// joined returns turns of one role as one: their texts with a blank line between, since clients
// that send several turns of a role mean several paragraphs. All are joined at once: two at a time
// would copy the first one as often as there are others.
func joined(same []*turn) *turn {
	all := same[0]
	if len(same) == 1 {
		return all
	}
	said, thought := []string{all.Content}, []string{all.Reasoning}
	all.Images = slices.Clip(all.Images) // what is behind them is the client's
	for _, m := range same[1:] {
		said, thought = append(said, m.Content), append(thought, m.Reasoning)
		all.Calls, all.Images = append(all.Calls, m.Calls...), append(all.Images, m.Images...)
	}
	all.Content, all.Reasoning = paragraphs(said), paragraphs(thought)
	return all
}

// paragraphs joins the texts that are not empty, with a blank line between.
func paragraphs(texts []string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "\n\n")
}
