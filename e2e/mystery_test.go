package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/e2e/gguf"
	"toolnorm/e2e/script"
	"toolnorm/internal/test/must"
)

// mysteries are templates whose models go by names that tell nothing, with the family that writes
// their calls.
var mysteries = []string{
	"Qwen3-Coder", "Kimi-K2-Instruct", "GLM-4.6", "openai-gpt-oss-120b", "Apertus-8B-Instruct", "MiniMax-M2", "Mistral-Small-3.2-24B-Instruct-2506",
	"LFM2.5-8B-A1B", "google-gemma-4-31B-it", "deepseek-ai-DeepSeek-V3.1", "Cohere2MoE", "ByteDance-Seed-OSS", "meetkai-functionary-medium-v3.2", "Apriel-1.6-15b-Thinker-fixed",
}

// TestAModelIsReadByItsTemplate serves models with the templates of others, under the names
// mystery-0, mystery-1, …, each by a llama-server of its own and all by one Ollama, and asks each
// for two calls: its first request must be right, without a setting.
func TestAModelIsReadByItsTemplate(t *testing.T) {
	l := open(t)
	calls := []chat.Call{
		{ID: "abcdefgh0", Name: "get_weather", Args: json.RawMessage(`{"city": "Oslo", "days": 3}`)},
		{ID: "abcdefgh1", Name: "write_file", Args: json.RawMessage(`{"content": "if a < b:\n    pass", "path": "a/b.py"}`)},
	}
	var flags []string
	var made []setup
	scripts := map[string]script.Script{}
	for i, template := range mysteries {
		name := fmt.Sprint("mystery-", i)
		family := adapters.Named(templateFamilies[template])
		sc := script.Script{Name: "default", Reply: &script.Reply{Open: false}, Model: gguf.Script{Name: "default", Parts: []string{string(family.Append(nil, calls...))}}}
		for _, c := range calls {
			sc.Reply.Calls = append(sc.Reply.Calls, script.Call{Name: c.Name, Args: string(c.Args)})
		}
		scripts[name] = sc
		l.writeMystery(t, name, template, sc)
		llama := must.Have(l.startLlamaServer(name))(t)
		flags = append(flags, "--upstream", name+"="+llama.base)
		made = append(made, setup{name: name, file: name + ".gguf"})
	}
	on := must.Have(l.startOllama(installed.newest, installed.version["OLLAMA"], 1, made))(t)
	base := l.toolnorm(t, append(flags, on.flags...)...)
	for i, template := range mysteries {
		name := fmt.Sprint("mystery-", i)
		for server, model := range map[string]string{"llama-server": name + "/" + name, "Ollama": name} {
			t.Run(server+", "+template, func(t *testing.T) {
				got := l.current.chat(base, l.ask(model, scripts[name], true))
				if found := faults(scripts[name].Reply, got); len(found) > 0 {
					t.Errorf("%s\nthe model wrote %s\ntoolnorm: %s", found, clip(scripts[name].Text()), gist(got))
				}
			})
		}
	}
}

// writeMystery writes a scripted model with a template inside.
func (l *lane) writeMystery(t *testing.T, name, template string, sc script.Script) {
	t.Helper()
	jinja, err := os.ReadFile(filepath.Join(filepath.Dir(installed.newest), "templates-"+installed.version["GGML"], template+".jinja"))
	if err != nil {
		demand(t, err, nil)
	}
	m, err := gguf.New([]gguf.Script{sc.Model}, string(jinja))
	if err == nil {
		err = m.WriteFile(filepath.Join(l.dir, name+".gguf"))
	}
	must.OK(t, err)
}
