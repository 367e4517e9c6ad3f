package history

import (
	"fmt"
	"slices"

	"toolnorm/chat"
)

// call is a call of the conversation, with the result that answers it.
type call struct {
	said   string // its id in the client's conversation
	id     string
	name   string
	answer *turn // nil: no result has been found yet
}

// queue is a list of calls that may wait for their results. A call may be in several queues. When
// it is answered through one of them, the others skip it.
type queue []*call

// first returns the first call in the queue that has no result yet, or nil if all have one. It
// removes the calls before it, so that the next search need not pass them.
func (q *queue) first() *call {
	for len(*q) > 0 && (*q)[0].answer != nil {
		*q = (*q)[1:]
	}
	if len(*q) == 0 {
		return nil
	}
	return (*q)[0]
}

// pairing goes through a conversation once, in linear time. Calls that have no result yet are in
// queues by id, by name and by order, and each is examined once.
type pairing struct {
	*talk
	// the open calls by the client's id, a queue for each assistant message
	ids   map[string][]*queue
	open  queue             // the open calls of the last assistant message
	names map[string]*queue // the same calls by the tool's name
	taken map[string]bool   // ids that any call has
	used  map[string]bool   // ids that were assigned
	calls int               // number of calls so far
}

// pair gives every call a unique id, and puts the results after the calls that they answer, in the
// order of the calls. Templates that print no ids rely on that order, and some raise an error for a
// result without a call. A result that answers no call becomes a user message, so no text is lost.
//
// In this example the first call gets the id call_1, and the result with its name gets the same id:
//
//	{"role":"assistant","tool_calls":[{"name":"get_weather",…},{"name":"get_time",…}]}
//	{"role":"tool","name":"get_time","content":"noon"}
//	{"role":"tool","name":"get_weather","content":"sunny"}
//
// The results swap places, since they name their tools.
func (t *talk) pair() {
	p := &pairing{talk: t, ids: map[string][]*queue{}, taken: map[string]bool{},
		used: map[string]bool{}}
	for _, turn := range t.turns {
		for _, c := range turn.Calls {
			p.taken[c.ID] = true
		}
	}
	out := make([]*turn, 0, len(t.turns))
	rounds := map[int]queue{} // the calls of the message at that index of out
	for rest := t.turns; len(rest) > 0; {
		if n := results(rest); n > 0 {
			out = append(out, p.answers(rest[:n])...)
			rest = rest[n:]
			continue
		}
		if len(rest[0].Calls) > 0 {
			rounds[len(out)] = p.begin(rest[0])
		}
		out, rest = append(out, rest[0]), rest[1:]
	}
	t.turns = make([]*turn, 0, len(t.turns))
	for i, turn := range out {
		t.turns = append(t.turns, turn)
		t.answered(rounds[i])
	}
}

// results returns how many of the given turns are results of tools, counted from the first turn to
// the first one of another kind.
func results(turns []*turn) int {
	n := slices.IndexFunc(turns, func(m *turn) bool { return m.Role != chat.ToolRole })
	if n < 0 {
		return len(turns)
	}
	return n
}

// begin records the calls of an assistant message as calls without a result, and returns them. Ids
// that are missing or were used before are replaced by numbered ones. The same conversation gets
// the same numbers in every request, so that the prompt begins like the last one, which is in the
// server's cache.
func (p *pairing) begin(m *turn) queue {
	p.open, p.names = nil, map[string]*queue{}
	ids := map[string]*queue{}
	for i := range m.Calls {
		c := &m.Calls[i]
		p.calls++
		said := c.ID
		if said == "" || p.used[said] {
			c.ID = p.fresh()
			p.note(m.at, CallIDs)
		}
		p.used[c.ID] = true
		opened := &call{said: said, id: c.ID, name: c.Name}
		p.open = append(p.open, opened)
		add(p.names, c.Name, opened)
		if said != "" && ids[said] == nil {
			p.ids[said] = append(p.ids[said], add(ids, said, opened))
		} else if said != "" {
			add(ids, said, opened)
		}
	}
	return slices.Clone(p.open)
}

// add appends a call to the queue that has the key in the map, and returns that queue.
func add(queues map[string]*queue, key string, c *call) *queue {
	if queues[key] == nil {
		queues[key] = new(queue)
	}
	*queues[key] = append(*queues[key], c)
	return queues[key]
}

// fresh returns an id that no call of any turn has. This is call_3 for the third call, or call_3x
// if the client uses call_3.
func (p *pairing) fresh() string {
	id := fmt.Sprintf("call_%d", p.calls)
	for p.taken[id] {
		id += "x"
	}
	p.taken[id] = true
	return id
}

// answers finds the call for each of the given results, by its id, or else by its tool's name, or
// else by the order of the calls. Each rule is applied to all results before the next rule, so that
// a result with an id never loses its call to one without. It returns the results that answer no
// call, as user messages.
func (p *pairing) answers(left []*turn) []*turn {
	for _, find := range []func(*turn) *call{p.byID, p.byName, p.byOrder} {
		var rest []*turn
		for _, result := range left {
			c := find(result)
			if c == nil {
				rest = append(rest, result)
				continue
			}
			if result.CallID != c.said || c.said == "" {
				p.note(result.at, CallIDs)
			}
			result.CallID, result.Name = c.id, c.name
			c.answer = result
		}
		left = rest
	}
	for _, result := range left {
		p.note(result.at, Orphans)
		result.Message = resultMessage(result.Message)
	}
	return left
}

// byID returns the call with the result's id that has no result yet, or nil. If several messages
// have calls with that id, it uses the latest one, because some clients count ids from call_0 in
// each turn.
func (p *pairing) byID(result *turn) *call {
	if result.CallID == "" {
		return nil
	}
	for queues := p.ids[result.CallID]; len(queues) > 0; queues = p.ids[result.CallID] {
		if c := queues[len(queues)-1].first(); c != nil {
			return c
		}
		p.ids[result.CallID] = queues[:len(queues)-1]
	}
	return nil
}

// byName returns a call of the result's tool in the last message with calls: the first that has no
// result yet, or nil. Earlier messages do not count, because a result without an id belongs to the
// last calls.
func (p *pairing) byName(result *turn) *call {
	if result.Name == "" || p.names[result.Name] == nil {
		return nil
	}
	return p.names[result.Name].first()
}

// byOrder returns the first call without a result in the last message with calls. A result without
// an id is taken for that call's result. It returns nil if there is none. It also returns nil if
// the result names a tool, because then only a call of that tool can be meant.
func (p *pairing) byOrder(result *turn) *call {
	if result.Name != "" {
		return nil
	}
	return p.open.first()
}

// answered appends the results of calls to the turns. If a call has no result, none is added,
// because nothing is known about it.
func (t *talk) answered(calls queue) {
	at := t.turns[len(t.turns)-1].at
	for _, c := range calls {
		if c.answer == nil {
			continue
		}
		if at++; c.answer.at != at {
			t.note(c.answer.at, Moved)
		}
		t.turns = append(t.turns, c.answer)
	}
}

// resultMessage returns a result as a user message. The text names the tool and says that it is a
// result. Otherwise the model would take it for the question.
func resultMessage(m chat.Message) chat.Message {
	of := "a tool"
	if m.Name != "" {
		of = m.Name
	}
	return chat.Message{Role: chat.User, Content: "Result of " + of + ":\n" + m.Content,
		Images: m.Images}
}
