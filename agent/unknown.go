package agent

import (
	"regexp"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// named is where a text that may be a call names its tool; argued, where it has arguments. They only find what to try.
// The names of members are those that models write for the contract's: {"name": …, "parameters": …}, and quotes may be
// curly.
var (
	named  = regexp.MustCompile(`["'“]?\b(?:tool|tool_name|name|function)\b["'”]?\s*:\s*["'“]([A-Za-z0-9_.-]{1,128})["'”]`)
	argued = regexp.MustCompile(`["'“]?\b(?:arguments|args|parameters|params|input)\b["'”]?\s*:`)
)

// look finds calls that the decoder takes for text. Those in the words of ReAct are one kind: many models know them
// better than any contract, and they are marks in that family alone. Calls of tools that there are not are the other: a
// model that has misread a name should hear so. For these the text is decoded once more, as if there were a tool of
// that name: what is a call then, by all the decoder's evidence, was meant as one. JSON without arguments is an answer.
// Only the first is taken: the model hears that the name is wrong, and asks again.
func (c *contract) look(text, end string) []chat.Call {
	if c.tools.empty() || len(text) > longestLook {
		return nil
	}
	// Decoding once more is for texts that show a reason; most answers have neither mark.
	if strings.Contains("\n"+text, "\nAction:") {
		if calls := c.decoded(adapters.Named("react"), text, end, c.offered(), c.tools.also); len(calls) > 0 {
			return calls
		}
	}
	// The first name is tried; what comes of it is the decoder's to say.
	m := named.FindStringSubmatch(text)
	if m == nil || !argued.MatchString(text) {
		return nil
	}
	calls := c.decoded(c.format, text, end, []chat.Tool{{Name: m[1]}}, nil)
	return calls[:min(1, len(calls))]
}

// longestLook is how long a text is looked at again, in bytes: calls are short, and answers may be very long.
const longestLook = 64 << 10

// decoded are the first calls in a text, which is given to the decoder as a whole reply that ended so: what was cut must not
// run. A decoder that fails finds none.
func (c *contract) decoded(f *adapters.Format, text, end string, offered []chat.Tool, also map[string]string) []chat.Call {
	source := chat.Fixed{{Kind: chat.Text, Text: text}, {Kind: chat.Finish, Text: end}}
	var got group
	for e, err := range f.Decode(&source, adapters.Options{Tools: offered, Also: also, Hold: adapters.HoldCall}) {
		if err != nil {
			return nil
		}
		got.Add(e)
	}
	calls := got.first()
	for i, call := range calls {
		if whole, ok := c.tools.also[call.Name]; ok {
			calls[i].Name = whole
		}
	}
	return calls
}
