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

// meanings returns what makes vectors of tools, so that searches find them by their meaning: the
// embedding model of the settings, else the first one that Ollama has.
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

// present is the embedding model that Ollama has, looked for when it is first needed. Vectors of
// two models cannot be compared, so it stays the same once found.
type present struct {
	engine *engine.Engine

	mu     sync.Mutex
	name   string
	looked time.Time // when none was found
}

// lookAgain is how long it is taken for granted that Ollama still has no embedding model.
const lookAgain = 5 * time.Minute

// errNoPresent is the error when Ollama has no embedding model.
var errNoPresent = errors.New("no embedding model is set, and Ollama has none")

// embed makes vectors of texts, each with a prefix in front.
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

// find returns the name of the first listed model that only makes vectors.
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
