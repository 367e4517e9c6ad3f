package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/internal/golden"
)

// transcripts reads the cases of a file: what is run, what it reads, and what it prints and complains about.
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

// command runs the program with arguments and input, and gives what it wrote.
func command(t *testing.T, args, in string) (out, warn string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	m := NewMain(&stdout, &stderr)
	m.stdin = strings.NewReader(in)
	err = m.ParseFlags(strings.Fields(args))
	if err == nil {
		err = m.command()
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
				out, warn, err := command(t, c["run"], c["in"])
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
	if got := statusOf(run([]string{"serve", "--lisen=x"})); got != statusUsage {
		t.Errorf("a setting that does not exist: status %d, want %d", got, statusUsage)
	}
	if got := statusOf(run([]string{"formats", "show", "no-such-format"})); got != statusUsage {
		t.Errorf("a format that does not exist: status %d, want %d", got, statusUsage)
	}
}
