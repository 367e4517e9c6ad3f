package command

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"toolnorm/engine/ollama"
)

// offerTime bounds the questions to a model server. They only help: a command does not wait for them.
const offerTime = 2 * time.Second

// offerEmbedder names the settings that use an embedding model which Ollama has. It prints nothing
// when there is none.
func (m *Console) offerEmbedder(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, offerTime)
	defer cancel()
	first, _, _ := strings.Cut(cmp.Or(os.Getenv("TOOLNORM_OLLAMA"), os.Getenv("OLLAMA_HOST")), ",")
	base, err := ollama.ParseHost(first)
	if err != nil {
		return // serve says what is wrong with it
	}
	if name := embedderAt(ctx, base); name != "" {
		fmt.Fprintf(m.Err, "Ollama has the embedding model %s; with these settings passages are found by their meaning as well:\n  text-embedding-model-url: %s/api/embed\n  text-embedding-model-name: %s\n", shown(name), shown(base), shown(name))
	}
}

// embedderAt returns the first model at an Ollama that makes vectors and nothing else. It returns
// the empty string when there is none, or no answer.
func embedderAt(ctx context.Context, base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	client := api.NewClient(u, http.DefaultClient)
	list, err := client.List(ctx)
	if err != nil {
		return ""
	}
	for _, m := range list.Models {
		show, err := client.Show(ctx, &api.ShowRequest{Model: m.Name})
		if err == nil && slices.Contains(show.Capabilities, model.CapabilityEmbedding) {
			return m.Name
		}
	}
	return ""
}
