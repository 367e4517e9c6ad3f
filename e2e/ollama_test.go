package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"toolnorm/e2e/gguf"
	"toolnorm/e2e/script"
)

// setup is one way in which Ollama can be told to run a model. Its name is also the model's, so toolnorm chooses the
// format by it.
type setup struct {
	name     string
	template string // a file of setups/; empty: the jinja template inside the GGUF file
	parser   string // Ollama's own parser for it, if any
}

var setups = []setup{
	{name: "hermes", template: "tool_call.tmpl"},
	{name: "llama3.1", template: "bare_json.tmpl"},
	{name: "qwen3", template: "tool_call.tmpl", parser: "qwen3"},
	{name: "qwen3-coder", template: "tool_call.tmpl", parser: "qwen3-coder"},
	{name: "ministral-3", template: "tool_call.tmpl", parser: "ministral"},
	{name: "passthrough", template: "tool_call.tmpl", parser: "passthrough"},
	{name: "native"},
}

// startOllama serves a real Ollama with a model folder of its own, and makes the set-ups.
func (l *lane) startOllama() error {
	if err := l.writeModels(); err != nil {
		return err
	}
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	bin := filepath.Join(installed.server, "bin", "ollama")
	env := append(os.Environ(), "OLLAMA_HOST="+addr, "HOME="+l.dir, "OLLAMA_MODELS="+filepath.Join(l.dir, "models"),
		"OLLAMA_NO_CLOUD=1", "OLLAMA_NUM_PARALLEL=1", "OLLAMA_KEEP_ALIVE=1h", "OLLAMA_CONTEXT_LENGTH=8192")
	serve := exec.Command(bin, "serve")
	serve.Env = env
	l.ollama = "http://" + addr
	if err := l.run(serve, l.ollama+"/api/version"); err != nil {
		return err
	}
	for _, s := range setups {
		file, err := s.modelfile(l.dir)
		if err != nil {
			return err
		}
		create := exec.Command(bin, "create", s.name, "-f", file)
		create.Env = env
		if out, err := create.CombinedOutput(); err != nil {
			return fmt.Errorf("create %s: %w\n%s", s.name, err, out)
		}
	}
	return nil
}

// writeModels writes the scripted model twice: plain, and with the chat template inside. Two files, since Ollama shares
// one runner among the models of one file, whichever mode was first.
func (l *lane) writeModels() error {
	jinja, err := os.ReadFile(filepath.Join("setups", "chat.jinja"))
	if err != nil {
		return err
	}
	for name, template := range map[string]string{"plain.gguf": "", "native.gguf": string(jinja)} {
		m, err := gguf.New(script.Models(l.scripts), template)
		if err != nil {
			return err
		}
		if err := m.WriteFile(filepath.Join(l.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// modelfile writes Ollama's description of the set-up.
func (s setup) modelfile(dir string) (string, error) {
	text := "FROM " + filepath.Join(dir, "native.gguf") + "\n"
	if s.template != "" {
		b, err := os.ReadFile(filepath.Join("setups", s.template))
		if err != nil {
			return "", err
		}
		text = fmt.Sprintf("FROM %s\nTEMPLATE \"\"\"%s\"\"\"\n", filepath.Join(dir, "plain.gguf"), b)
	}
	if s.parser != "" {
		text += "PARSER " + s.parser + "\n"
	}
	text += "PARAMETER num_thread 1\n" // a tiny model is far slower with more
	file := filepath.Join(dir, s.name+".modelfile")
	return file, os.WriteFile(file, []byte(text), 0o644)
}

// TestModelWritesTheScripts holds the scripted model to its texts, on the server, at temperature 1: the anchor in every
// set-up, the others once in each of the two files.
func TestModelWritesTheScripts(t *testing.T) {
	l := open(t)
	for _, s := range setups {
		for _, sc := range l.scripts {
			once := s.name == "hermes" || s.name == "native"
			if sc.Model.Loop || sc.Family != "anchor" && !once {
				continue
			}
			got, err := l.generate(s.name, sc.Model.Selector()+" please")
			if err != nil {
				t.Fatalf("%s, %s: %v", s.name, sc.Name, err)
			}
			if got != sc.Text() {
				t.Errorf("%s, %s: the model wrote %q, its script is %q", s.name, sc.Name, got, sc.Text())
			}
		}
	}
}

// generate is the raw text behind a prompt.
func (l *lane) generate(model, prompt string) (string, error) {
	body, err := json.Marshal(map[string]any{"model": model, "prompt": prompt, "raw": true, "think": false, "stream": false,
		"options": map[string]any{"temperature": 1, "num_predict": 2000}})
	if err != nil {
		return "", err
	}
	resp, err := http.Post(l.ollama+"/api/generate", "application/json", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var out struct{ Response, Error string }
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		return "", err
	}
	if out.Error != "" {
		return "", fmt.Errorf("ollama: %s", out.Error)
	}
	return out.Response, nil
}
