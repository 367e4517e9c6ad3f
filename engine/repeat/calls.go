package repeat

import (
	"slices"

	"toolnorm/chat"
)

// Turns returns the calls with which a conversation ends, and how many consecutive turns end it
// with the same calls and the same results. Each result must follow its call, as history.Normal
// puts it. Turns returns nil, 0 for a conversation that does not end with results. A further
// question, other arguments or another result end the count, because then something has changed.
// Results are compared because an agent that polls a job makes the same call and gets another
// answer in the end.
func Turns(ms []chat.Message) (calls []chat.Call, times int) {
	rest, last, results := lastTurn(ms)
	if last == nil {
		return nil, 0
	}
	for times = 1; ; times++ {
		more, earlier, answers := lastTurn(rest)
		if earlier == nil || !chat.SameCalls(earlier.Calls, last.Calls) ||
			!slices.EqualFunc(answers, results, alike) {
			return last.Calls, times
		}
		rest = more
	}
}

// lastTurn splits the last calls and their results from the end of a conversation. The result
// caller is the message with the calls, and rest is everything before it. If the conversation does
// not end with calls and their results, caller is nil, and rest is the whole conversation. This
// includes results without calls before them, which history.Normal turns into user messages.
func lastTurn(ms []chat.Message) (
	rest []chat.Message, caller *chat.Message, results []chat.Message) {
	i := len(ms)
	for i > 0 && ms[i-1].Role == chat.ToolRole {
		i--
	}
	if i == len(ms) || i == 0 || len(ms[i-1].Calls) == 0 {
		return ms, nil, nil
	}
	return ms[:i-1], &ms[i-1], ms[i:]
}

// alike reports whether two results have the same content. Ids and names are not compared, because
// ids differ from turn to turn.
func alike(a, b chat.Message) bool { return a.Content == b.Content }
