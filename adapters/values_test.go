package adapters

import (
	"encoding/json"
	"testing"

	"toolnorm/chat"
)

// TestValuesAreReadByTheirSchema reads calls of a tool with one schema each; golden cases all have
// the same tools.
func TestValuesAreReadByTheirSchema(t *testing.T) {
	label := func(s string) string { return `{"type":"object","properties":{"label":` + s + `}}` }
	tagged := func(value string) string {
		return "<tool_call>\n<function=f>\n<parameter=label>\n" + value + "\n</parameter>\n</function>\n</tool_call>"
	}
	for _, tt := range []struct{ format, schema, raw, want string }{
		{"qwen3-coder", label(`{"type":["string","null"]}`), tagged("null"), `{"label":null}`},
		{"qwen3-coder", label(`{"anyOf":[{"type":"string"},{"type":"null"}]}`), tagged("None"), `{"label":null}`},
		{"qwen3-coder", label(`{"oneOf":[{"type":"null"},{"type":"string"}]}`), tagged("nil"), `{"label":null}`},
		{"qwen3-coder", label(`{"type":"string","nullable":true}`), tagged("null"), `{"label":null}`},
		{"qwen3-coder", `{"type":"object","properties":{"label":{"$ref":"#/$defs/L"}},"$defs":{"L":{"type":["string","null"]}}}`, tagged("null"), `{"label":null}`},
		{"qwen3-coder", label(`{"type":["string","null"]}`), tagged("null and void"), `{"label":"null and void"}`},
		{"qwen3-coder", label(`{"type":"string"}`), tagged("null"), `{"label":"null"}`},
		{"minimax-m2", label(`{"type":["string","null"]}`), "<minimax:tool_call>\n<invoke name=\"f\">\n<parameter name=\"label\">null</parameter>\n</invoke>\n</minimax:tool_call>", `{"label":null}`},
		{"deepseek-dsml", label(`{"type":["string","null"]}`), "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"f\">\n<｜DSML｜parameter name=\"label\" string=\"true\">null</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>", `{"label":"null"}`},
		{"hermes", label(`{"type":["string","null"]}`), "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"label\": \"null\"}}\n</tool_call>", `{"label": "null"}`},
		{"hermes", `{"type":"object","properties":{"arguments":{"type":"object"}}}`, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"arguments\": {\"a\": 1}}}\n</tool_call>", `{"arguments": {"a": 1}}`},
		{"qwen3-coder", label(`{"type":["integer","string"]}`), tagged("007"), `{"label":"007"}`},
		{"qwen3-coder", label(`{"type":"number"}`), tagged("-007.5"), `{"label":-7.5}`},
		{"harmony", label(`{"type":"string"}`), "<|channel|>commentary to=functions.f<|message|><parameter name=\"label\">x</parameter><|call|>", ""},
		{"harmony", label(`{"type":"string"}`), "<|channel|>commentary to=functions.f<|message|>\"label\": x<|call|>", `{"label": "x"}`},
	} {
		calls := decodeCalls(t, Named(tt.format), []string{tt.raw}, Options{Tools: []chat.Tool{{Name: "f", Schema: json.RawMessage(tt.schema)}}})
		got := ""
		for _, c := range calls {
			got += string(c.Args)
		}
		if got != tt.want {
			t.Errorf("%s under %s\ngot  %s\nwant %s", tt.raw, tt.schema, got, tt.want)
		}
	}
}
