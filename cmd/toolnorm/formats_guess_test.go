package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/ollama"
)

// rendering is an Ollama server that shows how its only model's template renders: in marks, calls
// as the family prints them.
func rendering(t *testing.T, f *adapters.Format) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/show", func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`{"capabilities":["completion","tools"]}`))
	})
	mux.HandleFunc("/api/chat", func(w http.ResponseWriter, r *http.Request) {
		var q ollama.ChatRequest
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || !q.RenderOnly || len(q.Tools) == 0 {
			t.Errorf("the server is asked %+v, %v", q, err)
		}
		var b strings.Builder
		for _, m := range q.Messages {
			b.WriteString("<|im_start|>" + m.Role + "\n" + m.Content)
			for _, c := range m.Calls {
				b.Write(f.Append(nil, chat.Call{ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments}))
			}
			b.WriteString("<|im_end|>\n")
		}
		json.NewEncoder(w).Encode(map[string]any{"_debug_info": map[string]string{"rendered_template": b.String()}})
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestGuessAsksTheServer(t *testing.T) {
	clean(t, "")
	s := rendering(t, adapters.Named("functionary-v3.1"))
	out, warn, err := ran(t, "", "formats", "guess", "new:1b", "--ollama", s.URL)
	if err != nil || !strings.Contains(out, "\nmodels  new*\nlike    functionary-v3.1\n-- one call: raw --\n") || !strings.Contains(warn, "as the known family functionary-v3.1") {
		t.Errorf("printed\n%s\ncomplained %s\n%v", out, warn, err)
	}
	if _, _, err := ran(t, "", "formats", "guess", "new:1b", "--ollama", "127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("without a server: %v", err)
	}
}
