package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"toolnorm/cmd/toolnorm/internal/command"
	"toolnorm/internal/test/must"
)

// printed is what the program prints for arguments that serve nothing.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	out, _, err := ran(t, "", args...)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return out
}

func TestEverySettingStandsUnderOneHeading(t *testing.T) {
	clean(t, "")
	parser := must.Have(kong.New(new(commands), kong.Vars{"version": ""}))(t)
	known := map[string]bool{}
	for _, flag := range settingsOf(parser.Model) {
		known[flag.Name] = true
		if flag.Group == nil || !slices.Contains(headings, strings.TrimSuffix(flag.Group.Title, ":")) {
			t.Errorf("the setting %s stands under no heading", flag.Name)
		}
	}
	for _, name := range first {
		if !known[name] {
			t.Errorf("first names %s, which is no setting", name)
		}
	}
}

func TestHelpIsShortAtFirst(t *testing.T) {
	clean(t, "")
	short := printed(t, "--help")
	if n := strings.Count(short, "\n"); n > 40 || !strings.Contains(short, "--listen") || strings.Contains(short, "--heartbeat") {
		t.Errorf("%d lines: %s", n, short)
	}
	long := printed(t, "help", "serve")
	for _, want := range []string{"Server:", "Reliability:", "--heartbeat", "Debug:"} {
		if !strings.Contains(long, want) {
			t.Errorf("the help of serve lacks %s", want)
		}
	}
	if strings.Index(long, "--listen") > strings.Index(long, "--heartbeat") {
		t.Error("the settings are not in the order of their headings")
	}
	if got := printed(t, "--version"); got != printed(t, "version") || !strings.HasPrefix(got, "toolnorm ") {
		t.Errorf("version %q", got)
	}
}

// TestTheHelpOfACommandIsItsOwn holds that it fits a screen, and that the rest is there on request.
func TestTheHelpOfACommandIsItsOwn(t *testing.T) {
	clean(t, "")
	parser := must.Have(kong.New(new(commands), kong.Vars{"version": ""}))(t)
	for _, leaf := range parser.Model.Leaves(true) {
		path := strings.Fields(leaf.Path())
		if len(path) == 0 || path[0] == "serve" || path[0] == "help" {
			continue
		}
		got := printed(t, append(slices.Clone(path), "--help")...)
		if n := strings.Count(got, "\n"); n > 40 {
			t.Errorf("%q has %d lines:\n%s", path, n, got)
		}
		if strings.Contains(got, "that it also takes") != strings.Contains(printed(t, append([]string{"help", "--all"}, path...)...), "--heartbeat") && slices.Contains([]string{"models", "doctor", "bug"}, path[0]) {
			t.Errorf("%q hides settings for good", path)
		}
	}
}

// TestShellsReadTheCompletions needs the shells; the real lane has all of them.
func TestShellsReadTheCompletions(t *testing.T) {
	clean(t, "")
	for _, shell := range []string{"bash", "zsh", "fish"} {
		text := printed(t, "completion", shell)
		for _, want := range []string{"doctor", "listen", "formats"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s", shell, want)
			}
		}
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("%s is not installed", shell)
			continue
		}
		file := filepath.Join(t.TempDir(), shell)
		must.Write(t, file, text)
		if out, err := exec.Command(shell, "-n", file).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v %s", shell, err, out)
		}
	}
}

func TestModelsAreListed(t *testing.T) {
	clean(t, "")
	out, _, err := ran(t, "", "models", "--ollama", "127.0.0.1:1")
	if command.StatusOf(err) != command.StatusUnreachable {
		t.Errorf("%v", err)
	}
	for _, want := range []string{"demo/hermes", "ollama cannot"} {
		if !strings.Contains(strings.ToLower(out), strings.ToLower(want)) {
			t.Errorf("no %q in %s", want, out)
		}
	}
}
