package command

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
)

// offerTime is how long the questions to a model server may take. Their answers are only needed for
// a hint, for which a command should not wait.
const offerTime = 2 * time.Second

// offerEmbedder prints the settings by which an embedding model of the Ollama server would be used.
// It prints nothing if the server has no such model.
func (m *Console) offerEmbedder(ctx context.Context, server ollamaServer) {
	ctx, cancel := context.WithTimeout(ctx, offerTime)
	defer cancel()
	base, err := server.base()
	if err != nil {
		return // serve reports what is wrong with it
	}
	if name := embedderAt(ctx, base); name != "" {
		fmt.Fprintf(m.Err,
			"Ollama has the embedding model %s; with these settings passages are found by their meaning as well:\n  text-embedding-model-url: %s/api/embed\n  text-embedding-model-name: %s\n", printable(name), printable(base), printable(name))
	}
}

// embedderAt returns the name of the first embedding model of the Ollama server at this base URL.
// It returns "" if there is no such model or the server does not answer.
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
