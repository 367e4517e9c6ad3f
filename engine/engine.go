// Package engine answers a request with events: it renders the prompt, reads the model server, decodes what the model
// wrote, and sees to it that ids, stop sequences and the end of the reply are right.
package engine

import (
	"context"
	"iter"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

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
	if cfg.Demo.Formats == nil {
		cfg.Demo.Formats = cfg.Formats
	}
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
		if f := e.cfg.formats().Named(name); f != nil {
			return f
		}
	}
	return e.cfg.formats().For(model)
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
