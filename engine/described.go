package engine

import (
	"fmt"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/history"
)

// described is the turn's request for a model that was never taught to call. Results come from the user there, so templates
// that want roles in turn need them joined once more.
func (j *job) described() *chat.Request {
	r := described(j.request, j.format, j.wording)
	if j.strict() {
		r.Messages, _ = history.Normal(r.Messages, history.Policy{Strict: true})
	}
	return r
}

// described is r for a model that was never taught to call: the tools stand in front of the system text, calls of
// earlier turns are written out in the model's form, and results come from the user, as the family shows them. It
// grows at its end only, so the server's cache of the prompt stays good from turn to turn: a first word that
// changes costs the whole prompt again, 8 to 11 s on a CPU, an appended turn less than one.
func described(r *chat.Request, f *adapters.Format, w adapters.Wording) *chat.Request {
	c := *r
	c.Tools, c.Messages = nil, make([]chat.Message, 0, len(r.Messages)+1)
	rest := r.Messages
	text := f.Prompt(r.Tools, w)
	f = f.Asked(w) // earlier calls are shown in the form that the prompt asks for, not in the family's own
	if len(rest) > 0 && rest[0].Role == chat.System {
		text = strings.TrimPrefix(text+"\n\n"+rest[0].Content, "\n\n")
		rest = rest[1:]
	}
	if text != "" {
		c.Messages = append(c.Messages, chat.Message{Role: chat.System, Content: text})
	}
	h := retold{f: f, calls: map[string]chat.Call{}}
	for len(rest) > 0 {
		n := 0
		for n < len(rest) && rest[n].Role == chat.ToolRole {
			n++
		}
		if n == 0 {
			c.Messages = append(c.Messages, h.turn(rest[0]))
		} else { // results of one turn are one message: some templates refuse two of a role in a row
			c.Messages = append(c.Messages, chat.Message{Role: chat.User, Content: h.results(rest[:n])})
		}
		rest = rest[max(n, 1):]
	}
	return &c
}

// retold writes a conversation out in a family's form. Families that number their calls count them through the conversation, so
// it must be told from the beginning.
type retold struct {
	f     *adapters.Format
	n     int                  // calls so far
	calls map[string]chat.Call // as the family numbers them, by the client's id
}

// turn is m without calls, which became text: a template without tools prints a message's text only, and the calls would be lost.
func (h *retold) turn(m chat.Message) chat.Message {
	if len(m.Calls) == 0 {
		return m
	}
	calls := h.f.Number(h.n, m.Calls)
	for i, c := range m.Calls {
		h.calls[c.ID] = calls[i]
	}
	h.n += len(calls)
	m.Content, m.Calls = string(h.f.Append([]byte(m.Content), calls...)), nil
	return m
}

// results is what tools answered, in the family's own form if its declaration has one. Else it is a sentence that names the tool:
// several results stand in one message, and nothing else tells them apart.
//
// As Hermes shows them: <tool_response>\nsunny\n</tool_response>; of a family that says nothing: Result of
// get_weather:\nsunny
func (h *retold) results(ms []chat.Message) string {
	calls, texts, plain := make([]chat.Call, len(ms)), make([]string, len(ms)), make([]string, len(ms))
	for i, m := range ms {
		calls[i] = h.calls[m.CallID]
		if m.Name != "" {
			calls[i].Name = m.Name
		}
		texts[i], plain[i] = m.Content, fmt.Sprintf("Result of %s:\n%s", calls[i].Name, m.Content)
	}
	if h.f.Results() {
		return string(h.f.AppendResults(nil, calls, texts))
	}
	return strings.Join(plain, "\n")
}
