package main

import (
	"io"
	"strings"
	"testing"
)

func TestTheAgentAnswersAtItsAddressAndAsAModel(t *testing.T) {
	clean(t, "")
	m := serving(t, io.Discard)
	const params = `"model":"demo/hermes","messages":[{"role":"user","content":"How many vacation days has employee \"EMP001\" left in 2025?"}]`
	if status, body := ask(t, "POST", m.URL()+"/generate_with_mcp", `{"method":"generate_content","params":{`+params+`},"id":1}`); status != 200 || !strings.Contains(body, `"stop_reason":"final","tool_calls":[]`) {
		t.Errorf("without a server: %d %s", status, body)
	}
	status, body := ask(t, "POST", m.URL()+"/v1/chat/completions", `{`+strings.Replace(params, "demo/hermes", "demo/hermes@agent", 1)+`}`)
	if status != 200 || !strings.Contains(body, "[local.calculate_vacation_days ") || strings.Contains(body, `"tool_calls"`) {
		t.Errorf("as a model: %d %s", status, body)
	}
}

func TestModelsWaitWithThoseOfTheSameServer(t *testing.T) {
	var c Config
	c.Upstream, c.Upstreams, c.Alias = map[string]string{"box": "http://h"}, []listed{{Name: "den"}}, map[string]string{"fast": "box/qwen3"}
	for model, want := range map[string]string{"qwen3": "", "fast": "box", "box/a": "box", "den/b": "den", "hf.co/c": ""} {
		if got := c.server(model); got != want {
			t.Errorf("%s waits at %q, want %q", model, got, want)
		}
	}
}
