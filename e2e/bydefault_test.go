package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"toolnorm/e2e/models"
	"toolnorm/internal/exam"
)

// byDefaultPage is where the figures of TestByDefault stand.
const byDefaultPage = "../docs/evidence/by-default.md"

const byDefaultHead = `# A real model, by default settings

Written by ` + "`make by-default`" + `; do not edit. Qwen2.5-Coder-1.5B in a real Ollama, behind a toolnorm that was just installed: no settings, no
` + "`doctor`" + `, an empty data folder. Temperature 0, no system text.

Machine: %s.
Versions: %s. Revision: %s. Load average at the end: %.0f.

## Small talk among requests that need a tool

The prompts and their tools are ` + "`e2e/models/everyday.txt` and `everyday.json`" + `, in several languages; none of them was used to make
anything. "Behind a turn" asks the same behind a turn of the conversation. Rows are in the order in which they were measured, each in front of a toolnorm that knows nothing yet.

| settings | right tool | right arguments | false calls | errors | seconds |
|---|--:|--:|--:|--:|--:|
`

// TestByDefault measures a real model behind a toolnorm without settings, and writes the page. It takes most of an hour, so
// it runs only when TOOLNORM_E2E_BY_DEFAULT is "write".
func TestByDefault(t *testing.T) {
	if os.Getenv("TOOLNORM_E2E_BY_DEFAULT") != "write" {
		t.Skip("a real model is measured by make by-default only: it takes most of an hour")
	}
	m := openModels(t)
	model := realModels[0]
	m.create(t, model)
	page := &bytes.Buffer{}
	m.everyday(t, page, model.name)
	if err := os.WriteFile(byDefaultPage, page.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// everyday asks the everyday prompts by several settings and writes the table.
func (m *modelLane) everyday(t *testing.T, page *bytes.Buffer, model string) {
	prompts, tools := everydayExam(t)
	for _, w := range []way{
		{"the default", nil},
		{"`--ask-before-tools '*=never'`", []string{"--ask-before-tools", "*=never"}},
		{"`--ask-before-tools '*=always'`", []string{"--ask-before-tools", "*=always"}},
	} {
		base := m.fresh(t, w.args...)
		var answers []models.Answer
		for _, p := range prompts {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			a := models.Ask(ctx, base, model, p.Text, tools)
			cancel()
			answers = append(answers, a)
			t.Logf("%s: %s -> %v %q %s %.1f s", w.title, p.Text, a.Calls, a.Text, a.Error, a.Seconds)
		}
		s := models.ScoreOf(prompts, answers)
		fmt.Fprintf(page, "| %s | %d of %d | %d of %d | %d of %d | %d | %.1f |\n", w.title, s.Tools, s.Calls, s.Arguments, s.Calls, s.False, s.Plain, s.Errors, s.Median)
		t.Log(page.String())
	}
}

// everydayExam reads the everyday prompts and their tools.
func everydayExam(t *testing.T) ([]exam.Question, json.RawMessage) {
	text, err := os.ReadFile("models/everyday.txt")
	if err != nil {
		t.Fatal(err)
	}
	prompts, err := exam.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := os.ReadFile("models/everyday.json")
	if err != nil {
		t.Fatal(err)
	}
	return prompts, tools
}

// fresh starts a toolnorm as a user does who has just installed it, with these flags at most, and returns its address.
func (m *modelLane) fresh(t *testing.T, flags ...string) string {
	t.Helper()
	addr, err := freeAddr()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := exec.Command(m.binary, append([]string{"serve", "--listen", addr, m.newest.flags[0], m.newest.flags[1]}, flags...)...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, "config"), "XDG_DATA_HOME="+filepath.Join(home, "data"))
	if err := m.run(logName(addr), cmd, "http://"+addr+"/healthz"); err != nil {
		t.Fatal(err)
	}
	return "http://" + addr
}
