package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"toolnorm/chat"
	"toolnorm/engine"
	"toolnorm/internal/embedding"
	"toolnorm/tools/find"
)

// meanings returns the embedder for tools, with which searches find tools by their meaning. It uses
// the embedding model of the settings, or without one the first that Ollama has.
func (c *Config) meanings(model *engine.Engine) *find.Meanings {
	if e := c.Databases.Embedder(); e != nil {
		question, passage := embedding.Prefixes(e.Model)
		return &find.Meanings{Question: e.With(question).Embed, Tool: e.With(passage).Embed}
	}
	p := &present{engine: model}
	return &find.Meanings{
		Question: func(ctx context.Context, texts []string) ([][]float32, error) {
			return p.embed(ctx, texts, func(question, _ string) string { return question })
		},
		Tool: func(ctx context.Context, texts []string) ([][]float32, error) {
			return p.embed(ctx, texts, func(_, passage string) string { return passage })
		},
	}
}

// present is the embedding model that Ollama has. It is searched for when it is first needed. It
// stays the same once found, because vectors of two models cannot be compared.
type present struct {
	engine *engine.Engine

	mu     sync.Mutex
	name   string
	looked time.Time // when the last search found none
}

// lookAgain is how long a search that found no embedding model is not repeated.
const lookAgain = 5 * time.Minute

// errNoPresent is returned if Ollama has no embedding model.
var errNoPresent = errors.New("no embedding model is set, and Ollama has none")

// embed returns the vectors of the texts, each with a prefix before it. The function choose picks
// one of the two prefixes of the model. It returns an error if there is no model or the model
// fails.
func (p *present) embed(ctx context.Context, texts []string,
	choose func(question, passage string) string) ([][]float32, error) {
	name, err := p.find(ctx)
	if err != nil {
		return nil, err
	}
	prefix := choose(embedding.Prefixes(name))
	r := &chat.EmbedRequest{Model: name, Truncate: true}
	for _, text := range texts {
		r.Input = append(r.Input, prefix+text)
	}
	got, err := p.engine.Embed(ctx, r)
	if err != nil {
		return nil, err
	}
	return got.Vectors, nil
}

// find returns the name of the first embedding model in the list of models. It returns errNoPresent
// if there is none, or if a recent search found none. It returns another error if the models cannot
// be listed.
func (p *present) find(ctx context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.name != "" {
		return p.name, nil
	}
	if time.Since(p.looked) < lookAgain {
		return "", errNoPresent
	}
	models, err := p.engine.Models(ctx)
	if err != nil {
		return "", err
	}
	for _, m := range models {
		var is struct{ Capabilities []string }
		text, err := p.engine.Describe(ctx, m.ID, false)
		if err == nil && !m.Hidden && json.Unmarshal(text, &is) == nil &&
			slices.Contains(is.Capabilities, "embedding") {
			p.name = m.ID
			return p.name, nil
		}
	}
	p.looked = time.Now()
	return "", errNoPresent
}
