package engine

import (
	"reflect"
	"strings"
	"testing"

	"github.com/ollama/ollama/types/model"

	"toolnorm/adapters"
	"toolnorm/engine/upstream"
)

func TestAPlanAsksNobody(t *testing.T) {
	e := New(Config{
		Ollama: "http://127.0.0.1:1", Naming: Naming{Aliases: map[string]string{"gpt": "box/qwen3"}}, Upstreams: []Upstream{{Name: "box", URL: "http://127.0.0.1:1"}},
		Strategy: map[string]string{"box/*": "prompt"}, Wording: map[string]string{"*": "signatures"}, Format: map[string]string{"odd": "mistral"},
	})
	for model, want := range map[string]Plan{
		"gpt":          {"box", "qwen3", "hermes", "prompt", "signatures"},
		"odd":          {"ollama", "odd", "mistral", "", "signatures"},
		"demo/mistral": {"demo", "mistral", "mistral", "", "signatures"},
		"who/knows":    {"ollama", "who/knows", "generic", "", "signatures"},
	} {
		if got := e.Plan(model); got != want {
			t.Errorf("Plan(%q) = %+v, want %+v", model, got, want)
		}
	}
}

func TestExamineFindsOutWhatARequestWould(t *testing.T) {
	call := `{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}`
	for _, row := range []struct {
		name string
		fake *fakeOllama
		want Findings
	}{
		{"tools", &fakeOllama{caps: []model.Capability{model.CapabilityTools, model.CapabilityThinking}, prompt: "probe"},
			Findings{Format: "generic", Strategy: Raw, Strategies: []string{Raw, Tap, Native, Prompt}, Facts: upstream.Facts{Digest: "sha:1", Tools: true, Taps: true, Renders: true, Thinking: true, NoVision: true, PlainSchemas: true}}},
		{"no tools", &fakeOllama{caps: []model.Capability{model.CapabilityCompletion}, reply: func(system string) string {
			return map[bool]string{true: call, false: "No."}[strings.Contains(system, "def get_weather(")]
		}},
			Findings{Format: "generic", Strategy: Prompt, Strategies: []string{Prompt}, Wording: adapters.Signatures | adapters.Example, Facts: upstream.Facts{Digest: "sha:1", NoVision: true, PlainSchemas: true}}},
	} {
		got, err := row.fake.start(t, Config{}).Examine(t.Context(), "m")
		if err != nil || !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: %+v, %v, want %+v", row.name, got, err, row.want)
		}
	}
	if _, err := New(Config{Ollama: "http://127.0.0.1:1"}).Examine(t.Context(), "m"); err == nil {
		t.Error("a server that is not there: no error")
	}
}
