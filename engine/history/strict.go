package history

import (
	"slices"
	"strings"

	"toolnorm/chat"
)

// alternate changes a conversation for templates that want one system message at the start, then
// user and assistant in alternation, and raise an error otherwise. Nothing is left out. Consecutive
// turns of one role are joined, later system messages become user messages, and an empty turn is
// added where one is missing. A late system message is never moved to the front, because a changed
// start costs the server the whole prompt again.
//
// For example, an empty assistant turn is put between a result and a user message, and an empty
// user turn is put first if the assistant begins.
func (t *talk) alternate() {
	var out [][]*turn // each element becomes one turn
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
		t.turns = append(t.turns, joinTurns(same))
	}
}

// joinTurns returns turns of one role as one turn. It puts a blank line between their texts, since
// clients that send several turns of a role mean several paragraphs. It joins all turns at once,
// because joining two at a time would copy the first turn again for each further turn.
func joinTurns(same []*turn) *turn {
	all := same[0]
	if len(same) == 1 {
		return all
	}
	said, thought := []string{all.Content}, []string{all.Reasoning}
	all.Images = slices.Clip(all.Images) // the spare capacity belongs to the client
	for _, m := range same[1:] {
		said, thought = append(said, m.Content), append(thought, m.Reasoning)
		all.Calls, all.Images = append(all.Calls, m.Calls...), append(all.Images, m.Images...)
	}
	all.Content, all.Reasoning = paragraphs(said), paragraphs(thought)
	return all
}

// paragraphs returns the texts that are not empty, with a blank line between them.
func paragraphs(texts []string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }),
		"\n\n")
}
