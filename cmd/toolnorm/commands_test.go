package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/cmd/toolnorm/internal/command"
	"toolnorm/internal/golden"
)

// transcripts reads the cases of a file: what is run, what it reads, and what it prints and
// complains about.
func transcripts(t *testing.T, path string) map[string]map[string]string {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sections, err := golden.Sections(src)
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

// runCommand runs the program with arguments and input, and gives what it wrote.
func runCommand(t *testing.T, args, in string) (out, warn string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	m := NewMain(&stdout, &stderr)
	m.In = strings.NewReader(in)
	err = m.ParseFlags(strings.Fields(args))
	if err == nil {
		err = m.instead()
	}
	if errors.Is(err, errDone) {
		err = nil
	}
	return stdout.String(), stderr.String(), err
}

func TestCommandsDoWhatTheirTranscriptsSay(t *testing.T) {
	paths, _ := filepath.Glob("testdata/commands/*.txt")
	n := 0
	for _, path := range paths {
		for name, c := range transcripts(t, path) {
			n++
			t.Run(filepath.Base(path)+"/"+name, func(t *testing.T) {
				clean(t, "")
				out, warn, err := runCommand(t, c["run"], c["in"])
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
	if err := os.WriteFile(offered, []byte(`[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for wrote, want := range map[string]string{
		`<tool_call>{"name": "weather", "arguments": {}}</tool_call>`:      "weather does not fit its schema: city: is missing. The server has the model write the call again.",
		`<tool_call>{"name": "no_such_tool", "arguments": {}}</tool_call>`: "no_such_tool is not among the offered tools (weather).",
		"It is fine.": "read as hermes\n",
	} {
		var errs bytes.Buffer
		m := NewMain(io.Discard, &errs)
		m.In = strings.NewReader(wrote)
		if err := m.ParseFlags([]string{"decode", "--format", "hermes", "--tools", offered}); err != nil {
			t.Fatal(err)
		}
		if err := m.instead(); err != nil || !strings.HasSuffix(strings.TrimSpace(errs.String()), strings.TrimSpace(want)) {
			t.Errorf("%s: %q, %v; want %q", wrote, errs.String(), err, want)
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
		var out bytes.Buffer
		m := NewMain(&out, io.Discard)
		m.In = strings.NewReader(line + rest + "\n")
		if err := m.ParseFlags([]string{"decode", "--jsonl"}); err != nil {
			t.Fatal(err)
		}
		if err := m.instead(); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %q, %v; want %q", rest, out.String(), err, want)
		}
	}
}
