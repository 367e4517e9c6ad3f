package history

import (
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// unrepeat removes calls from the assistant's texts that are also in the message as calls: some
// clients keep what they were shown, and a model that sees a call twice writes it twice. Only a
// text that reads as exactly these calls, in their order, loses them; the rest of it stays. The
// names are searched for first, since decoding every text of a long conversation would cost far
// more.
//
// A client that was shown a call as text sends back
//
//	{"role":"assistant","content":"I look.\n<tool_call>\n{…}\n</tool_call>","tool_calls":[{…}]}
//
// and its model sees "I look." and the call.
func (t *talk) unrepeat(f *adapters.Format, tools []chat.Tool) {
	for _, m := range t.turns {
		if len(m.Calls) == 0 || !names(m.Content, m.Calls) {
			continue
		}
		if text, calls, ok := read(f, m.Content, toolsNamed(tools, m.Calls)); ok &&
			chat.SameCalls(calls, m.Calls) {
			m.Content = strings.TrimRight(text, " \t\r\n")
			t.note(m.at, Repeated)
		}
	}
}

// names reports whether a text names the tools of all calls.
func names(text string, calls []chat.Call) bool {
	for _, c := range calls {
		if !strings.Contains(text, c.Name) {
			return false
		}
	}
	return true
}

// toolsNamed returns the tools on offer, and those that were called and are not on offer any more:
// without their names the text would not be read as their calls.
func toolsNamed(tools []chat.Tool, calls []chat.Call) []chat.Tool {
	all := tools[:len(tools):len(tools)]
	known := map[string]bool{}
	for _, tool := range tools {
		known[tool.Name] = true
	}
	for _, c := range calls {
		if !known[c.Name] {
			known[c.Name] = true
			all = append(all, chat.Tool{Name: c.Name})
		}
	}
	return all
}

// read splits a text into calls and the rest. It fails for texts that contain reasoning, or half a
// call: such a text is left as it is, since what would remain of it is not known.
func read(f *adapters.Format, text string, tools []chat.Tool) (
	rest string, calls []chat.Call, ok bool) {
	var c chat.Collector
	reply := &chat.Fixed{{Kind: chat.Text, Text: text}, {Kind: chat.Finish, Text: chat.Stop}}
	for e, err := range f.Decode(reply, adapters.Options{Tools: tools, Hold: adapters.HoldCall}) {
		if err != nil || e.Kind == chat.Reasoning {
			return "", nil, false
		}
		c.Add(e)
	}
	return c.Text.String(), c.Calls, !c.Open
}
