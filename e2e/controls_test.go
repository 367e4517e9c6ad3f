package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolnorm/e2e/gguf"
	"toolnorm/e2e/script"
	"toolnorm/internal/test/must"
)

// controlSetups are the set-ups of the second vocabulary, in which the marks of calls and thoughts
// are control tokens: those with a reader of the server's own, those whose template names a mark,
// and those with neither. Each is called as its family.
var controlSetups = []setup{
	{name: "gemma4", template: "tool_call.tmpl", parser: "gemma4", reads: "gemma4"},
	{name: "ministral-3", template: "tool_call.tmpl", parser: "ministral", reads: "mistral"},
	{name: "qwen3", template: "tool_call.tmpl", parser: "qwen3", reads: "hermes"},
	{name: "qwq", template: "tool_call.tmpl", parser: "qwen3-thinking", reads: "hermes"},
	{name: "qwen3-coder", template: "tool_call.tmpl", parser: "qwen3-coder", reads: "qwen3-coder"},
	{name: "qwen3.5", template: "tool_call.tmpl", parser: "qwen3.5", reads: "qwen3-coder"},
	{name: "gpt-oss", template: "tool_call.tmpl", parser: "harmony", reads: "gpt-oss"},
	{name: "glm-4.7", template: "tool_call.tmpl", parser: "glm-4.7", reads: "glm4.7"},
	{name: "lfm2", template: "tool_call.tmpl", parser: "lfm2-thinking", reads: "lfm2"},
	{name: "glm-4.6", template: "tool_call.tmpl", reads: "glm4"},
	{name: "functiongemma", template: "tool_call.tmpl", parser: "functiongemma", reads: "functiongemma"},
	{name: "hermes", template: "tool_call.tmpl", reads: "hermes"},
	{name: "mistral", template: "tool_calls.tmpl", reads: "mistral"},
	{name: "llama3.1", template: "bare_json.tmpl", reads: "llama3"},
	{name: "kimi-k2", template: "tool_call.tmpl", reads: "kimi-k2"},
	{name: "granite3", template: "tool_call.tmpl", reads: "granite3"},
	{name: "passthrough", template: "tool_call.tmpl", parser: "passthrough", reads: "hermes"},
	{name: "native", file: "native", reads: "hermes"},
}

// controlled are the scripts of the second vocabulary.
func (l *lane) controlled(t *testing.T) []script.Script {
	t.Helper()
	more := must.Have(script.Load(os.DirFS("controls")))(t)
	return script.Controlled(slices.Concat(l.scripts, more))
}

// startControl serves an Ollama with the second vocabulary. Each family has a file of its own:
// where many scripts share their marks the model confuses them.
func (l *lane) startControl(t *testing.T, dir, version string, scripts []script.Script, setups []setup) *server {
	t.Helper()
	jinja := must.Read(t, filepath.Join("setups", "chat.jinja"))
	setups = slices.Clone(setups)
	for i, s := range setups {
		template := ""
		if s.file == "native" {
			template = string(jinja)
		}
		setups[i].file = "control-" + s.reads + s.file + ".gguf"
		path := filepath.Join(l.dir, setups[i].file)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		m := must.Have(gguf.New(append(script.Models(of(scripts, s.reads)), l.named(t, "default").Model), template))(t)
		must.OK(t, m.WriteFile(path))
	}
	return must.Have(l.startOllama(dir, version, 1, setups))(t)
}

// of are the scripts of a family.
func of(scripts []script.Script, family string) []script.Script {
	return slices.DeleteFunc(slices.Clone(scripts), func(sc script.Script) bool { return sc.Family != family })
}

// TestControlTokens holds toolnorm to a law: in no set-up and script of the second vocabulary is
// its reply worse than that of the server itself, in calls, text or reasoning. Calls are to be
// right wherever the marks can be had; only where the server gives up a reply itself they need not
// be: there the model goes on behind its own text, and the scripted one cannot, it begins again.
func TestControlTokens(t *testing.T) {
	l := open(t)
	scripts := l.controlled(t)
	newest := l.startControl(t, installed.newest, installed.version["OLLAMA"], scripts, controlSetups)
	withTemplate := slices.DeleteFunc(slices.Clone(controlSetups), func(s setup) bool { return s.template == "" || s.parser == "qwen3.5" })
	former := l.startControl(t, installed.former, installed.version["OLLAMA_OLD"], scripts, withTemplate)
	former.wedges = true
	for _, on := range []*server{newest, former} {
		base := l.toolnorm(t, on.flags...)
		for _, s := range on.setups {
			t.Run(on.name+", "+s.name, func(t *testing.T) {
				for _, sc := range of(scripts, s.reads) {
					// In a long one a model whose scripts share marks may lose its way for minutes.
					if len(sc.Text()) < 8<<10 {
						l.never(t, on, base, s, sc)
					}
				}
			})
		}
	}
}

// never says where the reply of toolnorm is worse than the server's own, or wrong though the set-up
// is of the script's family.
func (l *lane) never(t *testing.T, on *server, base string, s setup, sc script.Script) {
	t.Helper()
	got, own := askWhole(base, l.ask(s.name, sc, false)), reply{Error: "not asked: it may hang"}
	if !on.wedges {
		own = askWhole(on.base, l.ask(s.name, sc, false))
	}
	a, b := rightParts(sc.Reply, own), rightParts(sc.Reply, got)
	for part := range a {
		if a["calls"] && a[part] && !b[part] { // a server that swallows a call has no right text for it
			t.Errorf("%s: the server itself has the %s right, toolnorm has not\nthe model wrote %s\ntoolnorm: %s", sc.Name, part, clip(sc.Text()), gist(got))
		}
	}
	if (s.parser != "" && s.parser != "passthrough" && own.Error == "" || on.wedges) && !b["calls"] {
		t.Errorf("%s: the model wrote %s\ntoolnorm: %s\nthe server: %s", sc.Name, clip(sc.Text()), gist(got), gist(own))
	}
}

// rightParts says what of a reply is as it should be.
func rightParts(want *script.Reply, got reply) map[string]bool {
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return map[string]bool{
		"calls":     got.Error == "" && gotCalls(got) == wantCalls(want),
		"text":      got.Error == "" && flat(got.Content) == flat(want.Text),
		"reasoning": got.Error == "" && flat(got.Reasoning) == flat(want.Think),
	}
}

// askWhole asks for a whole reply, and takes reasoning by the name that each server has for it.
func askWhole(base string, r request) (got reply) {
	body, err := json.Marshal(r)
	if err != nil {
		return reply{Error: err.Error()}
	}
	resp, err := http.Post(base+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return reply{Error: err.Error()}
	}
	defer resp.Body.Close()
	var whole struct {
		Choices []struct {
			Message struct {
				Content, Reasoning string
				ReasoningContent   string     `json:"reasoning_content"`
				ToolCalls          []toolCall `json:"tool_calls"`
			}
			Finish string `json:"finish_reason"`
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&whole); err != nil || len(whole.Choices) == 0 {
		return reply{Error: fmt.Sprintf("status %d, %v", resp.StatusCode, err)}
	}
	m := whole.Choices[0].Message
	got = reply{Content: m.Content, Reasoning: cmp.Or(m.ReasoningContent, m.Reasoning), Finish: whole.Choices[0].Finish}
	for _, c := range m.ToolCalls {
		got.Calls = append(got.Calls, gotCall{Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return got
}
