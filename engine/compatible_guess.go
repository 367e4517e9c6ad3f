package engine

import (
	"context"
	"sync"

	"toolnorm/engine/openai"
)

// guess is a server whose kind nobody said: it is asked when it is first needed, and again until it answers.
type guess struct {
	base, key string

	mu    sync.Mutex
	found *server // nil until the kind is known
}

// find is the server of that name with the backend of its kind.
func (g *guess) find(ctx context.Context, name string) (*server, error) {
	g.mu.Lock()
	found := g.found
	g.mu.Unlock()
	if found != nil {
		return found, nil
	}
	kind, err := openai.KindOf(ctx, g.base, g.key)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.found == nil { // else another request was faster, and may have found out about models
		g.found = &server{backend: newBackend(kind, g.base, g.key), name: name}
	}
	return g.found, nil
}
