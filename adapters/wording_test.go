package adapters_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

var worded = []chat.Tool{
	{Name: "get_weather", Description: "Weather for a city", Schema: json.RawMessage(`{"type":"object","required":["city"],"properties":{
		"days":{"type":"integer","description":"how many"},"city":{"type":"string"},"unit":{"enum":["C","F"]},"at":{"type":["number","null"]},
		"tags":{"type":"array","items":{"type":"string"}},"place":{"type":"object","description":"where","properties":{"lat":{"type":"number"}}}}}`)},
	{Name: "now"},
}

// TestWordings holds the text that models read to its bytes: it is part of the prompt that servers
// cache.
func TestWordings(t *testing.T) {
	const ask = "\nWhen the request needs one of them, reply only with the call, and the result will be given to you:\n\n"
	const form = ask + "<tool_call>\n{\"name\": \"function_name\", \"arguments\": {\"parameter\": \"value\"}}\n</tool_call>"
	const python = ask + "function_name(parameter=\"value\")"
	signatures := "\ndef get_weather(city: str, days: int = None, unit: Literal[\"C\", \"F\"] = None, at: float | None = None, tags: list[str] = None, place: dict = None):\n" +
		"    \"\"\"Weather for a city\n    days: how many\n    place: where {\"type\": \"object\", \"description\": \"where\", \"properties\": {\"lat\": {\"type\": \"number\"}}}\n    \"\"\"\n" +
		"\ndef now():\n    ...\n"
	schemas := "\n{\"name\": \"now\", \"description\": \"\", \"parameters\": {\"type\": \"object\", \"properties\": {}}}\n"
	worked := "\n\nExample. The user says: Please use get_weather with city \"some text\".\nYou write:\n\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"some text\"}}\n</tool_call>"
	workedPython := "\n\nExample. The user says: Please use get_weather with city \"some text\".\nYou write:\n\nget_weather(city=\"some text\")"
	for name, want := range map[string][]string{
		"schemas":            {"\n{\"name\": \"get_weather\", ", schemas, form + "\n\nWhen none"},
		"signatures":         {"to call:\n" + signatures + python + "\n\nWhen none"},
		"signatures example": {signatures + python + workedPython + "\n\nWhen none"},
		"example":            {schemas + form + worked},
		"schemas+signatures": {schemas, "def now():"},
	} {
		w, err := adapters.ParseWording(name)
		must.OK(t, err)
		got := adapters.Named("hermes").Prompt(worded, w)
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%s:\n%s\nwant in it:\n%s", name, got, part)
			}
		}
		if again, err := adapters.ParseWording(w.String()); again != w || err != nil {
			t.Errorf("%s is written %q, which is read as %v, %v", name, w, again, err)
		}
	}
	for _, bad := range []string{"", " ", "schema", "signatures examples"} {
		if w, err := adapters.ParseWording(bad); err == nil {
			t.Errorf("%q is read as %v", bad, w)
		}
	}
}

// TestPromptsShowTheFormatTheyAskFor wants a worked example in the family's own form, or in Python
// where signatures ask for it.
func TestPromptsShowTheFormatTheyAskFor(t *testing.T) {
	call := chat.Call{ID: "example00", Name: "get_weather", Args: json.RawMessage(`{"city":"some text"}`)}
	for _, f := range adapters.All() {
		for _, w := range []adapters.Wording{adapters.Schemas | adapters.Example, adapters.Signatures | adapters.Example} {
			written := string(f.Asked(w).Append(nil, call))
			if prompt := f.Prompt(worded[:1], w); !strings.Contains(prompt, written) {
				t.Errorf("%s, %s: the prompt does not show\n%s", f.Name, w, written)
			}
		}
		if got := f.Asked(adapters.Schemas); got != f {
			t.Errorf("%s asks for %s under schemas", f.Name, got.Name)
		}
		if got := f.Asked(adapters.Signatures).Name; got != "python" {
			t.Errorf("%s asks for %s under signatures", f.Name, got)
		}
	}
}

// TestADeclarationSaysItsWording has a family of a user's own.
func TestADeclarationSaysItsWording(t *testing.T) {
	const head = "format mine\nmodels mine*\ncall <mine>{call}</mine>\n"
	f, err := adapters.Builtin().Parse([]byte(head + "wording signatures example\nresult <got>{name}\\n{result}</got>\n"))
	must.OK(t, err)
	if f.Wording() != adapters.Signatures|adapters.Example || !strings.Contains(f.Prompt(worded, 0), "def now()") || strings.Contains(f.Prompt(worded, adapters.Schemas), "def ") {
		t.Errorf("wording %q, prompt\n%s", f.Wording(), f.Prompt(worded, 0))
	}
	now := []chat.Call{{Name: "now"}}
	if got := f.AppendResults([]byte("x"), now, []string{"{name} is noon"}); !f.Results() || string(got) != "x<got>now\n{name} is noon</got>" {
		t.Errorf("a result is shown as %q", got)
	}
	if g := adapters.Named("generic"); g.Results() || g.AppendResults(nil, now, []string{"noon"}) != nil {
		t.Errorf("without a result line there is something to print")
	}
	for _, bad := range []string{"wording loud", "wording", "result nothing"} {
		if _, err := adapters.Builtin().Parse([]byte(head + bad + "\n")); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestPositionalAndKeywordCallsReadAlike is about Python calls whose values have no names.
func TestPositionalAndKeywordCallsReadAlike(t *testing.T) {
	for text, want := range map[string]string{
		`get_weather(city="Paris", days=3)`:         `{"city":"Paris","days":3}`,
		`get_weather("Paris", 3)`:                   `{"city":"Paris","days":3}`,
		`get_weather("Paris", days=3)`:              `{"city":"Paris","days":3}`,
		`get_weather("Paris", 3, "C", None, ["a"])`: `{"city":"Paris","days":3,"unit":"C","at":null,"tags":["a"]}`,
		`get_weather("Paris")`:                      `{"city":"Paris"}`,
	} {
		src := &chat.Fixed{{Kind: chat.Text, Text: "<|tool_call_start|>[" + text + "]<|tool_call_end|>"}, {Kind: chat.Finish, Text: chat.Stop}}
		if got := shown("lfm2", src, adapters.Options{Tools: worded}); got != "[call get_weather][args "+want+"][end][finish stop]" {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestAListOfItselfHasAnEnd has a schema whose lists hold nothing but such lists. A text in such a
// place was put into a list, that into another one and so on, and the prompt named their type level
// by level: both took the whole stack, and the process.
func TestAListOfItselfHasAnEnd(t *testing.T) {
	tools := []chat.Tool{{Name: "f", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"$ref":"#/$defs/l"}},"$defs":{"l":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/l"},{"type":"null"}]}}}}`)}}
	for family, text := range map[string]string{
		"hermes":      "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"n\": \"x\"}}\n</tool_call>",
		"qwen3-coder": "<tool_call>\n<function=f>\n<parameter=n>\nx\n</parameter>\n</function>\n</tool_call>",
	} {
		src := &chat.Fixed{{Kind: chat.Text, Text: text}, {Kind: chat.Finish, Text: chat.Stop}}
		got := strings.ReplaceAll(shown(family, src, adapters.Options{Tools: tools}), ": ", ":")
		if got != `[call f][args {"n":"x"}][end][finish stop]` {
			t.Errorf("%s: %s", family, got)
		}
	}
	if got := adapters.Named("hermes").Prompt(tools, adapters.Signatures); !strings.Contains(got, "list[list[") || strings.Count(got, "list") > 12 {
		t.Errorf("the prompt has %s", got)
	}
}
