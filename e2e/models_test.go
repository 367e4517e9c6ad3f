package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"toolnorm/e2e/models"
	"toolnorm/internal/exam"
	"toolnorm/internal/test/must"
)

// realModel is a real model as Ollama is told to run it. Its name is what toolnorm chooses the
// format by.
type realModel struct {
	name, file, template string // template: a file of models/setups; empty: the model's own
	title                string
}

// The file's own template first: on one file, Ollama cannot serve it after a Go template without
// unloading.
var realModels = []realModel{
	{"qwen2.5-coder:1.5b", "qwen2.5-coder-1.5b", "", "Qwen2.5-Coder-1.5B, its own template"},
	{"qwen2.5-coder:1.5b-library", "qwen2.5-coder-1.5b", "chatml.tmpl", "Qwen2.5-Coder-1.5B, the template of Ollama's library"},
	{"smollm2:135m", "smollm2-135m", "", "SmolLM2-135M, its own template (without tools)"},
	{"smollm2:135m-chatml", "smollm2-135m", "chatml.tmpl", "SmolLM2-135M, ChatML with tools"},
	{"gemma3:270m", "gemma3-270m", "chatml.tmpl", "Gemma 3 270M (base model), ChatML with tools"},
}

// way is one way of getting calls out of a model; without arguments for toolnorm it is Ollama's own
// endpoint.
type way struct {
	title string
	args  []string
}

var ways = []way{
	{"Ollama's own `/v1`", nil},
	{"toolnorm, its own choice", []string{"--log-level", "info"}},
	{"toolnorm, `raw`", []string{"--strategy", "*=raw"}},
	{"toolnorm, `raw`, `--ask-before-tools`", []string{"--strategy", "*=raw", "--ask-before-tools", "*=always"}},
	{"toolnorm, `tap`", []string{"--strategy", "*=tap"}},
	{"toolnorm, `native`", []string{"--strategy", "*=native"}},
	{"toolnorm, `prompt`, signatures", []string{"--strategy", "*=prompt", "--wording", "*=signatures"}},
	{"toolnorm, `prompt`, signatures and an example", []string{"--strategy", "*=prompt", "--wording", "*=signatures+example"}},
	{"toolnorm, `prompt`, schemas", []string{"--strategy", "*=prompt", "--wording", "*=schemas"}},
	{"toolnorm, `prompt`, schemas and an example", []string{"--strategy", "*=prompt", "--wording", "*=schemas+example"}},
}

// TestRealModels measures the real models and writes the report to the file that
// TOOLNORM_E2E_REPORT names. The regular expression TOOLNORM_E2E_MODELS chooses rows by "set-up,
// way"; the others come from earlier runs. A model's mistakes fail nothing.
func TestRealModels(t *testing.T) {
	chosen := os.Getenv("TOOLNORM_E2E_MODELS")
	if chosen == "" {
		t.Skip("real models are measured by make e2e-models only: they take an hour")
	}
	rows := regexp.MustCompile(chosen)
	m := openModels(t)
	for _, model := range realModels {
		created := false
		for _, w := range ways {
			row, err := models.Row{Setup: model.title, Way: w.title}.Saved(m.saved, m.prompts)
			if rows.MatchString(row.Setup + ", " + row.Way) {
				if !created {
					m.create(t, model)
					created = true
				}
				row, err = m.measure(t, model, w, row)
			}
			must.OK(t, err)
			if row.Whole(m.prompts) {
				m.report.Rows = append(m.report.Rows, row)
			}
		}
		if created {
			m.unload(t, model.name)
		}
	}
	var page bytes.Buffer
	m.report.Write(&page)
	must.OK(t, os.WriteFile(os.Getenv("TOOLNORM_E2E_REPORT"), page.Bytes(), 0o644))
}

// modelLane is an Ollama with the real models.
type modelLane struct {
	lane
	env     []string // Ollama's
	saved   string   // folder of the rows
	prompts []exam.Question
	offered json.RawMessage
	bases   map[string]string // base addresses of toolnorm by the title of the way
	report  models.Report
}

// openModels reads the questions and starts Ollama, which goes with the test.
func openModels(t *testing.T) *modelLane {
	t.Helper()
	m := &modelLane{bases: map[string]string{}}
	m.dir = t.TempDir()
	t.Cleanup(func() {
		for i := len(m.stops) - 1; i >= 0; i-- {
			m.stops[i]()
		}
	})
	text, err := os.ReadFile("models/prompts.txt")
	if err == nil {
		m.prompts, err = exam.Parse(string(text))
	}
	if err == nil {
		m.offered, err = os.ReadFile("models/tools.json")
	}
	if err == nil {
		err = m.locate()
	}
	if err == nil {
		m.saved = filepath.Join(filepath.Dir(installed.newest), "models", "rows")
		err = m.build()
	}
	if err == nil {
		err = m.serve()
	}
	must.OK(t, err)
	m.report = models.Report{Machine: models.Machine(), Versions: "Ollama " + filepath.Base(installed.newest), Prompts: m.prompts}
	return m
}

// serve starts an Ollama with a folder of its own.
func (m *modelLane) serve() error {
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	m.env = append(os.Environ(), "OLLAMA_HOST="+addr, "HOME="+m.dir, "OLLAMA_MODELS="+filepath.Join(m.dir, "models"),
		"OLLAMA_NO_CLOUD=1", "OLLAMA_NUM_PARALLEL=1", "OLLAMA_KEEP_ALIVE=1h", "OLLAMA_CONTEXT_LENGTH=4096")
	serve := exec.Command(filepath.Join(installed.newest, "bin", "ollama"), "serve")
	serve.Env = m.env
	m.newest = &server{name: "Ollama", base: "http://" + addr, flags: []string{"--ollama", addr}}
	return m.run("ollama", serve, m.newest.base+"/api/version")
}

// create makes a set-up known to Ollama; a large file takes a minute.
func (m *modelLane) create(t *testing.T, model realModel) {
	t.Helper()
	file := must.Have(model.modelfile(m.dir))(t)
	create := exec.Command(filepath.Join(installed.newest, "bin", "ollama"), "create", model.name, "-f", file)
	create.Env = m.env
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("create %s: %v\n%s", model.name, err, out)
	}
}

func (r realModel) modelfile(dir string) (string, error) {
	gguf := filepath.Join(filepath.Dir(installed.newest), "models", r.file+".gguf")
	text := fmt.Sprintf("FROM %s\nPARAMETER num_thread 1\n", gguf) // more wait for each other on a machine that does other things as well
	if r.template != "" {
		b, err := os.ReadFile(filepath.Join("models", "setups", r.template))
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf("TEMPLATE \"\"\"%s\"\"\"\n", b)
	}
	file := filepath.Join(dir, strings.ReplaceAll(r.name, ":", "-")+".modelfile")
	return file, os.WriteFile(file, []byte(text), 0o644)
}

// measure asks everything in one way, and saves the answers as they come. A row of this revision
// that was broken off goes on.
func (m *modelLane) measure(t *testing.T, model realModel, w way, row models.Row) (models.Row, error) {
	base, err := m.base(w)
	if err != nil {
		return row, err
	}
	if revision := models.Revision(); row.Whole(m.prompts) || row.Revision != revision {
		row = models.Row{Setup: row.Setup, Way: row.Way, Revision: revision}
	}
	for _, p := range m.prompts[len(row.Answers):] {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		row.Answers = append(row.Answers, models.Ask(ctx, base, model.name, p.Text, m.offered))
		cancel()
		row.Load = max(row.Load, models.Load())
		if err := row.Save(m.saved); err != nil {
			return row, err
		}
	}
	t.Logf("%s, %s: %+v", row.Setup, row.Way, models.ScoreOf(m.prompts, row.Answers))
	return row, nil
}

// base is the address to ask.
func (m *modelLane) base(w way) (base string, err error) {
	if w.args == nil {
		return m.newest.base, nil
	}
	if m.bases[w.title] == "" {
		m.bases[w.title], err = m.startToolnorm(append(m.newest.flags, w.args...)...)
	}
	return m.bases[w.title], err
}

// unload frees the model's memory, and its runner, which another set-up of the same file could not
// use.
func (m *modelLane) unload(t *testing.T, name string) {
	resp := must.Open(t, "POST", m.newest.base+"/api/generate", `{"model":"`+name+`","keep_alive":0}`, "Content-Type: application/json")
	resp.Body.Close()
}
