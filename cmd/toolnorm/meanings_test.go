package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"toolnorm/tools"
	"toolnorm/tools/find"
)

// meaning is an Ollama with a model that answers and maybe one that makes vectors: what is about a
// car is near to what is about a vehicle. It keeps the texts that it was given.
type meaning struct {
	*httptest.Server
	mu    sync.Mutex
	texts []string
}

func newMeaning(t *testing.T, models ...string) *meaning {
	m := &meaning{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.URL.Path == "/api/embed":
			var asked struct{ Input []string }
			_ = json.Unmarshal(body, &asked)
			var vectors []string
			m.mu.Lock()
			defer m.mu.Unlock()
			for _, text := range asked.Input {
				m.texts = append(m.texts, text)
				near := 0
				if strings.Contains(text, "car") || strings.Contains(text, "vehicle") {
					near = 1
				}
				vectors = append(vectors, fmt.Sprintf("[%d,0.1]", near))
			}
			fmt.Fprintf(w, `{"model":"m","embeddings":[%s]}`, strings.Join(vectors, ","))
		case r.URL.Path == "/api/show" && strings.Contains(string(body), "embed"):
			io.WriteString(w, `{"capabilities":["embedding"],"model_info":{}}`)
		case r.URL.Path == "/api/show":
			io.WriteString(w, `{"capabilities":["completion"],"model_info":{}}`)
		case r.URL.Path == "/api/version":
			io.WriteString(w, `{"version":"0.34.3"}`)
		default:
			var list []string
			for _, name := range models {
				list = append(list, fmt.Sprintf(`{"name":%q,"model":%q}`, name, name))
			}
			fmt.Fprintf(w, `{"models":[%s]}`, strings.Join(list, ","))
		}
	}))
	t.Cleanup(m.Close)
	return m
}

// TestToolsAreFoundByAModelThatOllamaHas holds that no setting is needed where Ollama has an
// embedding model, that it gets the prefixes it wants, and that words are enough where there is none.
func TestToolsAreFoundByAModelThatOllamaHas(t *testing.T) {
	list := []tools.Tool{{Name: "a.parcels", Description: "Sends a parcel."}, {Name: "a.rent", Description: "Hires a vehicle."}}
	for _, tt := range []struct {
		models []string
		args   []string
		found  bool
	}{
		{[]string{"answers", "nomic-embed-text:latest"}, nil, true},
		{[]string{"answers"}, nil, false},
		{[]string{"answers"}, []string{"--text-embedding-model-name", "nomic-embed-text", "--text-embedding-model-url"}, true},
	} {
		clean(t, "")
		up := newMeaning(t, tt.models...)
		if tt.args != nil {
			tt.args = append(tt.args, up.URL+"/api/embed")
		}
		m := serving(t, io.Discard, append(tt.args, "--upstream", "box=ollama+"+up.URL)...)
		got := find.New(list).Find(t.Context(), m.now.Load().meanings, "I want a car")
		if found := len(got) > 0 && got[0].Name == "a.rent"; found != tt.found {
			t.Errorf("%q %q: %v", tt.models, tt.args, got)
		}
		up.mu.Lock()
		said := strings.Join(up.texts, "\n")
		up.mu.Unlock()
		if tt.found && (!strings.Contains(said, "search_query: I want a car") || !strings.Contains(said, "search_document: a rent: Hires a vehicle.")) || !tt.found && said != "" {
			t.Errorf("%q was asked %q", tt.models, said)
		}
	}
}
