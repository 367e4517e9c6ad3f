package ollama

import "testing"

func TestToolMark(t *testing.T) {
	for template, want := range map[string]string{
		`{{ .Prompt }}`: "",
		`{{ if .ToolCalls }}<tool_call>` + "\n" + `{"name": {{ end }}`:                        "<tool_call>",
		`{{- if .ToolCalls }}[TOOL_CALLS] [{{ range .ToolCalls }}{"name"{{ end }}]{{ end }}`:  "[TOOL_CALLS]",
		`{{ else if .ToolCalls -}} {{ range .ToolCalls }} <|tool_call|>[{{ end }}`:            "<|tool_call|>",
		`{{ if .ToolCalls }}{{ range .ToolCalls }}{"name": "x"}{{ end }}{{ end }}<tool_call>`: "",
		`{{ if .ToolCalls`: "", `{{ if .ToolCalls }}`: "",
	} {
		if got := toolMark(template); got != want {
			t.Errorf("%s: got %q, want %q", template, got, want)
		}
	}
}
