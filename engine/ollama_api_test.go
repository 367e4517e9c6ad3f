package engine

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"

	"toolnorm/engine/demo"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
)

// nativeServer is an engine over a server that answers as the map says, by path.
func nativeServer(t *testing.T, answers map[string]string) *Engine {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			answer = `{"error":"no"}`
		}
		io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return New(Config{Ollama: s.URL, Demo: demo.Server{Delay: -1}})
}

func TestTagsListEveryModelAsClientsCallIt(t *testing.T) {
	digest := strings.Repeat("a", 64)
	e := nativeServer(t, map[string]string{"/api/tags": `{"models":[{"name":"m:latest","model":"m:latest","size":5,"digest":"` + digest + `","details":{"family":"llama"},"capabilities":["completion"]},{"name":"e:1","digest":"` + digest + `","capabilities":["embedding"]}]}`})
	body, err := e.Tags(t.Context())
	var list api.ListResponse
	if err != nil || json.Unmarshal(body, &list) != nil {
		t.Fatalf("%s %v", body, err)
	}
	if m := list.Models[0]; m.Name != "m:latest" || m.Size != 5 || m.Digest != digest || m.Details.Family != "llama" || len(m.Capabilities) != 2 {
		t.Errorf("%+v", m)
	}
	if m := list.Models[1]; m.Name != "e:1" || len(m.Capabilities) != 1 {
		t.Errorf("%+v", m)
	}
	for _, m := range list.Models[2:] {
		if !strings.HasPrefix(m.Name, "demo/") || m.Name != m.Model || len(m.Digest) != 64 {
			t.Errorf("%+v", m)
		}
	}
	if body, err := nativeServer(t, nil).Tags(t.Context()); err != nil || !strings.Contains(string(body), "demo/hermes") {
		t.Errorf("without a server: %s %v", body, err)
	}
}

func TestModelsThatWriteCanCallTools(t *testing.T) {
	for show, want := range map[string]string{
		`{"x":"\u003c","capabilities":["completion","vision"],"model_info":{"n":12345678901234567890}}`: `{"x":"\u003c","capabilities":["completion","vision","tools"],"model_info":{"n":12345678901234567890}}`,
		`{"capabilities":["tools","completion"]}`:                                                       `{"capabilities":["tools","completion"]}`,
		`{"capabilities":["embedding"]}`:                                                                `{"capabilities":["embedding"]}`,
		`{"template":"old"}`:                                                                            `{"template":"old"}`,
	} {
		if got, err := nativeServer(t, map[string]string{"/api/show": show}).Describe(t.Context(), "m", true); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", show, got, err, want)
		}
	}
	if _, err := nativeServer(t, nil).Describe(t.Context(), "m", false); fault.From(err).Kind != fault.NotFound {
		t.Errorf("an unknown model: %v", err)
	}
	if _, err := nativeServer(t, map[string]string{"/api/show": "{"}).Describe(t.Context(), "m", false); fault.From(err).Kind != fault.Unavailable {
		t.Errorf("a broken description: %v", err)
	}
}

func TestRequestsAreForwardedToTheModelsServer(t *testing.T) {
	e := nativeServer(t, map[string]string{"/api/generate": `{"response":"real","done":true}`, "/api/ps": `{"models":[{"name":"m:latest"}]}`, "/api/version": `{"version":"9"}`})
	for model, want := range map[string]string{"m": `m {"response":"real"`, "demo/hermes": "hermes ", "": ` {"response":"real"`} {
		rt, name, err := e.Server(t.Context(), model, nil)
		must.OK(t, err)
		resp, err := rt.RoundTrip(httptest.NewRequest("POST", "http://elsewhere/api/generate?x=1", strings.NewReader(`{"model":"hermes","prompt":"p"}`)))
		must.OK(t, err)
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if got := name + " " + string(body); !strings.HasPrefix(got, want) || resp.StatusCode != 200 {
			t.Errorf("%q: %d %s, want %s", model, resp.StatusCode, got, want)
		}
	}
	if ps, err := e.Running(t.Context()); err != nil || !strings.Contains(string(ps), `"name":"m:latest"`) {
		t.Errorf("%s %v", ps, err)
	}
	if v, err := e.Version(t.Context()); err != nil || v != "9" {
		t.Errorf("%s %v", v, err)
	}
	gone := New(Config{Ollama: "http://127.0.0.1:1"})
	rt, _, _ := gone.Server(t.Context(), "m", nil)
	if _, err := rt.RoundTrip(httptest.NewRequest("POST", "/api/generate", nil)); fault.From(err).Kind != fault.Unavailable {
		t.Errorf("a server that is gone: %v", err)
	}
}
