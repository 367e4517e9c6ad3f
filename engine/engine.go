// Package engine answers a request with events: it renders the prompt, reads the model server, decodes what the model
// wrote, and sees to it that ids, stop sequences and the end of the reply are right.
package engine

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	ollamaapi "toolnorm/engine/ollama"
	"toolnorm/engine/upstream"
	"toolnorm/engine/valid"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
	"toolnorm/internal/pattern"
)

// Engine is a chat.Model and a chat.Catalog over model servers: Ollama, the demo models, and those that are configured. It is safe for concurrent use.
type Engine struct {
	cfg     Config
	servers []*server // the first one's models go by their own names
	schemas valid.Cache
	odd     warnings // schemas that cannot be used
	carried trials   // names that families can write
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
	base, err := ollamaapi.ParseHost(cfg.Ollama)
	if err != nil {
		cfg.Log.Error().Err(err).Msg("using Ollama's default address")
		base, _ = ollamaapi.ParseHost("")
	}
	first, err := ollamaapi.New(base, nil)
	e := &Engine{cfg: cfg, servers: []*server{{name: "ollama", backend: newOllama("ollama", first, err)}}}
	if cfg.Demos != DemoNever {
		demo, err := ollamaapi.New("http://demo", upstream.InProcess(&cfg.Demo))
		e.servers = append(e.servers, &server{name: demoName, backend: newOllama("toolnorm", demo, err)})
	}
	for _, u := range cfg.Upstreams {
		s, err := newServer(u)
		if err != nil {
			cfg.Log.Error().Err(err).Str("server", u.Name).Msg("upstream left out")
			continue
		}
		e.servers = append(e.servers, s)
	}
	return e
}

// Stream answers r. See chat.Model for the order of events.
func (e *Engine) Stream(ctx context.Context, r *chat.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		if wedged := e.reply(ctx, r, nil, yield); wedged != nil {
			e.reply(ctx, r, wedged, yield)
		}
	}
}

// reply yields the events of one attempt at an answer. If the settings want that, a model that does not begin to write is no
// error yet, but comes back as one; with it as after the model is unloaded first, and that error is the end if it cannot be.
func (e *Engine) reply(ctx context.Context, r *chat.Request, after error, yield func(chat.Event, error) bool) (wedged error) {
	ctx, pulse := wait.NewPulse(ctx, chat.ObserverOf(ctx).Pulse, e.cfg.Timeouts)
	defer pulse.Stop()
	if after != nil && !e.unwedge(ctx, pulse, r) {
		yield(chat.Event{}, after)
		return nil
	}
	events, err := e.open(ctx, pulse, r)
	if err != nil {
		events = broken(err)
	}
	said := false
	for ev, err := range events {
		if err != nil && e.cfg.Unwedge && after == nil && !said && silent(err) {
			return err
		}
		if after != nil && ev.Kind == chat.Finish {
			ev = withStep(ev, stepUnwedged)
		}
		said = true
		pulse.Spoke()
		if !yield(ev, err) || err != nil {
			return nil
		}
	}
	return nil
}

// broken is a reply that is nothing but an error.
func broken(err error) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) { yield(chat.Event{}, err) }
}

// open begins a reply.
func (e *Engine) open(ctx context.Context, pulse *wait.Pulse, r *chat.Request) (iter.Seq2[chat.Event, error], error) {
	if r.Continue != nil {
		return e.complete(ctx, pulse, r)
	}
	t, err := e.turn(ctx, pulse, r)
	if err != nil {
		return nil, err
	}
	return t.names.restored(t.answer(ctx)), nil
}

// turn finds out all that answering r depends on.
func (e *Engine) turn(ctx context.Context, pulse *wait.Pulse, r *chat.Request) (*turn, error) {
	t, err := e.begin(ctx, pulse, r)
	if err != nil {
		return nil, err
	}
	t.rename()
	if t.facts, err = t.server.probe(ctx, t); err != nil {
		return nil, err
	}
	if err := t.possible(); err != nil {
		return nil, err
	}
	for _, step := range []func(){t.tidy, t.unloop, func() { t.size(ctx) }, t.weighTools} {
		if step(); ctx.Err() != nil {
			return nil, unfinished(ctx)
		}
	}
	t.strategy = t.choose()
	if e.cfg.Gate && len(r.Tools) > 0 && !r.Required && t.request.Messages[len(t.request.Messages)-1].Role == chat.User {
		t = t.gated(ctx)
	}
	if r.Required && !t.facts.chooses {
		t = t.under(t.forcedBy(t.callable(), r.MaxTokens))
	}
	return t, nil
}

// begin is what is known of r's turn without asking a server.
func (e *Engine) begin(ctx context.Context, pulse *wait.Pulse, r *chat.Request) (*turn, error) {
	name := r.Model
	if name == "" {
		name = e.cfg.DefaultModel
	}
	if name == "" {
		return nil, &fault.Error{Kind: fault.Invalid, Param: "model", Message: "the request names no model, and no default model is configured"}
	}
	if err := affordable(r); err != nil {
		return nil, err
	}
	t := &turn{engine: e, pulse: pulse, observer: chat.ObserverOf(ctx), request: r, name: e.real(name)}
	t.apart()
	var err error
	if t.server, t.model, err = e.route(ctx, t.name); err != nil {
		return nil, err
	}
	t.format = e.format(t)
	t.options, err = t.serverOptions()
	return t, err
}

// format is that of the turn's model: by configuration, by the demo's name, else by the model's name.
func (e *Engine) format(t *turn) *adapters.Format {
	name, ok := pattern.Find(e.cfg.Format, t.name)
	if !ok && t.server.name == demoName {
		name, ok = t.model, true
	}
	if ok {
		if f := e.cfg.formats().Named(name); f != nil {
			return f
		}
	}
	return e.cfg.formats().For(t.model)
}

// Models lists the models of every server, by the names that clients call them, and the aliases behind them. A server
// that cannot be reached is left out. Those of the demo are hidden as the configuration says.
func (e *Engine) Models(ctx context.Context) ([]chat.Info, error) {
	var all []chat.Info
	alone := true // no other server answers than the demo
	for i, s := range e.servers {
		list, err := s.list(ctx)
		if err != nil {
			e.cfg.Log.Debug().Err(err).Str("server", s.name).Msg("models left out")
			continue
		}
		alone = alone && s.name == demoName
		for _, m := range list {
			if i > 0 {
				m.ID = s.name + "/" + m.ID
			}
			all = append(all, m)
		}
	}
	for i := range all {
		all[i].Hidden = strings.HasPrefix(all[i].ID, demoName+"/") && !alone && e.cfg.Demos != DemoAlways
	}
	for _, name := range slices.Sorted(maps.Keys(e.cfg.Aliases)) {
		all = append(all, chat.Info{ID: name, Owner: "toolnorm"})
	}
	return all, ctx.Err()
}
