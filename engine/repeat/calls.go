package repeat

import (
	"slices"

	"toolnorm/chat"
)

// Turns is how often the conversation ends with the same calls and the same results, one turn after
// the other, and what these calls are. Each result stands behind its call there, as history.Normal
// puts them. A conversation that does not end with results has none; one question more, other
// arguments or another result end the count, for then something has changed. Results are compared,
// since who polls a job calls alike and gets another answer in the end.
func Turns(ms []chat.Message) (calls []chat.Call, times int) {
	rest, last, results := lastTurn(ms)
	if last == nil {
		return nil, 0
	}
	for times = 1; ; times++ {
		more, earlier, answers := lastTurn(rest)
		if earlier == nil || !chat.SameCalls(earlier.Calls, last.Calls) || !slices.EqualFunc(answers, results, alike) {
			return last.Calls, times
		}
		rest = more
	}
}

// lastTurn takes the calls and their results off the end of a conversation; nil when it does not
// end with such. Results without calls in front are none: Normal has made messages of the user's of
// them.
func lastTurn(ms []chat.Message) (rest []chat.Message, caller *chat.Message, results []chat.Message) {
	i := len(ms)
	for i > 0 && ms[i-1].Role == chat.ToolRole {
		i--
	}
	if i == len(ms) || i == 0 || len(ms[i-1].Calls) == 0 {
		return ms, nil, nil
	}
	return ms[:i-1], &ms[i-1], ms[i:]
}

// alike says whether two results say the same. Ids and names are not compared: ids differ from turn
// to turn.
func alike(a, b chat.Message) bool { return a.Content == b.Content }
