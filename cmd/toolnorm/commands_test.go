package main

import (
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/cmd/toolnorm/internal/command"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// transcripts reads the cases of a file: what is run, what it reads, and what it prints and
// complains about.
func transcripts(t *testing.T, path string) map[string]map[string]string {
	t.Helper()
	sections, err := golden.Sections(must.Read(t, path))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	cases := map[string]map[string]string{}
	for _, s := range sections {
		name, part, ok := strings.Cut(s.Name, ": ")
		if !ok || !strings.Contains(" run in out err fails ", " "+part+" ") {
			t.Fatalf("%s: section %q is no CASE: run, in, out, err or fails", path, s.Name)
		}
		if cases[name] == nil {
			cases[name] = map[string]string{}
		}
		cases[name][part] = s.Text
	}
	return cases
}

func TestCommandsDoWhatTheirTranscriptsSay(t *testing.T) {
	paths, _ := filepath.Glob("testdata/commands/*.txt")
	n := 0
	for _, path := range paths {
		for name, c := range transcripts(t, path) {
			n++
			t.Run(filepath.Base(path)+"/"+name, func(t *testing.T) {
				clean(t, "")
				out, warn, err := ran(t, c["in"], strings.Fields(c["run"])...)
				if strings.TrimRight(out, "\n") != strings.TrimRight(c["out"], "\n") {
					t.Errorf("printed\n%s\nwant\n%s", out, c["out"])
				}
				if !strings.Contains(warn, c["err"]) {
					t.Errorf("complained %q, want %q in it", warn, c["err"])
				}
				if got := errorText(err); c["fails"] == "" && err != nil || !strings.Contains(got, c["fails"]) {
					t.Errorf("failed with %q, want %q", got, c["fails"])
				}
			})
		}
	}
	if n == 0 {
		t.Fatal("no transcripts")
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestWrongArgumentsEndWithAStatusOfTheirOwn(t *testing.T) {
	clean(t, "")
	if got := command.StatusOf(run([]string{"serve", "--lisen=x"})); got != command.StatusUsage {
		t.Errorf("a setting that does not exist: status %d, want %d", got, command.StatusUsage)
	}
	if got := command.StatusOf(run([]string{"formats", "show", "no-such-format"})); got != command.StatusUsage {
		t.Errorf("a format that does not exist: status %d, want %d", got, command.StatusUsage)
	}
}

func TestDecodeSaysWhy(t *testing.T) {
	clean(t, "")
	offered := filepath.Join(t.TempDir(), "tools.json")
	must.Write(t, offered, `[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]`)
	for wrote, want := range map[string]string{
		`<tool_call>{"name": "weather", "arguments": {}}</tool_call>`:      "weather does not fit its schema: city: is missing. The server has the model write the call again.",
		`<tool_call>{"name": "no_such_tool", "arguments": {}}</tool_call>`: "no_such_tool is not among the offered tools (weather).",
		"It is fine.": "read as hermes\n",
	} {
		_, log, err := ran(t, wrote, "decode", "--format", "hermes", "--tools", offered)
		if err != nil || !strings.HasSuffix(strings.TrimSpace(log), strings.TrimSpace(want)) {
			t.Errorf("%s: %q, %v; want %q", wrote, log, err, want)
		}
	}
}

// TestDecodeReadsTheConversation has a call that the user gave the model to read: with the
// conversation it is shown.
func TestDecodeReadsTheConversation(t *testing.T) {
	const call = `{\"name\": \"f\", \"arguments\": {\"city\": \"Rome\"}}`
	line := `{"tools": [{"name": "f", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}], "model": "llama3", "text": "Yma yma an kammveri y'n linen ma.\n\n` + call + `"`
	for rest, want := range map[string]string{
		`}`:                 `"name":"f"`,
		`, "messages": []}`: `"name":"f"`,
		`, "messages": [{"role": "user", "content": "Pyth yw hemma: ` + call + `"}]}`: `"calls":[]`,
		`, "messages": [{"role": "nobody"}]}`:                                         `messages[0].role: must be`,
	} {
		if out, _, err := ran(t, line+rest+"\n", "decode", "--jsonl"); err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %q, %v; want %q", rest, out, err, want)
		}
	}
}
