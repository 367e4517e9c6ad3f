package adapters

import (
	"encoding/json"
	"slices"
	"testing"

	"toolnorm/chat"
)

func TestArgumentsOfAServersCall(t *testing.T) {
	tool := chat.Tool{Name: "f", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}}}`)}
	for _, row := range []struct{ text, want string }{
		{``, `{}`},
		{` `, `{}`},
		{`null`, `{}`},
		{`{"city": "Rome", "days": 3}`, `{"city": "Rome", "days": 3}`},
		{`{'city': 'Rome', 'days': 3}`, `{"city": "Rome", "days": 3}`},
		{`{"city": "Rome", "days": 3`, `{"city": "Rome", "days": 3}`},
		{`{"city": "Rome",}`, `{"city": "Rome"}`},
		{`"{\"city\": \"Rome\"}"`, `{"city": "Rome"}`},
		{`[{"city": "Rome"}]`, `{"city": "Rome"}`},
		{`{"city": "Rome"}}`, `{"city": "Rome"}`},
		{`{"city": "Rome"}{"city": "Oslo"}`, ``},
		{"{'city': 'Rome'}\n\n{'city': 'Oslo'}", ``},
		{`{"city": "Rome"}{"city": "Rome"}`, `{"city": "Rome"}`},
		{`not {city} but {"city": "Rome"}`, `{"city": "Rome"}`},
		{`Rome`, ``},
		{`[1, 2]`, ``},
	} {
		got, _, ok := Arguments(tool, row.text)
		if got != row.want || ok != (row.want != "") || ok && !json.Valid([]byte(got)) {
			t.Errorf("Arguments(%q) = %q, %v, want %q", row.text, got, ok, row.want)
		}
	}
}

func TestOfferedTools(t *testing.T) {
	tools := []chat.Tool{{Name: "get_weather"}, {Name: "sendMail"}}
	for name, want := range map[string]string{
		"get_weather": "get_weather", "Get_Weather": "get_weather", "functions.sendMail": "sendMail", "send_mail": "sendMail",
		"getweathers": "", "": "",
	} {
		if got, ok := Offered(tools, name); got.Name != want || ok != (want != "") {
			t.Errorf("Offered(%q) = %q, %v, want %q", name, got.Name, ok, want)
		}
	}
}

func TestTokensOfAFormat(t *testing.T) {
	harmony, mistral := Named("harmony").Tokens(), Named("mistral").Tokens()
	for _, want := range []string{"<tool_call>", "</tool_call>", "[TOOL_CALLS]", "[ARGS]", "<think>", "<|start|>", "<|channel|>", "<|message|>", "<|end|>"} {
		if !slices.Contains(harmony, want) {
			t.Errorf("harmony has no %s among %q", want, harmony)
		}
	}
	if solar := Named("solar-open").Tokens(); !slices.Contains(solar, "<|end|>") {
		t.Errorf("solar-open has no <|end|> among %q", solar)
	}
	for _, not := range []string{"<|end|>", "</s>", "<|im_end|>"} { // an end of turn would be part of the reply
		if slices.Contains(mistral, not) {
			t.Errorf("mistral has %s", not)
		}
	}
}
