package adapters

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// arenaCase is an input of the arena (bench/arena), whose package input has the fields.
type arenaCase struct {
	ID       string          `json:"id,omitempty"`
	Row      string          `json:"row,omitempty"`
	Format   string          `json:"format,omitempty"`
	Tools    json.RawMessage `json:"tools,omitempty"`
	ToolSet  string          `json:"tool_set"`
	Messages json.RawMessage `json:"messages,omitempty"`
	Text     string          `json:"text"`
	Want     []arenaCall     `json:"want,omitempty"`
	Base     string          `json:"base,omitempty"`
	Note     string          `json:"note,omitempty"`
}

// arenaCall is a call that is meant.
type arenaCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// arenaFamilies are those in which texts without calls are read: what readers of several makers
// read.
var arenaFamilies = []string{"generic", "hermes", "llama3", "mistral", "qwen3-coder", "deepseek-v3.1", "glm4.7", "kimi-k2", "minimax-m2", "python"}

// arenaTools returns tools as OpenAI's API has them.
func arenaTools(offered []chat.Tool) json.RawMessage {
	all := []map[string]any{}
	for _, t := range offered {
		all = append(all, map[string]any{"type": "function", "function": map[string]any{"name": t.Name, "description": t.Description, "parameters": t.Schema}})
	}
	out, _ := json.Marshal(all)
	return out
}

// TestArenaInputs writes the texts of this package's generators as inputs of the arena into the
// file that TOOLNORM_ARENA names.
func TestArenaInputs(t *testing.T) {
	name := os.Getenv("TOOLNORM_ARENA")
	if name == "" {
		t.Skip("for make arena")
	}
	offered, err := golden.Tools()
	must.OK(t, err)
	var all []arenaCase
	for _, s := range []struct {
		name  string
		tools []chat.Tool
		cases []arenaCase
	}{
		{"positions", positionTool, arenaPositions()},
		{"languages", languageTools, arenaLanguages(t)},
		{"wrappers", wrapperTools(), arenaWrappers()},
		{"negatives", offered, arenaNegatives(t)},
	} {
		all = append(all, arenaCase{ToolSet: s.name, Tools: arenaTools(s.tools)})
		for _, c := range s.cases {
			c.ToolSet = s.name
			all = append(all, c)
		}
	}
	f, err := os.Create(name)
	must.OK(t, err)
	e := json.NewEncoder(f)
	e.SetEscapeHTML(false)
	for _, c := range all {
		must.OK(t, e.Encode(c))
	}
	must.OK(t, f.Close())
}

// arenaPositions are calls in the model's own marks, anywhere in text.
func arenaPositions() (all []arenaCase) {
	r := rand.New(rand.NewPCG(20261128, 990))
	for n, f := range markedFamilies() {
		for i := range 12 {
			front, behind := position(r, i%3)
			text := front + strings.Trim(string(f.Append(nil, positionCall)), "\n") + behind
			all = append(all, arenaCase{ID: fmt.Sprintf("positions/%s/%d", f.Name, n*12+i), Row: "positions", Format: f.Name, Text: text,
				Want: []arenaCall{{positionCall.Name, string(positionCall.Args)}}, Base: "plain/" + f.Name})
		}
	}
	return all
}

// arenaLanguages are texts of many languages that end with an unmarked call, or show one.
func arenaLanguages(t *testing.T) (all []arenaCase) {
	for _, set := range languageSets {
		for n, c := range languageCases(t, set) {
			row := "shown"
			a := arenaCase{ID: fmt.Sprintf("languages/%s/%d", set, n), Format: "llama3", Text: c.text, Note: c.language, Base: "plain/llama3"}
			if c.announced || c.hint {
				want := madeOf(t, c.call)
				row, a.Want = "languages", []arenaCall{{want.Name, string(want.Args)}}
			}
			a.Row = row
			var said []map[string]any
			for _, m := range c.messages {
				said = append(said, arenaMessage(m, len(said)))
			}
			if said != nil {
				a.Messages, _ = json.Marshal(said)
			}
			all = append(all, a)
		}
	}
	return all
}

// arenaMessage returns a message as OpenAI's API has it.
func arenaMessage(m chat.Message, n int) map[string]any {
	if m.Role == chat.ToolRole {
		return map[string]any{"role": "tool", "tool_call_id": fmt.Sprint("call", n), "content": m.Content}
	}
	return map[string]any{"role": m.Role, "content": m.Content}
}

// arenaWrappers are calls in wrappers of any name, and documents that only look like them.
func arenaWrappers() (all []arenaCase) {
	for set, seed := range []uint64{1, 20261123, 20261128} {
		m := wrapperMaker{rand.New(rand.NewPCG(seed, 30))}
		for i := range 100 {
			one := m.wrap
			if i%3 == 0 {
				one = m.later
			}
			text, want := one()
			all = append(all, arenaCase{ID: fmt.Sprintf("wrappers/%d/%d", set, i), Row: "wrappers", Format: "generic", Text: text, Want: []arenaCall{{want.name, want.args}}})
			document := m.document
			if i%2 == 0 {
				document = m.laterDocument
			}
			text = document()
			for _, f := range arenaFamilies[:3] {
				all = append(all, arenaDocument(fmt.Sprintf("%d/%d", set, i), f, text, "document"))
			}
		}
	}
	return all
}

// arenaDocument is a text without a call, read in a family.
func arenaDocument(id, family, text, note string) arenaCase {
	c := arenaCase{ID: "documents/" + family + "/" + id, Row: "documents", Format: family, Text: text, Note: note, Base: "plain/" + family}
	if family == "generic" {
		c.Base = ""
	}
	return c
}

// arenaNegatives are the texts that must stay as they are in every family.
func arenaNegatives(t *testing.T) (all []arenaCase) {
	files, err := filepath.Glob("testdata/negatives/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		kind := strings.TrimSuffix(filepath.Base(file), ".txt")
		for n, s := range readSections(t, file) {
			for _, f := range arenaFamilies {
				all = append(all, arenaDocument(fmt.Sprintf("%s/%d", kind, n), f, s.Text, s.Name))
			}
		}
	}
	return all
}
