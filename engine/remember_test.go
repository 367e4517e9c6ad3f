package engine

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ollama/ollama/types/model"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

// TestModelsAreKnownAfterARestart has a program find out what a model understands and what its
// template says, and another one of the same file ask it: nothing is found out again, unless the
// model, the program or the file are other ones.
func TestModelsAreKnownAfterARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "models.json")
	ask := func(program, digest string) string {
		f := &fakeOllama{caps: []model.Capability{model.CapabilityCompletion}, digest: digest, reply: func(system string) string {
			if strings.Contains(system, "def ") {
				return "I cannot do that."
			}
			return `{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}`
		}}
		e := f.start(t, Config{Remember: Remember{file, program}})
		r := user("hi")
		r.Tools = []chat.Tool{weather}
		collect(t, e, r)
		return f.paths()
	}
	first := ask("v1", "sha:1")
	if n := strings.Count(first, "chat"); n < 3 {
		t.Fatalf("the first time it asks %s", first)
	}
	if again := ask("v1", "sha:1"); strings.Count(again, "chat") != 1 {
		t.Errorf("after a restart it asks %s", again)
	}
	for _, other := range [][2]string{{"v1", "sha:2"}, {"v2", "sha:1"}} {
		if again := ask(other[0], other[1]); strings.Count(again, "chat") < 3 {
			t.Errorf("%v: it asks %s", other, again)
		}
	}
	must.Write(t, file, "{")
	if again := ask("v2", "sha:1"); strings.Count(again, "chat") < 3 {
		t.Errorf("with a broken file it asks %s", again)
	}
	if again := ask("v2", "sha:1"); strings.Count(again, "chat") != 1 {
		t.Errorf("after it was written anew it asks %s", again)
	}
}

// TestReadingsAreRememberedAsTheyWere has readings of each kind.
func TestReadingsAreRememberedAsTheyWere(t *testing.T) {
	set := adapters.Builtin()
	const lines = "format stranger\nmodels stranger*\ncall <own>{call}</own>\n"
	own, err := set.Parse([]byte(lines))
	must.OK(t, err)
	for _, r := range []*reading{{}, {says: "nothing"}, {format: set.Named("hermes"), lines: "like it", says: "calls as hermes writes them"}, {format: own, lines: lines, unread: true}} {
		one, ok := noteOf(lessons{reading: r}, set)
		text, err := json.Marshal(one)
		if !ok || err != nil || json.Unmarshal(text, &one) != nil {
			t.Fatal(ok, err)
		}
		got := one.Reading.read(set)
		if got == nil || got.says != r.says || got.unread != r.unread || (got.format == nil) != (r.format == nil) || r.format != nil && got.format.Name != r.format.Name {
			t.Errorf("%s became %+v, want %+v", text, got, r)
		}
	}
	if _, ok := noteOf(lessons{}, set); ok {
		t.Error("nothing is worth a note")
	}
	gone := &readingNote{Family: "nosuch"}
	if gone.read(set) != nil {
		t.Error("a family that is gone is read")
	}
}
