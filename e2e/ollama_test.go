package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolnorm/e2e/gguf"
	"toolnorm/e2e/script"
)

// setup is one way in which Ollama can be told to run a model. Its name is also the model's, so
// toolnorm chooses the format by it.
type setup struct {
	name     string
	template string // a file of setups/; empty: the jinja template inside the GGUF file
	prefix   string // of its name at toolnorm: an upstream's, if it is not the first one's
	parser   string // Ollama's own parser for it, if any
	reads    string // the family of scripts whose calls Ollama itself finds; empty: none in particular
	file     string // of the model; empty: native.gguf without a template, else plain.gguf
}

var setups = []setup{
	{name: "hermes", template: "tool_call.tmpl", reads: "hermes"},
	{name: "llama3.1", template: "bare_json.tmpl", reads: "llama3"},
	{name: "qwen3", template: "tool_call.tmpl", parser: "qwen3", reads: "hermes"},
	{name: "qwen3-coder", template: "tool_call.tmpl", parser: "qwen3-coder", reads: "qwen3-coder"},
	{name: "ministral-3", template: "tool_call.tmpl", parser: "ministral", reads: "mistral"},
	{name: "passthrough", template: "tool_call.tmpl", parser: "passthrough"},
	{name: "native"},
}

// model is its name at toolnorm.
func (s setup) model() string { return s.prefix + s.name }

// plain has no place for tools.
var plain = setup{name: "plain", template: "plain.tmpl"}

// server is a real model server and the toolnorms in front of it.
type server struct {
	name    string
	base    string   // its address
	log     string   // its log
	flags   []string // tell toolnorm of it
	setups  []setup
	others  []setup           // that are asked for one thing only
	proxies map[string]string // base addresses of toolnorm, by further flags; see proxied
	wedges  bool              // its own endpoint hangs after a call that its parser refused, until the model is unloaded
	alone   sync.Mutex        // held while its own endpoint is asked, if it wedges
}

// places is how many requests an Ollama takes at a time that clients leave. Of a reply that is left
// between two tokens, both versions may never learn that nobody reads it: the goroutine that writes
// waits for ever, and its place is lost. A scripted model writes thousands of tokens a second, so
// that happens about once in ten times, not once in a thousand.
const places = 8

// startOllama serves a real Ollama, installed in dir, with a folder of its own, and makes the
// set-ups. It takes one request at a time unless parallel says more; further settings are variables
// of its environment.
func (l *lane) startOllama(dir, version string, parallel int, setups []setup, settings ...string) (*server, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	s := &server{name: "Ollama " + version, base: "http://" + addr, flags: []string{"--ollama", addr}, setups: setups, others: []setup{plain}}
	home, err := os.MkdirTemp(l.dir, fmt.Sprintf("%s-%d-", version, parallel))
	if err != nil {
		return nil, err
	}
	bin := filepath.Join(dir, "bin", "ollama")
	env := append(os.Environ(), "OLLAMA_HOST="+addr, "HOME="+home, "OLLAMA_MODELS="+filepath.Join(home, "models"),
		"OLLAMA_NO_CLOUD=1", fmt.Sprint("OLLAMA_NUM_PARALLEL=", parallel), "OLLAMA_KEEP_ALIVE=1h", "OLLAMA_CONTEXT_LENGTH=8192")
	env = append(env, settings...)
	serve := exec.Command(bin, "serve")
	serve.Env = env
	s.log = l.log("ollama-" + filepath.Base(home))
	if err := l.run("ollama-"+filepath.Base(home), serve, s.base+"/api/version"); err != nil {
		return nil, err
	}
	for _, made := range append([]setup{{name: "embed", file: "embed.gguf"}, plain}, setups...) {
		file, err := made.modelfile(l.dir)
		if err != nil {
			return nil, err
		}
		create := exec.Command(bin, "create", made.name, "-f", file)
		create.Env = env
		if out, err := create.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: create %s: %w\n%s", s.name, made.name, err, out)
		}
	}
	return s, nil
}

// unload has the server forget a model until it is asked for again. What it answers does not
// matter.
func (s *server) unload(model string) {
	body := strings.NewReader(`{"model": "` + model + `", "keep_alive": 0}`)
	if resp, err := http.Post(s.base+"/api/generate", "application/json", body); err == nil {
		resp.Body.Close()
	}
}

// writeModels writes the scripted model twice: plain, and with the chat template inside. Two files,
// since Ollama shares one runner among the models of one file, whichever mode was first. A third
// gives embeddings, and no text.
func (l *lane) writeModels() error {
	jinja, err := os.ReadFile(filepath.Join("setups", "chat.jinja"))
	if err != nil {
		return err
	}
	says := script.Models(slices.Concat(l.scripts, l.defects))
	for _, file := range []struct {
		name, template string
		scripts        []gguf.Script
	}{
		{"plain.gguf", "", says},
		{"native.gguf", string(jinja), says},
		{"embed.gguf", "", []gguf.Script{{Name: "default"}}},
	} {
		m, err := gguf.New(file.scripts, file.template)
		if err != nil {
			return err
		}
		m.Embeds = file.name == "embed.gguf"
		if err := m.WriteFile(filepath.Join(l.dir, file.name)); err != nil {
			return err
		}
	}
	return nil
}

// modelfile writes Ollama's description of the set-up.
func (s setup) modelfile(dir string) (string, error) {
	text, file := "", s.file
	switch {
	case s.template != "":
		b, err := os.ReadFile(filepath.Join("setups", s.template))
		if err != nil {
			return "", err
		}
		text, file = fmt.Sprintf("TEMPLATE \"\"\"%s\"\"\"\n", b), cmp.Or(file, "plain.gguf")
	case file == "":
		file = "native.gguf"
	}
	if s.parser != "" {
		text += "PARSER " + s.parser + "\n"
	}
	text = "FROM " + filepath.Join(dir, file) + "\n" + text + "PARAMETER num_thread 1\n" // a tiny model is far slower with more
	out := filepath.Join(dir, s.name+".modelfile")
	return out, os.WriteFile(out, []byte(text), 0o644)
}

// TestModelWritesTheScripts holds the scripted model to its texts, on each server, at temperature
// 1: the anchor in every set-up, the others once in each of the two files.
func TestModelWritesTheScripts(t *testing.T) {
	l := open(t)
	for _, server := range []*server{l.newest, l.former} {
		for _, s := range server.setups {
			for _, sc := range l.scripts {
				once := s.name == "hermes" || s.name == "native"
				if sc.Model.Loop || sc.Family != "anchor" && !once {
					continue
				}
				got, err := server.generate(s.name, sc.Model.Selector()+" please")
				if err != nil {
					t.Fatalf("%s, %s, %s: %v", server.name, s.name, sc.Name, err)
				}
				if got != sc.Text() {
					t.Errorf("%s, %s, %s: the model wrote %q, its script is %q", server.name, s.name, sc.Name, got, sc.Text())
				}
			}
		}
	}
}

// patience is how long a scripted model may take to begin, or to write all of a reply that is asked
// for at once.
const patience = 25 * time.Second

// generate returns the raw text behind a prompt. A model that has lost its place is unloaded, and
// asked once more.
func (s *server) generate(model, prompt string) (string, error) {
	text, err := s.generateOnce(model, prompt)
	if errors.Is(err, context.DeadlineExceeded) {
		s.unload(model)
		text, err = s.generateOnce(model, prompt)
	}
	return text, err
}

func (s *server) generateOnce(model, prompt string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	body, err := json.Marshal(map[string]any{"model": model, "prompt": prompt, "raw": true, "think": false, "stream": false,
		"options": map[string]any{"temperature": 1, "num_predict": 2000}})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, "POST", s.base+"/api/generate", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
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
