package ollama

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/test/must"
)

// rendering is a real rendering of Ollama and the tools that it was asked with.
type rendering struct {
	Prompt string `json:"prompt"`
	Tools  []struct {
		Function struct {
			Name, Description string
			Parameters        json.RawMessage
		}
	} `json:"tools"`
}

// TestGoStructsBecomeJSON takes real renderings: two templates that print Go structs and one that
// prints JSON.
func TestGoStructsBecomeJSON(t *testing.T) {
	for file, want := range map[string]string{
		"hermes": "# Tools\n<tools>\n" +
			`{"type": "function", "function": {"name":"get_weather","description":"Weather for a city","parameters":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}}}` + "\n" +
			`{"type": "function", "function": {"name":"get_time","description":"Time in a zone","parameters":{"type":"object","properties":{"tz":{"type":"string"}}}}}` + "\n</tools>",
		"thinker": `<tools>{"name":"get_weather","description":"Weather for a city","parameters":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}}` +
			`{"name":"get_time","description":"Time in a zone","parameters":{"type":"object","properties":{"tz":{"type":"string"}}}}</tools>`,
		"native": `{"type": "function", "function": {"name": "get_weather", "description": "Weather for a city", "parameters": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}}`,
	} {
		data := must.Read(t, "testdata/rendered/"+file+".json")
		var r rendering
		must.OK(t, json.Unmarshal(data, &r))
		var sent []upstream.Tool
		var full []chat.Tool
		for _, tool := range r.Tools {
			f := tool.Function
			full = append(full, chat.Tool{Name: f.Name, Description: f.Description, Schema: f.Parameters})
			sent = append(sent, upstream.Tool{Function: upstream.Function{Name: f.Name, Description: f.Description, Parameters: f.Parameters}})
		}
		got := replaceGoStructs(r.Prompt, sent, full)
		if !strings.Contains(got, want) || strings.Contains(got, "<nil>") {
			t.Errorf("%s: prompt\n%s\nwant in it\n%s", file, got, want)
		}
		if file == "native" && got != r.Prompt {
			t.Error("a prompt with JSON was changed")
		}
		begin, end := strings.Index(r.Prompt, "<tools>"), len(r.Prompt)-strings.Index(r.Prompt, "</tools>")
		if got[:begin] != r.Prompt[:begin] || got[len(got)-end:] != r.Prompt[len(r.Prompt)-end:] {
			t.Errorf("%s: text around the tools was changed:\n%s", file, got)
		}
	}
}

// TestReplacingPassesOverWhatIsNoTool has the mark of a printed struct in the user's text, tools
// that the template leaves out, and so many tools that looking for each in the whole prompt would
// be felt.
func TestReplacingPassesOverWhatIsNoTool(t *testing.T) {
	var sent []upstream.Tool
	var full []chat.Tool
	prompt, want := "<tools>", "<tools>"
	for i := range 2000 {
		raw := json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"p%d":{"type":"string"}}}`, i))
		full = append(full, chat.Tool{Name: "f", Schema: raw})
		sent = append(sent, upstream.Tool{Function: upstream.Function{Name: "f", Parameters: raw}})
		if i%3 == 0 {
			prompt += goText(raw) + "\n"
			want += string(raw) + "\n"
		}
	}
	tail := "</tools>" + strings.Repeat(" {object <nil> <nil> [] {}}", 2000)
	if got := replaceGoStructs(prompt+tail, sent, full); got != want+tail {
		t.Errorf("got %.300s…\nwant %.300s…", got, want)
	}
	plain := strings.Repeat("no struct in here ", 1000)
	if n := testing.AllocsPerRun(1, func() { replaceGoStructs(plain, sent, full) }); n > 0 {
		t.Errorf("a prompt without structs costs %.0f allocations", n)
	}
}
