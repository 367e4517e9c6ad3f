package window

import "toolnorm/chat"

// Trimmed is a conversation whose oldest turns were left out.
type Trimmed struct {
	Messages []chat.Message
	Dropped  int // number of messages
	Freed    int // number of tokens, according to cost
}

// Trim returns a conversation without its oldest turns. It frees at least excess tokens, or fewer
// if nothing else may be left out. The system messages, the last user message and the last message
// always stay. A call and its results are left out together. The results must follow their call, as
// package history orders them.
//
// A turn goes from one user message to the next. A step is a message of the assistant with its
// results. The turns are left out first, from the oldest on. Then the steps after the last user
// message are left out, except for the last step.
//
// The number of tokens to free is first rounded up to a multiple of the parameter step, unless step
// is 0 or less. So the next requests of the same conversation begin in the same way, and the server
// need not read that beginning again.
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

// lastUser returns the index at which the last group of consecutive user messages begins, or 0 if
// there are no user messages. A group may have several messages, because agents send a task and
// information about it as separate messages.
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

// turns splits messages into turns. A turn ends before a user message that comes after an
// assistant's message, so consecutive user messages are in one turn. What comes before the first
// user message belongs to the first turn.
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

// steps returns the assistant's messages after the user messages at the index from. Each range
// (unit) has one such message with the results of its calls. The last range is left out.
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
