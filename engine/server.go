package engine

import (
	"context"
	"strings"

	"toolnorm/chat"
)

// backend is one kind of model server: what a turn asks of it.
type backend interface {
	// models lists what the server has.
	models(ctx context.Context) ([]chat.Info, error)
	// probe says what the turn's model can do, and remembers it for as long as the model stays the same.
	probe(ctx context.Context, t *turn) (facts, error)
	// open begins the reply by the turn's strategy. Tail is the end of the rendered prompt, empty when it is not known.
	open(ctx context.Context, t *turn) (src chat.Source, tail string, err error)
}

// demoName is the name of the server that needs no model.
const demoName = "demo"

// server is a model server under the name that its models have in front of theirs: "box/qwen3". The first one's models
// go by their own names.
type server struct {
	backend
	name string
}

// facts are what is known of a model, as long as its digest stays the same.
type facts struct {
	digest   string   // empty: the server does not list the model
	tools    bool     // its template can print tools
	thinking bool     // its thinking can be switched
	levels   []string // of thinking, in the server's words; empty: only on and off
	always   bool     // it thinks whether it is told to or not
	blind    bool     // it is known to see no images
	render   bool     // the server gives the rendered prompt, so raw works
}

// route finds the server of a model and the name that the model has there.
func (e *Engine) route(model string) (*server, string) {
	if name, rest, ok := strings.Cut(model, "/"); ok && rest != "" {
		for _, s := range e.servers[1:] {
			if s.name == name {
				return s, rest
			}
		}
	}
	return e.servers[0], model
}
