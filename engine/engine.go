// Package engine answers a request with events: it renders the prompt, reads the model server, decodes what the model
// wrote, and sees to it that ids, stop sequences and the end of the reply are right.
package engine

import (
	"context"
	"errors"
	"iter"

	"github.com/rs/zerolog"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
)

// Config says where the models are and how they are read. The zero value uses Ollama at its default address.
type Config struct {
	Ollama       string            // base URL of Ollama, as upstream.ParseHost gives it; empty: http://127.0.0.1:11434
	Log          zerolog.Logger    // the zero value logs nothing
	Strategy     map[string]string // model name with * for any text -> raw, native or prompt; the longest match wins; no match: by probing
	Format       map[string]string // model name with * for any text -> name of a format; no match: by the model's name
	Hold         int               // adapters.Options.Hold; 0: short calls leave whole, long ones stream
	Timeouts     upstream.Timeouts // zero fields take the defaults
	NumCtx       int               // context length asked of Ollama, in tokens; 0: the server's choice
	DefaultModel string            // answers requests that name no model; empty: such requests are an error
}

// Engine is a chat.Model and a chat.Catalog over one Ollama server and the demo models.
type Engine struct {
	cfg Config
}

var (
	_ chat.Model   = (*Engine)(nil)
	_ chat.Catalog = (*Engine)(nil)
)

// New makes an Engine. The server need not be up: each request finds out for itself.
func New(cfg Config) *Engine {
	return &Engine{cfg: cfg}
}

// Validate says what is wrong with the configuration: an unknown strategy or format, or a negative number.
func (c Config) Validate() error { return nil }

// Stream answers r. See chat.Model for the order of events.
func (e *Engine) Stream(ctx context.Context, r *chat.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) { yield(chat.Event{}, errors.New("not built yet")) }
}

// Models lists the server's models, then the demo's. A server that cannot be reached is left out.
func (e *Engine) Models(ctx context.Context) ([]chat.Info, error) { return nil, nil }
