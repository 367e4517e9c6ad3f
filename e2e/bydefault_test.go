package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolnorm/e2e/models"
	"toolnorm/internal/exam"
	"toolnorm/internal/test/must"
)

// byDefaultPage is where the figures of TestByDefault stand.
const byDefaultPage = "../docs/evidence/by-default.md"

const byDefaultHead = `# A real model, by default settings

Written by ` + "`make by-default`" + `; do not edit. Qwen2.5-Coder-1.5B in a real Ollama (one thread), behind a toolnorm that was just installed: no
settings, no ` + "`doctor`" + `, an empty data folder. Temperature 0, no system text.

Machine: %s.
Versions: %s.
`

// byDefaultParts are the page's sections. Each is kept in the cache, as rows of the real models
// are: a run may measure one.
var byDefaultParts = []struct {
	name    string
	measure func(m *modelLane, t *testing.T) string
}{
	{"everyday", (*modelLane).everyday},
	{"forms", (*modelLane).forms},
}

// formSchemas is by how many schemas the real model is asked.
const formSchemas = 72

// TestByDefault measures a real model behind a toolnorm without settings, and writes the page. It
// takes most of an hour, so it runs only when TOOLNORM_E2E_BY_DEFAULT names the parts.
func TestByDefault(t *testing.T) {
	chosen := os.Getenv("TOOLNORM_E2E_BY_DEFAULT")
	if chosen == "" {
		t.Skip("a real model is measured by make by-default only: it takes most of an hour")
	}
	m := openModels(t)
	m.create(t, realModels[0])
	page := fmt.Sprintf(byDefaultHead, m.report.Machine, m.report.Versions)
	revision := models.Revision() // of what was built
	for _, part := range byDefaultParts {
		file := filepath.Join(filepath.Dir(m.saved), "by-default-"+part.name+".md")
		if slices.Contains(strings.Split(chosen, ","), part.name) {
			text := fmt.Sprintf("\n%s\n\nRevision: %s. Load average at the end: %.0f.\n", strings.TrimSpace(part.measure(m, t)), revision, models.Load())
			must.Write(t, file, text)
		}
		if text, err := os.ReadFile(file); err == nil {
			page += string(text)
		}
	}
	must.Write(t, byDefaultPage, page)
}

// forms asks for answers in a form, by the command of bench/forms, whose validator is not
// toolnorm's.
func (m *modelLane) forms(t *testing.T) string {
	page := filepath.Join(t.TempDir(), "forms.md")
	ask := exec.Command("go", "run", "./forms", "-ask", m.fresh(t), "-model", realModels[0].name, "-most", fmt.Sprint(formSchemas), "-page", page)
	ask.Dir, ask.Stdout, ask.Stderr = "../bench", os.Stdout, os.Stderr
	must.OK(t, ask.Run())
	return string(must.Read(t, page))
}

const everydayHead = `## Small talk among requests that need a tool

The prompts, in several languages, and their tools are ` + "`e2e/models/everyday.txt` and `everyday.json`" + `. The small talk was written after what is
measured, and none of it was used to make it.

| right tool | right arguments | false calls | errors | seconds, median |
|--:|--:|--:|--:|--:|
| %d of %d | %d of %d | %d of %d | %d | %.1f |

What was wrong:

%s`

// everyday asks the everyday prompts and returns the table, with the replies that are wrong.
func (m *modelLane) everyday(t *testing.T) string {
	prompts, tools := everydayExam(t)
	base, wrong := m.fresh(t), ""
	var answers []models.Answer
	for _, p := range prompts {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		a := models.Ask(ctx, base, realModels[0].name, p.Text, tools)
		cancel()
		answers = append(answers, a)
		t.Logf("%s -> %v %q %s %.1f s", p.Text, a.Calls, a.Text, a.Error, a.Seconds)
		if one := models.ScoreOf([]exam.Question{p}, answers[len(answers)-1:]); one.False+one.Calls-one.Arguments > 0 {
			wrong += "- " + p.Text
			for _, c := range a.Calls {
				wrong += fmt.Sprintf(" → `%s %s`", c.Name, strings.Join(strings.Fields(c.Args), " "))
			}
			wrong += " " + a.Error + "\n"
		}
	}
	s := models.ScoreOf(prompts, answers)
	return fmt.Sprintf(everydayHead, s.Tools, s.Calls, s.Arguments, s.Calls, s.False, s.Plain, s.Errors, s.Median, wrong)
}

// everydayExam reads the everyday prompts and their tools.
func everydayExam(t *testing.T) ([]exam.Question, json.RawMessage) {
	text := must.Read(t, "models/everyday.txt")
	prompts := must.Have(exam.Parse(string(text)))(t)
	return prompts, must.Read(t, "models/everyday.json")
}

// fresh starts a toolnorm as a user does who has just installed it, with these flags at most, and
// returns its address.
func (m *modelLane) fresh(t *testing.T, flags ...string) string {
	t.Helper()
	addr := must.Have(freeAddr())(t)
	home := t.TempDir()
	cmd := exec.Command(m.binary, append([]string{"serve", "--listen", addr, m.newest.flags[0], m.newest.flags[1]}, flags...)...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, "config"), "XDG_DATA_HOME="+filepath.Join(home, "data"))
	must.OK(t, m.run(logName(addr), cmd, "http://"+addr+"/healthz"))
	return "http://" + addr
}
