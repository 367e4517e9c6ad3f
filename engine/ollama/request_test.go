package ollama

import (
	"encoding/json"
	"testing"

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

func TestHistoryInOllamasForm(t *testing.T) {
	got, _ := json.Marshal(wireMessages(talk))
	want := `[{"role":"system","content":"Be brief."},{"role":"user","content":"Weather?"},` +
		`{"role":"assistant","content":"","thinking":"hm","tool_calls":[` +
		`{"id":"c1","function":{"index":0,"name":"get_weather","arguments":{"z":12345678901234567890,"a":1.50}}},` +
		`{"id":"c2","function":{"index":1,"name":"get_time","arguments":{}}}]},` +
		`{"role":"tool","content":"sunny","tool_name":"get_weather","tool_call_id":"c1"},` +
		`{"role":"tool","content":"noon","tool_name":"get_time","tool_call_id":"x"}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
