package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/e2e/gguf"
	"toolnorm/engine/valid"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// grammarTools are offered to models that a grammar holds. The report has nothing in it whose
// length a model chooses.
const grammarTools = `[
{"name": "make_report", "parameters": {"type": "object", "properties": {"kind": {"enum": ["sales", "stock"]}, "year": {"type": "integer", "minimum": 1990, "maximum": 2031},
  "draft": {"type": "boolean"}, "parts": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3}}, "required": ["kind", "year"], "additionalProperties": false}},
{"name": "write_note", "parameters": {"type": "object", "properties": {"text": {"type": "string", "minLength": 1, "maxLength": 12}, "share": {"type": "number", "minimum": 0, "maximum": 1},
  "on": {"type": "string", "format": "date"}, "tags": {"type": "array", "items": {"type": "string", "maxLength": 6}, "minItems": 1, "maxItems": 3}}, "required": ["text"]}},
{"name": "walk", "parameters": {"type": "object", "properties": {"node": {"$ref": "#/$defs/node"}}, "required": ["node"], "$defs": {"node": {"type": "object",
  "properties": {"id": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}, "required": ["id"], "additionalProperties": false}}}},
{"name": "stop", "parameters": {"type": "object", "properties": {}}}]`

// grammarLane is llama-server and toolnorm alone.
type grammarLane struct {
	lane
	offered []chat.Tool
	kept    valid.Cache
}

func openGrammarLane(t *testing.T) *grammarLane {
	t.Helper()
	l := &grammarLane{lane: lane{dir: t.TempDir()}}
	t.Cleanup(func() {
		for i := len(l.stops) - 1; i >= 0; i-- {
			l.stops[i]()
		}
	})
	if err := l.locate(); err != nil && os.Getenv("TOOLNORM_E2E") != "required" {
		t.Skipf("the end-to-end lane is not installed (run e2e/install.sh): %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	var err error
	if l.offered, err = chat.ParseTools([]byte(grammarTools)); err != nil {
		t.Fatal(err)
	}
	return l
}

// serve starts llama-server with a model that has the scripts and otherwise no opinion: any byte is
// as likely as any other.
func (l *grammarLane) serve(t *testing.T, name string, scripts ...gguf.Script) *server {
	t.Helper()
	jinja := must.Read(t, filepath.Join("setups", "chat.jinja"))
	m := must.Have(gguf.New(append(scripts, gguf.Script{Name: "default"}), string(jinja)))(t)
	must.OK(t, m.WriteFile(filepath.Join(l.dir, name+".gguf")))
	return must.Have(l.startLlamaServer(name))(t)
}

// plainPrompt is what the model without opinion is asked.
const plainPrompt = "hello"

// written is what a model writes that is held to a grammar from the first byte on.
func written(t *testing.T, base, prompt, grammar string, seed int) string {
	t.Helper()
	var biases [][2]int // against halves of characters, which the model without opinion would put together wrongly
	for token := 0x80; token < 0x100 && prompt == plainPrompt; token++ {
		biases = append(biases, [2]int{token, -30})
	}
	body := must.Have(json.Marshal(map[string]any{"prompt": prompt, "grammar": grammar, "n_predict": 4000, "temperature": 1, "top_k": 0, "top_p": 1, "min_p": 0, "seed": seed, "logit_bias": biases}))(t)
	resp := must.Have(http.Post(base+"/completion", "application/json", bytes.NewReader(body)))(t)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	var reply struct {
		Content string
		Stop    string `json:"stop_type"`
	}
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(text, &reply) != nil || reply.Stop != "eos" {
		t.Fatalf("%v %s: %.600s", err, resp.Status, text)
	}
	return reply.Content
}

// fit checks that a reply is calls of offered tools that fit their schemas, and nothing else.
func (l *grammarLane) fit(t *testing.T, f *adapters.Format, text string) {
	t.Helper()
	var calls []chat.Call
	for ev, err := range f.Decode(golden.Source([]string{text}, chat.Stop), adapters.Options{Tools: l.offered}) {
		switch {
		case err != nil:
			t.Fatal(err)
		case ev.Kind == chat.Text && strings.TrimSpace(ev.Text) != "":
			t.Errorf("%q: text %q beside the calls", text, ev.Text)
		case ev.Kind == chat.CallStart:
			calls = append(calls, chat.Call{Name: ev.Text})
		case ev.Kind == chat.CallArgs:
			calls[len(calls)-1].Args = append(calls[len(calls)-1].Args, ev.Text...)
		}
	}
	if len(calls) == 0 {
		t.Errorf("no call in %q", text)
	}
	for _, c := range calls {
		l.fits(t, c.Name, string(c.Args))
	}
}

// fits checks one call.
func (l *grammarLane) fits(t *testing.T, name, args string) {
	t.Helper()
	i := slices.IndexFunc(l.offered, func(tool chat.Tool) bool { return tool.Name == name })
	if i < 0 {
		t.Errorf("no tool %q is offered", name)
		return
	}
	v := must.Have(l.kept.Tool(l.offered[i]))(t)
	if problems := v.Check([]byte(args)); len(problems) > 0 {
		t.Errorf("%s %s: %v", name, args, problems)
	}
}

// TestGrammar holds a model without any opinion to the grammar of each family, and, if it is in the
// cache, a real one.
func TestGrammar(t *testing.T) {
	l := openGrammarLane(t)
	base := l.serve(t, "uniform").base
	families := 0
	for _, f := range adapters.All() {
		g := f.Grammar(l.offered, false)
		if g.Text == "" {
			continue
		}
		families++
		t.Run(f.Name, func(t *testing.T) {
			for seed := range 5 {
				l.fit(t, f, written(t, base, plainPrompt, g.Text, seed))
			}
		})
	}
	t.Logf("%d families, 5 replies each", families)
}

// TestGrammarHoldsARealModel is the same with a model that is too weak for tools.
func TestGrammarHoldsARealModel(t *testing.T) {
	l := openGrammarLane(t)
	file := filepath.Join(filepath.Dir(installed.newest), "models", "smollm2-135m.gguf")
	if _, err := os.Stat(file); err != nil {
		t.Skipf("SmolLM2 is not in the cache: %v", err)
	}
	must.OK(t, os.Symlink(file, filepath.Join(l.dir, "smollm2.gguf")))
	s := must.Have(l.startLlamaServer("smollm2"))(t)
	const prompt = "<|im_start|>user\nMake a sales report of 2020, and a short note about it.<|im_end|>\n<|im_start|>assistant\n"
	for _, f := range adapters.All() {
		if g := f.Grammar(l.offered, true); g.Text != "" {
			t.Run(f.Name, func(t *testing.T) { l.fit(t, f, written(t, s.base, prompt, g.Text, 1)) })
		}
	}
}

// TestGrammarBeginsAtTheMark asks through toolnorm. The model's script is text and the beginning of
// a call; what follows it makes up, held by the grammar that toolnorm sends.
func TestGrammarBeginsAtTheMark(t *testing.T) {
	l := openGrammarLane(t)
	l.offered = l.offered[:1]
	must.OK(t, l.build())
	heads, of := []gguf.Script{}, map[string]string{} // the script of each family
	for _, f := range adapters.All() {
		printed := string(f.Append([]byte("x"), chat.Call{Name: "make_report", Args: json.RawMessage(`{}`)}))
		end := strings.Index(printed, "make_report") + len("make_report")
		head := printed[1:end]
		if g := f.Grammar(l.offered, false); f.Name == "generic" || g.Text == "" || !begins(g, head) {
			continue
		}
		i := slices.IndexFunc(heads, func(s gguf.Script) bool { return strings.HasSuffix(s.Parts[0], ".\n"+head) })
		if i < 0 {
			i = len(heads)
			heads = append(heads, gguf.Script{Name: fmt.Sprint("head", i), Parts: []string{fmt.Sprintf("%d: I see.\n%s", i, head)}})
		}
		of[f.Name] = heads[i].Name
	}
	s := l.serve(t, "heads", heads...)
	for family, name := range of {
		t.Run(family, func(t *testing.T) {
			base := l.toolnorm(t, "--upstream", "llama="+s.base, "--format", "llama/*="+family, "--no-check", "--no-reask")
			i := slices.IndexFunc(heads, func(s gguf.Script) bool { return s.Name == name })
			text, calls := l.askReport(t, base, heads[i])
			if want := fmt.Sprintf("%d: I see.", i); strings.TrimSpace(text) != want {
				t.Errorf("text %q, want %q", text, want)
			}
			if len(calls) != 1 {
				t.Errorf("%d calls, want one", len(calls))
			}
			for _, c := range calls {
				l.fits(t, c.Function.Name, c.Function.Arguments)
			}
		})
	}
	t.Logf("%d families, %d beginnings of calls", len(of), len(heads))
}

// begins reports whether a call that begins so triggers the grammar: some families print calls
// without the mark that they know.
func begins(g adapters.Grammar, head string) bool {
	trigger := g.Trigger[0]
	return trigger.Word != "" && strings.Contains(head, trigger.Word) || trigger.Word == "" && regexp.MustCompile(trigger.Pattern).MatchString("\n"+head)
}

// askReport asks for a whole reply with the first tool, and gives its text and calls.
func (l *grammarLane) askReport(t *testing.T, base string, s gguf.Script) (text string, calls []toolCall) {
	t.Helper()
	tool := must.Have(json.Marshal(map[string]any{"type": "function", "function": map[string]any{"name": l.offered[0].Name, "parameters": l.offered[0].Schema}}))(t)
	body := must.Have(json.Marshal(struct {
		request
		Parallel bool `json:"parallel_tool_calls"`
	}{request{Model: "llama/heads", Tools: []json.RawMessage{tool}, MaxTokens: 3000, Messages: []message{{Role: "user", Content: s.Selector() + " please"}}}, false}))(t)
	resp := must.Have(http.Post(base+"/v1/chat/completions", "application/json", bytes.NewReader(body)))(t)
	defer resp.Body.Close()
	var reply struct {
		Choices []struct {
			Message message
		}
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil || json.Unmarshal(data, &reply) != nil || len(reply.Choices) != 1 {
		t.Fatalf("%v %s: %s", err, resp.Status, data)
	}
	return reply.Choices[0].Message.Content, reply.Choices[0].Message.ToolCalls
}
