package replay

import (
	"encoding/json"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
)

var weather = []chat.Tool{{Name: "get_weather", Schema: json.RawMessage(`{"type":"object","required":["city"],"properties":{"city":{"type":"string"},"days":{"type":"integer","maximum":7}}}`)}}

func TestWhyATextIsNoCall(t *testing.T) {
	for _, row := range []struct {
		name  string
		raw   string
		cut   bool
		tools []chat.Tool
		calls int
		why   string // a part of the first sentence; empty: there is none
	}{
		{"a good call", `<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>`, false, weather, 1, ""},
		{"a plain answer", "It is sunny in Oslo.", false, weather, 0, ""},
		{"an answer that names a tool", "I would use get_weather for that.", false, weather, 0, ""},
		{"a member is missing", `<tool_call>{"name": "get_weather", "arguments": {"days": 3}}</tool_call>`, false, weather, 1, "get_weather does not fit its schema: city"},
		{"out of bounds", `<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo", "days": 30}}</tool_call>`, false, weather, 1, "days: want at most 7"},
		{"an unknown tool", `<tool_call>{"name": "get_time", "arguments": {"city": "Oslo"}}</tool_call>`, false, weather, 0, "get_time is not among the offered tools (get_weather)"},
		{"no tools", `<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>`, false, nil, 0, "no tools were offered"},
		{"in prose", `You could write {"name": "get_weather", "arguments": {"city": "Oslo"}} to ask for it, as in the manual.`, false, weather, 0, "--calls eager"},
		{"unreadable", "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": \"command: ls\"}\n</tool_call>", false, weather, 0, "cannot be read as its arguments"},
		{"cut", `<tool_call>{"name": "get_weather", "arguments": {"city": "Os`, true, weather, 0, "was cut inside a call, which was left out: it reached its token limit"},
		{"broken off", `<tool_call>{"name": "get_weather", "arguments": {"city": "Os`, false, weather, 0, "left out: it broke off"},
	} {
		r, err := Read(adapters.Named("hermes"), Text{Raw: row.raw, Cut: row.cut, Tools: row.tools})
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		if len(r.Calls) != row.calls || row.why == "" && len(r.Why) > 0 || row.why != "" && (len(r.Why) != 1 || !strings.Contains(r.Why[0], row.why)) {
			t.Errorf("%s: %d calls, why %q, want %d and %q", row.name, len(r.Calls), r.Why, row.calls, row.why)
		}
	}
}

func TestAReadingShowsEventsAndRepairs(t *testing.T) {
	r, err := Read(adapters.Named("hermes"), Text{Raw: `<tool_call>{"name": "get_weather", "arguments": {'city': 'Oslo'}}</tool_call>`, Tools: weather})
	if err != nil || r.Format != "hermes" || r.Events != "call 0 get_weather {\"city\": \"Oslo\"}\nfinish stop" || len(r.Repairs) != 1 || r.Repairs[0] != "quotes" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestHostileTextsAreReadInTime has the texts that make a reader of reasons slow: many words, and
// nothing but marks.
func TestHostileTextsAreReadInTime(t *testing.T) {
	for _, raw := range []string{strings.Repeat("word_1 word-2 <tool_call>{\"name\": ", 500), strings.Repeat("{", 1<<16), strings.Repeat("<tool_call>", 1<<11)} {
		if _, err := Read(adapters.Named("hermes"), Text{Raw: raw, Tools: weather}); err != nil {
			t.Error(err)
		}
	}
}
