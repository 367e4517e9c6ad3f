package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
)

var talk = []chat.Message{
	{Role: chat.System, Content: "Be brief."},
	{Role: chat.User, Content: "Weather?"},
	{Role: chat.Assistant, Reasoning: "hm", Calls: []chat.Call{
		{ID: "c1", Name: "get_weather", Args: json.RawMessage(`{"z":12345678901234567890,"a":1.50}`)},
		{ID: "c2", Name: "get_time"},
	}},
	{Role: chat.ToolRole, CallID: "c1", Content: "sunny"},
	{Role: chat.ToolRole, CallID: "x", Name: "get_time", Content: "noon"},
}

// TestDescribedGrowsAtItsEnd wants each turn's messages to begin with those of the turn before:
// else the server reads the whole prompt again.
func TestDescribedGrowsAtItsEnd(t *testing.T) {
	f := adapters.Named("hermes")
	r := &chat.Request{Tools: []chat.Tool{weather}}
	var before []chat.Message
	for n := 2; n <= len(talk); n++ {
		r.Messages = talk[:n]
		now := describeTools(r, f, 0)
		if len(now.Tools) != 0 || len(now.Messages) != min(n, 4) || now.Messages[0].Role != chat.System {
			t.Fatalf("%d messages: %+v", n, now)
		}
		for i, m := range now.Messages {
			if i < len(before) && !strings.HasPrefix(m.Content, before[i].Content) {
				t.Errorf("message %d changed from %q to %q", i, before[i].Content, m.Content)
			}
			if len(m.Calls) > 0 || m.Role == chat.ToolRole {
				t.Errorf("message %d still needs a template for tools: %+v", i, m)
			}
		}
		before = now.Messages
	}
	if got, want := before[3].Content, "<tool_response>\nsunny\n</tool_response>\n<tool_response>\nnoon\n</tool_response>"; got != want {
		t.Errorf("the results became %q, want %q", got, want)
	}
	if got, want := describeTools(r, adapters.Named("generic"), 0).Messages[3].Content, "Result of get_weather:\nsunny\nResult of get_time:\nnoon"; got != want {
		t.Errorf("of a family that says nothing of results they became %q, want %q", got, want)
	}
	if talk[2].Calls == nil {
		t.Error("the request's own messages were changed")
	}
}
