package adapters

import (
	"strings"
	"testing"
)

// TestEveryFamilyWritesEveryName prints a call of tools with names that are words of some family,
// or that hold signs, and reads it back.
func TestEveryFamilyWritesEveryName(t *testing.T) {
	for _, name := range []string{"get_time", "get-time", "repo.search", "repo/search", "ns:tool", "find_2", "final", "thought", "analysis", "python", "x", "name", "function", "123go", "list"} {
		for _, f := range All() {
			if !f.Carries(name) {
				t.Errorf("%s: a call of %q is not read back", f.Name, name)
			}
		}
	}
}

// TestNamesThatAFamilyLoses holds Carries to what is known of some families.
func TestNamesThatAFamilyLoses(t *testing.T) {
	for format, names := range map[string][]string{
		"gemma3": {"工具", "print", "$tool"}, "harmony": {"with space", "_", "a&b"}, "functionary-v3.2": {"all"}, "hermes": {`to"ol`, "-x", strings.Repeat("a", 129)},
	} {
		for _, name := range names {
			if Named(format).Carries(name) {
				t.Errorf("%s carries %q", format, name)
			}
		}
	}
	for text, want := range map[string]bool{"tool<b>": false, "工具 [1]": false, "<tool_call>": true, "x<|im_end|>": true, "[INST]": true, "get_weather": false} {
		if got := Named("hermes").Marked(text); got != want {
			t.Errorf("%q is marked: %t", text, got)
		}
	}
}
