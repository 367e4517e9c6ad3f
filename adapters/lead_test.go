package adapters

import "testing"

func TestLeadEndsBehindTheMarkOfACall(t *testing.T) {
	for name, want := range map[string]string{
		"hermes":        "<tool_call>\n",
		"qwen3-coder":   "<tool_call>\n",
		"mistral":       "[TOOL_CALLS]",
		"harmony":       " to=functions.get_weather<|channel|>commentary json<|message|>",
		"gemma4":        "<|tool_call>",
		"llama3":        "",
		"deepseek-v3.1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>",
		"glm4":          "\n<tool_call>",
		"python":        "",
		"minimax-m2":    "\n<minimax:tool_call>\n",
	} {
		if got := Named(name).Lead("<|im_start|>assistant\n", "", "get_weather"); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := Named("hermes").Lead("<|im_start|>assistant\n<think>\n", "Well.\n", ""); got != "</think>\n\nWell.\n<tool_call>\n" {
		t.Errorf("%q", got)
	}
}
