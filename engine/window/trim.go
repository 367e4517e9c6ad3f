package window

import "toolnorm/chat"

// Trimmed is a conversation without its oldest turns.
type Trimmed struct {
	Messages []chat.Message
	Dropped  int // number of messages
	Freed    int // number of tokens, according to cost
}

// Trim returns a conversation without its oldest turns, so that at least excess tokens are free, or
// nothing more may be left out. System messages, the last user message and the last message stay,
// and no call is separated from its results, which must come after it as package history puts them.
// First whole turns are removed, from one user message to the next, then steps of the work on the
// last user message.
//
// What is freed is rounded up to a multiple of step, if there is that much. So the next requests of
// the same conversation begin in the same way, and the server need not read them again.
func Trim(ms []chat.Message, excess, step int, cost func(chat.Message) int) Trimmed {
	goal := excess
	if step > 0 {
		goal = (excess + step - 1) / step * step
	}
	gone := make([]bool, len(ms))
	var t Trimmed
	for _, unit := range units(ms) {
		if t.Freed >= goal {
			break
		}
		for i := unit.from; i < unit.to; i++ {
			if ms[i].Role != chat.System {
				gone[i] = true
				t.Dropped++
				t.Freed += cost(ms[i])
			}
		}
	}
	for i, m := range ms {
		if !gone[i] {
			t.Messages = append(t.Messages, m)
		}
	}
	return t
}

// unit is a range of messages that are removed together: from <= i < to.
type unit struct{ from, to int }

// units returns the messages that may be removed, in the order of removal.
func units(ms []chat.Message) []unit {
	last := lastUser(ms)
	all := turns(ms[:last])
	return append(all, steps(ms, last)...)
}

// lastUser returns the index of the first of the last consecutive user messages, or 0 if there are
// none. There may be several, because agents split a task and its surroundings into several
// messages.
func lastUser(ms []chat.Message) int {
	i := len(ms) - 1
	for i >= 0 && ms[i].Role != chat.User {
		i--
	}
	for i > 0 && ms[i-1].Role == chat.User {
		i--
	}
	return max(i, 0)
}

// turns splits messages into turns, from one user message to the next. What comes before the first
// user message belongs to the first turn. User messages without an answer belong to the turn of
// those after them.
func turns(ms []chat.Message) (all []unit) {
	from, answered := 0, false
	for i, m := range ms {
		switch {
		case m.Role == chat.Assistant:
			answered = true
		case m.Role == chat.User && answered:
			all = append(all, unit{from, i})
			from, answered = i, false
		}
	}
	if from < len(ms) {
		all = append(all, unit{from, len(ms)})
	}
	return all
}

// steps returns the assistant's messages after the last user message, each with its results, except
// for the last step.
func steps(ms []chat.Message, from int) (all []unit) {
	for from < len(ms) && ms[from].Role == chat.User {
		from++
	}
	for from < len(ms) {
		to := from + 1
		for to < len(ms) && ms[to].Role == chat.ToolRole {
			to++
		}
		if to == len(ms) {
			break
		}
		all = append(all, unit{from, to})
		from = to
	}
	return all
}
