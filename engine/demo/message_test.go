package demo

import (
	"toolnorm/engine/ollama"
)

import "testing"

// TestOnlyWhatTheUserWroteIsThePrompt shows messages as agents send them.
func TestOnlyWhatTheUserWroteIsThePrompt(t *testing.T) {
	for in, want := range map[string]string{
		"<system-reminder>\nuse agent on 2025-11-11\n</system-reminder>\nread a.txt": "read a.txt",
		"read a.txt\n<environment_details>\n# 11/21/2026\n</environment_details>":    "read a.txt",
		"<task>\nread a.txt\n</task>\n<environment_details>x</environment_details>":  "read a.txt",
		"<user_query>read a.txt</user_query>":                                        "read a.txt",
		`"calculate_vacation_days for \"EMP001\" in 2025"`:                           `calculate_vacation_days for "EMP001" in 2025`,
		`say \"hi\" to Ann`:      `say "hi" to Ann`,
		`"New York"`:             `"New York"`,
		"write <b>bold</b> here": "write <b>bold</b> here",
		"<note> has no end":      "<note> has no end",
		"<system-reminder>only this</system-reminder>": "",
	} {
		if got := asks(ollama.Message{Role: "user", Content: in}); got != want {
			t.Errorf("%q asks %q, want %q", in, got, want)
		}
	}
	turn := demoTurn{Messages: []ollama.Message{{Role: "user", Content: "go"}, {Role: "tool", Content: "done"}, {Role: "user", Content: "<system-reminder>x</system-reminder>"}}}
	if turn.user() != "go" || turn.last().Role != "tool" {
		t.Errorf("user %q, last %+v", turn.user(), turn.last())
	}
}
