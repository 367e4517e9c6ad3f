package ollama

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/test/must"
)

func TestThinkingIsAskedForInTheModelsWords(t *testing.T) {
	on, off := true, false
	type asking struct {
		think  *bool
		effort string
		format string
	}
	yes := upstream.Facts{Thinking: true}
	gptOSS := upstream.Facts{Thinking: true, EffortLevels: harmonyLevels, AlwaysThinks: true}
	rich := upstream.Facts{Thinking: true, EffortLevels: []string{"minimal", "high", "max"}}
	for _, tt := range []struct {
		facts upstream.Facts
		asking
		want string
	}{
		{upstream.Facts{}, asking{think: &on, effort: "high"}, ""},
		{yes, asking{}, ""},
		{yes, asking{think: &off}, "false"},
		{yes, asking{think: &on, effort: "low"}, "true"},
		{yes, asking{think: &on, format: `{}`}, "false"},
		{yes, asking{format: `"json"`}, "false"},
		{gptOSS, asking{}, ""},
		{gptOSS, asking{format: `{}`}, ""},
		{gptOSS, asking{think: &on}, "true"},
		{gptOSS, asking{think: &off}, `"low"`},
		{gptOSS, asking{think: &on, effort: "minimal"}, `"low"`},
		{gptOSS, asking{think: &on, effort: "medium"}, `"medium"`},
		{gptOSS, asking{think: &on, effort: "xhigh"}, `"high"`},
		{rich, asking{think: &off}, "false"},
		{rich, asking{think: &on, effort: "low"}, `"minimal"`},
		{rich, asking{think: &on, effort: "medium"}, "true"},
		{rich, asking{think: &on, effort: "xhigh"}, `"max"`},
	} {
		r := &chat.Request{Think: tt.think, Effort: tt.effort}
		if tt.format != "" {
			r.Format = json.RawMessage(tt.format)
		}
		if got := string(think(r, tt.facts)); got != tt.want {
			t.Errorf("%+v of %+v: think %s, want %s", tt.asking, tt.facts, got, tt.want)
		}
	}
}

func TestLevelsAreWhatTheServerSays(t *testing.T) {
	for _, tt := range []struct {
		show   string
		format string
		names  string
		always bool
	}{
		{`{}`, "harmony", "low medium high", true},
		{`{}`, "qwen3", "", false},
		{`{"thinking":{"values":[false,true],"default":true}}`, "harmony", "", false},
		{`{"thinking":{"values":["low","max"],"default":"low"}}`, "x", "low max", true},
		{`{"thinking":{"values":[false,"low"],"default":"low"}}`, "x", "low", false},
	} {
		var show api.ShowResponse
		must.OK(t, json.Unmarshal([]byte(tt.show), &show))
		if names, always := levels(&show, tt.format); strings.Join(names, " ") != tt.names || always != tt.always {
			t.Errorf("%s of %s: %q, %v", tt.show, tt.format, names, always)
		}
	}
}

// TestAParserThatBeginsInAThoughtTells has prompts of models with such a PARSER: "Secret
// plan.⏎</think>⏎⏎Plain words." was all shown as the answer, as the template opens no thought.
func TestAParserThatBeginsInAThoughtTells(t *testing.T) {
	const asked, opened = "<|im_start|>assistant\n", "<|im_start|>assistant\n<think>\n"
	user, said := Message{Role: "user", Content: "Hi"}, Message{Role: "assistant", Content: "I am"}
	for _, tt := range []struct {
		parser, prompt, think string
		last                  Message
		force                 bool
		want                  string
	}{
		{"qwen3-thinking", asked, "", user, false, opened},
		{"olmo3-think", asked, "true", user, false, opened},
		{"qwen3-vl-thinking", opened, "", user, false, opened},
		{"qwen3-thinking", asked + "<think>\n\n</think>\n\n", "", user, false, asked + "<think>\n\n</think>\n\n"},
		{"qwen3-thinking", asked, "false", user, false, asked},
		{"qwen3-thinking", asked + "I am", "", said, false, asked + "I am"},
		{"qwen3-thinking", asked, "", user, true, asked},
		{"qwen3", asked, "", user, false, asked},
		{"", asked, "", user, false, asked},
	} {
		o := &upstream.Order{Facts: upstream.Facts{BeginsThinking: slices.Contains(thinkers, tt.parser)}}
		if tt.force {
			o.Force = new(upstream.Force)
		}
		body := &ChatRequest{Messages: []Message{tt.last}, Think: json.RawMessage(tt.think)}
		if got := tail(o, body, tt.prompt); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}
