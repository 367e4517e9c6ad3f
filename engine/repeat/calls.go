package repeat

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"toolnorm/chat"
)

// longestRound is how many calls are looked at together: models go round in circles of two or three.
const longestRound = 4

// Calls finds out that a reply goes round in the same few calls. Most is how often a round may be gone.
type Calls struct {
	Most int
	made []*call // the last calls, the last one last
}

// Round is how many calls the round has that was gone often enough; 0: there is none, and the next call may be any. With at most 3
// the calls a b a b a b make a round of two: the list without its last two calls is equal to the list without its first two.
func (c *Calls) Round() int {
	for n := 1; n <= longestRound; n++ {
		if last := len(c.made) - n*c.Most; last >= 0 && slices.EqualFunc(c.made[last:len(c.made)-n], c.made[last+n:], (*call).is) {
			return n
		}
	}
	return 0
}

// Add notes a call, and says whether it is one too many. No more calls are remembered than the longest round
// needs.
func (c *Calls) Add(made chat.Call) bool {
	next := &call{Call: made}
	if n := c.Round(); n > 0 && next.is(c.made[len(c.made)-n]) {
		return true
	}
	c.made = append(c.made, next)
	c.made = c.made[max(len(c.made)-c.Most*longestRound, 0):]
	return false
}

// Turns is how often the conversation ends with the same calls and the same results, one turn after the other, and what these calls
// are. Each result stands behind its call there, as history.Normal puts them. A conversation that does not end with results has none; one
// question more, other arguments or another result end the count, for then something has changed. Results are compared,
// since who polls a job calls alike and gets another answer in the end.
func Turns(ms []chat.Message) (calls []chat.Call, times int) {
	rest, last, results := lastTurn(ms)
	if last == nil {
		return nil, 0
	}
	for times = 1; ; times++ {
		more, earlier, answers := lastTurn(rest)
		if earlier == nil || !Same(earlier.Calls, last.Calls) || !slices.EqualFunc(answers, results, alike) {
			return last.Calls, times
		}
		rest = more
	}
}

// lastTurn takes the calls and their results off the end of a conversation; nil when it does not end with such.
// Results without calls in front are none: Normal has made messages of the user's of them.
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

// alike says whether two results say the same. Ids and names are not compared: ids differ from turn to
// turn.
func alike(a, b chat.Message) bool { return a.Content == b.Content }

// Same says whether calls are the same in name, order and arguments, however those are spelled: clients and models write arguments
// anew, with other white space and order. Numbers are compared by their digits, so 1 and 1.0 differ.
func Same(a, b []chat.Call) bool {
	return slices.EqualFunc(a, b, func(a, b chat.Call) bool { return (&call{Call: a}).is(&call{Call: b}) })
}

// call is a call to be compared. The one way to write its arguments is found when it is first compared with another spelling:
// nearly every reply ends before there is anything to compare.
type call struct {
	chat.Call
	value string // of the arguments, as canonical has it; empty: not found yet
}

// is says whether two calls are the same to whoever runs them.
func (c *call) is(other *call) bool {
	return c.Name == other.Name && (bytes.Equal(c.Args, other.Args) || c.canonical() == other.canonical())
}

// canonical is the arguments written the one way that depends on nothing but the value: {"a":1, "b":2} and {"b":2,"a":1} are the same
// call to whoever runs it. No arguments are an empty object, and text that is no JSON is itself.
func (c *call) canonical() string {
	if c.value != "" {
		return c.value
	}
	d := json.NewDecoder(bytes.NewReader(c.Args))
	d.UseNumber()
	var v any
	switch err := d.Decode(&v); err {
	case nil:
		text, _ := chat.JSON(v) // what was read can be written
		c.value = string(text)
	case io.EOF:
		c.value = "{}"
	default:
		c.value = string(c.Args)
	}
	return c.value
}
