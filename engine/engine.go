// Package engine answers a request with events: it renders the prompt, reads the model server, decodes what the model
// wrote, and sees to it that ids, stop sequences and the end of the reply are right.
package engine

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/rs/zerolog"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// Config says where the models are and how they are read. The zero value uses Ollama at its default address.
type Config struct {
	Ollama       string            // base URL of Ollama, as upstream.ParseHost gives it; empty: http://127.0.0.1:11434
	Log          zerolog.Logger    // the zero value logs nothing
	Strategy     map[string]string // model name with * for any text -> raw, native or prompt; the longest match wins; no match: by probing
	Format       map[string]string // model name with * for any text -> name of a format; no match: by the model's name
	Hold         int               // adapters.Options.Hold of requests that do not say; 0: short calls leave whole, long ones stream
	Timeouts     upstream.Timeouts // zero fields take the defaults
	NumCtx       int               // context length asked of Ollama, in tokens; 0: the server's choice
	DefaultModel string            // answers requests that name no model; empty: such requests are an error
	Demo         upstream.Demo     // the zero value writes at a pace that can be seen
}

// The strategies of getting at the raw text.
const (
	Raw    = "raw"    // the server renders the prompt only, then continues it without reading what the model writes
	Native = "native" // the server renders, and reads calls itself; what it misses is still decoded
	Prompt = "prompt" // the tools are described in the system text, for models that were never taught to call
)

// Validate says what is wrong with the configuration: an unknown strategy or format, a negative number, a bad address.
func (c Config) Validate() error {
	for model, s := range c.Strategy {
		if s != Raw && s != Native && s != Prompt {
			return fmt.Errorf("strategy of %q: %q is none of raw, native, prompt", model, s)
		}
	}
	for model, name := range c.Format {
		if adapters.Named(name) == nil {
			return fmt.Errorf("format of %q: there is no format %q", model, name)
		}
	}
	if c.NumCtx < 0 {
		return fmt.Errorf("num_ctx: %d is negative", c.NumCtx)
	}
	_, err := upstream.ParseHost(c.Ollama)
	return err
}

// Engine is a chat.Model and a chat.Catalog over one Ollama server and the demo models. It is safe for concurrent use.
type Engine struct {
	cfg          Config
	ollama, demo *server
}

var (
	_ chat.Model   = (*Engine)(nil)
	_ chat.Catalog = (*Engine)(nil)
)

// New makes an Engine. The server need not be up: each request finds out for itself. Of a configuration that Validate
// refuses, the wrong parts are ignored.
func New(cfg Config) *Engine {
	base, err := upstream.ParseHost(cfg.Ollama)
	if err != nil {
		cfg.Log.Error().Err(err).Msg("using Ollama's default address")
		base, _ = upstream.ParseHost("")
	}
	return &Engine{
		cfg:    cfg,
		ollama: newServer(upstream.NewOllama(base, nil)),
		demo:   newServer(upstream.NewOllama("http://demo", upstream.InProcess(&cfg.Demo))),
	}
}

// Stream answers r. See chat.Model for the order of events.
func (e *Engine) Stream(ctx context.Context, r *chat.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		ctx, pulse := upstream.NewPulse(ctx, r.Pulse, e.cfg.Timeouts)
		defer pulse.Stop()
		events, err := e.open(ctx, pulse, r)
		if err != nil {
			yield(chat.Event{}, err)
			return
		}
		for ev, err := range events {
			pulse.Spoke()
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// open begins a reply: the source, decoded, with the finishing touches.
func (e *Engine) open(ctx context.Context, pulse *upstream.Pulse, r *chat.Request) (iter.Seq2[chat.Event, error], error) {
	t, err := e.turn(ctx, pulse, r)
	if err != nil {
		return nil, err
	}
	src, tail, err := t.source(ctx)
	if err != nil {
		return nil, err
	}
	hold := r.Hold
	if hold == 0 {
		hold = e.cfg.Hold
	}
	events := closing(src, t.format.Decode(src, adapters.Options{Tools: r.Tools, Prompt: tail, Hold: hold}))
	events = numbered(events, r.Messages)
	if t.ownStops() {
		events = stopped(events, r.Stop)
	}
	return ended(ctx, events, t.format.Name, t.strategy), nil
}

// turn finds out all that answering r depends on.
func (e *Engine) turn(ctx context.Context, pulse *upstream.Pulse, r *chat.Request) (*turn, error) {
	t := &turn{engine: e, pulse: pulse, request: r, model: r.Model, server: e.ollama}
	if t.model == "" {
		t.model = e.cfg.DefaultModel
	}
	if t.model == "" {
		return nil, &fault.Error{Kind: fault.Invalid, Param: "model", Message: "the request names no model, and no default model is configured"}
	}
	if strings.HasPrefix(t.model, upstream.DemoPrefix) {
		t.server = e.demo
	}
	t.format = e.format(t.model)
	var err error
	if t.options, err = t.serverOptions(); err != nil {
		return nil, err
	}
	if t.facts, err = t.probe(ctx); err != nil {
		return nil, err
	}
	t.strategy = t.choose()
	return t, nil
}

// format is the model's format: by configuration, by the demo's name, else by the model's name.
func (e *Engine) format(model string) *adapters.Format {
	name, ok := match(e.cfg.Format, model)
	if !ok {
		name, ok = strings.CutPrefix(model, upstream.DemoPrefix)
	}
	if ok {
		if f := adapters.Named(name); f != nil {
			return f
		}
	}
	return adapters.For(model)
}

// Models lists the server's models, then the demo's. A server that cannot be reached is left out.
func (e *Engine) Models(ctx context.Context) ([]chat.Info, error) {
	var all []chat.Info
	for _, s := range []struct {
		*server
		owner string
	}{{e.ollama, "ollama"}, {e.demo, "toolnorm"}} {
		list, err := s.client.Tags(ctx)
		if err != nil {
			e.cfg.Log.Debug().Err(err).Str("owner", s.owner).Msg("models left out")
			continue
		}
		for _, m := range list.Models {
			all = append(all, chat.Info{ID: m.Name, Created: max(m.ModifiedAt.Unix(), 0), Owner: s.owner})
		}
	}
	return all, ctx.Err()
}
