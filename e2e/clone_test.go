package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolnorm/e2e/script"
)

// cloned are set-ups whose templates print tools as JSON: of others strategy clone leaves the prompt to raw, which mends it.
var cloned = []setup{
	{name: "qwen3-coder-json", parser: "qwen3-coder"},
	{name: "ministral-3-json", parser: "ministral"},
	{name: "hermes-json"},
}

// TestClone has strategy clone answer the anchor and long or split arguments, on each server.
func TestClone(t *testing.T) {
	l := open(t)
	scripts := slices.DeleteFunc(slices.Clone(l.scripts), func(sc script.Script) bool {
		return !sc.Anchor && !(demanding(sc) && sc.Family == "hermes")
	})
	for _, server := range []*server{l.newest, l.former} {
		base := l.proxied(t, server, "--strategy", "*=clone")
		for _, s := range cloned {
			server.derive(t, s, 0.5)
			sum := l.score(s, scripts, func(sc script.Script) []string { return l.askStream(base, s, sc) })
			for _, fault := range sum.faults {
				t.Errorf("%s: %s", server.name, fault)
			}
			if got := l.strategy(t, base, s); got != "clone" {
				t.Errorf("%s, %s: %s answered, want clone", server.name, s.name, got)
			}
			t.Logf("%s, %s: %d calls and %d texts right", server.name, s.name, sum.calls, sum.text)
		}
	}
}

// TestClonesOnTheServer looks at what strategy clone leaves on a real server: one clone of a model, which the next toolnorm
// finds again, and which is replaced with its model; none where llama-server renders the prompts, nor where the template prints no
// schemas.
func TestClonesOnTheServer(t *testing.T) {
	l := open(t)
	for _, server := range []*server{l.newest, l.former} {
		s := setup{name: "renewed", parser: "qwen3"}
		var clones []string
		for _, temperature := range []float64{0.5, 0.5, 0.25} {
			server.derive(t, s, temperature)
			base := l.toolnorm(t, append([]string{"--strategy", "*=clone"}, server.flags...)...)
			if got := l.strategy(t, base, s); got != "clone" {
				t.Errorf("%s: %s answered, want clone", server.name, got)
			}
			if shown := clonesOf(t, base, s.name); len(shown) > 0 {
				t.Errorf("%s: toolnorm shows %q", server.name, shown)
			}
			now := clonesOf(t, server.base, s.name)
			if same := slices.Equal(now, clones); len(now) != 1 || len(clones) > 0 && same != (temperature == 0.5) {
				t.Errorf("%s: at temperature %v the clones are %q, before they were %q", server.name, temperature, now, clones)
			}
			clones = now
		}
	}
	base := l.proxied(t, l.newest, "--strategy", "*=clone")
	for _, name := range []string{"native", "hermes"} {
		if got := l.strategy(t, base, setup{name: name}); got != "raw" || len(clonesOf(t, l.newest.base, name)) > 0 {
			t.Errorf("%s was answered by %s and has the clones %q", name, got, clonesOf(t, l.newest.base, name))
		}
	}
}

// strategy is the one by which a set-up answers.
func (l *lane) strategy(t *testing.T, base string, s setup) string {
	t.Helper()
	resp := post(t, t.Context(), base, l.ask(s.model(), l.named(t, "plain"), false))
	resp.Body.Close()
	return resp.Header.Get("Toolnorm-Strategy")
}

// derive makes a set-up out of the first one, with a template that prints JSON.
func (s *server) derive(t *testing.T, made setup, temperature float64) {
	t.Helper()
	template, err := os.ReadFile(filepath.Join("setups", "json.tmpl"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{
		"model": made.name, "from": s.setups[0].name, "parser": made.parser, "template": string(template), "stream": false,
		"parameters": map[string]any{"temperature": temperature, "num_thread": 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(s.base+"/api/create", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: create %s: status %d", s.name, made.name, resp.StatusCode)
	}
	t.Cleanup(func() { // other tests list the models
		for _, name := range append(clonesOf(t, s.base, made.name), made.name) {
			s.remove(t, name)
		}
	})
}

// remove takes a model off the server, if it is there.
func (s *server) remove(t *testing.T, name string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodDelete, s.base+"/api/delete", strings.NewReader(`{"model": "`+name+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// clonesOf are the clones of a model that a list of models shows.
func clonesOf(t *testing.T, base, model string) (names []string) {
	t.Helper()
	resp, err := http.Get(base + "/api/tags")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list struct{ Models []struct{ Name string } }
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	for _, m := range list.Models {
		if strings.HasPrefix(m.Name, model+"-toolnorm-raw:") {
			names = append(names, m.Name)
		}
	}
	return names
}
