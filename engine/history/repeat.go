package history

import (
	"slices"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// unrepeat removes calls from an assistant's text if the message also has them as calls. Some
// clients keep what they were shown, and a model that sees a call twice writes it twice. Calls are
// removed only if the text has exactly these calls, in order; the other text stays. Names are
// searched for first, since decoding every text of a long conversation would cost far more.
//
// For example, a client that was shown a call as text sends back
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

// names reports whether a text contains the names of all called tools.
func names(text string, calls []chat.Call) bool {
	return !slices.ContainsFunc(calls, func(c chat.Call) bool {
		return !strings.Contains(text, c.Name)
	})
}

// toolsNamed returns the offered tools, and those that were called but are no longer offered. A
// text that repeats the calls is decoded with this list, and calls of tools that are not in it
// would not be found.
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

// read splits a text into the calls in it and the rest of the text. It returns false for a text
// with reasoning or with half a call, because it is not known what should remain of such a text.
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
