package engine

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/ollama"
	"toolnorm/engine/reduce"
	"toolnorm/engine/upstream"
	"toolnorm/engine/valid"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
	"toolnorm/internal/kept"
	"toolnorm/internal/pattern"
)

// Engine implements chat.Model and chat.Catalog over model servers: Ollama, the demo models, and
// those that are configured. It is safe for concurrent use. Between requests it keeps only caches
// and the memories of its servers, each with a lock of its own.
type Engine struct {
	cfg     Config
	servers []*server // the models of the first server have no prefix
	schemas valid.Cache
	reduced reduce.Cache
	odd     kept.Cache[struct{}] // schemas that cannot be used
	carried kept.Cache[trial]    // whether a family can write the name of a tool
}

var (
	_ chat.Model   = (*Engine)(nil)
	_ chat.Catalog = (*Engine)(nil)
	_ chat.Counter = (*Engine)(nil)
)

// New returns an Engine for the servers in cfg. It sends no requests, so the servers need not be
// running yet. The parts of cfg that Validate refuses are ignored. The servers are in order: the
// first one, whose models have no prefix, then the demo, then the upstreams as configured.
func New(cfg Config) *Engine {
	if cfg.Demo.Formats == nil {
		cfg.Demo.Formats = cfg.Formats
	}
	bases, err := ollama.ParseHosts(cfg.Ollama)
	if err != nil {
		cfg.Log.Error().Err(err).Msg("using Ollama's default address")
		bases, _ = ollama.ParseHosts("")
	}
	e := &Engine{cfg: cfg,
		servers: []*server{oneOrPool(firstName, bases, func(base string) *server {
			return &server{name: firstName, backend: newOllama(firstName, base, nil)}
		})}}
	if cfg.Demos != DemoNever {
		d := newOllama("toolnorm", "http://demo", upstream.InProcess(&cfg.Demo))
		d.ReadsSchemas = true
		e.servers = append(e.servers, &server{name: demoName, backend: d, memory: new(memory)})
	}
	for _, u := range cfg.Upstreams {
		s, err := newServer(u)
		if err != nil {
			cfg.Log.Error().Err(err).Str("server", u.Name).Msg("upstream left out")
			continue
		}
		e.servers = append(e.servers, s)
	}
	known := cfg.Remember.open(cfg.Log)
	for _, s := range e.servers {
		if s.name != demoName {
			s.memory.server, s.memory.notes, s.memory.formats = s.name, known, cfg.formats()
		}
	}
	return e
}

// Stream implements chat.Model: it returns the events of the reply to r. The last event is always a
// Finish or an error, because clients that see neither keep waiting, or take half a reply for a
// whole one.
func (e *Engine) Stream(ctx context.Context, r *chat.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		t := e.newTurn(root(e.Real(r.Model), r))
		defer t.end()
		var wedged error
		for {
			err := e.attempt(ctx, t, r, wedged, yield)
			switch {
			case err == nil:
				return
			case silent(err):
				wedged = err
			}
		}
	}
}

// attempt makes one attempt at an answer and yields its events. It returns nil if the attempt is
// final. Otherwise it returns an error that it has not yielded, and the caller must make another
// attempt. There are two such errors: the model did not begin to write in time, and the setting
// Unwedge is on; or a server failed, and the request can be sent again elsewhere. After the first
// of these the caller passes that error as prev to the next attempt, which then unloads the model
// before it asks. If unloading does not help, attempt yields prev.
func (e *Engine) attempt(ctx context.Context, t *turn, r *chat.Request, prev error,
	yield func(chat.Event, error) bool) error {
	s, name := e.place(cmp.Or(r.Model, e.cfg.DefaultModel))
	ctx, pulse := wait.NewPulse(t.context(ctx), chat.ObserverOf(ctx).Pulse,
		t.timeouts(s.pool != nil))
	defer pulse.Stop()
	pulse.For(name)
	if prev != nil && !e.unwedge(ctx, pulse, r) {
		yield(chat.Event{}, prev)
		return nil
	}
	said := false // once the client has received something, there is no second attempt
	for ev, err := range e.answer(ctx, pulse, r) {
		if err != nil && !said && (e.cfg.Unwedge && prev == nil && silent(err) ||
			t.elsewhere(ctx, err)) {
			return err
		}
		if prev != nil && ev.Kind == chat.Finish {
			ev = withStep(ev, stepUnwedged)
		}
		said = true
		pulse.Spoke()
		if err != nil {
			err = e.advised(ctx, t.told(err), r.Model)
		}
		if !yield(ev, err) || err != nil {
			return nil
		}
	}
	return nil
}

// answer prepares a request and returns its reply. An error is part of the reply. A completion is
// not prepared, because it has no tools, no history and no template.
func (e *Engine) answer(ctx context.Context, pulse *wait.Pulse, r *chat.Request) events {
	if r.Continue != nil {
		return e.complete(ctx, pulse, r)
	}
	j, err := e.prepare(ctx, pulse, r)
	if err != nil {
		return errorReply(err)
	}
	return j.answer(ctx)
}

// stepUnwedged is the name of this change: a model that did not begin to write was unloaded, and
// asked again.
const stepUnwedged = "unwedged"

// silent reports whether err says that a model did not begin to write in time. Only then does
// reloading the model help. If a model stops in the middle, something was sent already, and the
// reply cannot begin again.
func silent(err error) bool {
	f := fault.From(err)
	return f.Kind == fault.Timeout && f.Code == wait.FirstByteTimeout
}

// unwedge unloads the model of a request that was not answered, and reports whether asking again
// may help. Ollama may lose a runner's slot for good when a client leaves between two tokens (seen
// on 0.34), and a parser of calls may hang (before 0.32.15). After that every request waits without
// an answer until the model is reloaded. unwedge is called only if the settings allow it, since
// others may be using the model.
func (e *Engine) unwedge(ctx context.Context, p *wait.Pulse, r *chat.Request) bool {
	j, err := e.begin(ctx, p, r)
	if err != nil {
		return false
	}
	u, ok := j.server.backend.(unloader) // other backends cannot unload
	if !ok {
		return false
	}
	log := e.cfg.Log.With().Str("model", j.name).Logger()
	gone, err := u.Unload(ctx, p, j.model)
	if err != nil || !gone {
		log.Warn().Err(err).Bool("unloaded", gone).Msg(
			"a model that does not answer was not unloaded: it is not loaded, or still in use")
		return false
	}
	log.Warn().Msg(
		"a model that did not answer was unloaded, and is asked once more (setting unload-stuck)")
	return true
}

// begin returns a job with everything about r that is known without asking the model. It asks a
// server only if the server's kind must be found out. Schemas that are too large are refused first,
// before any code processes them. It returns an error if the request is wrong (fault.Invalid),
// there is no such server or model (NotFound), or the server cannot be reached.
func (e *Engine) begin(ctx context.Context, pulse *wait.Pulse, r *chat.Request) (*job, error) {
	name := cmp.Or(r.Model, e.cfg.DefaultModel)
	if name == "" {
		return nil, fault.Wrong("model",
			"the request names no model, and no default model is configured")
	}
	if err := cmp.Or(affordable(r), sayable(r)); err != nil {
		return nil, err
	}
	j := &job{target: target{engine: e, observer: chat.ObserverOf(ctx), name: e.Real(name)},
		pulse: pulse, request: r}
	var err error
	if j.server, j.model, err = e.route(ctx, j.name); err != nil {
		return nil, err
	}
	j.format = e.format(j.server, j.name, j.model)
	return j, nil
}

// format returns the format in which a model writes calls. The settings may name one for the
// parameter name, which is the client's name of the model with aliases resolved, so that a model is
// read alike under every alias. A demo model has the name of its format. For all other models the
// format is chosen by the parameter model, the name at the server.
func (e *Engine) format(s *server, name, model string) *adapters.Format {
	format, ok := pattern.Find(e.cfg.Format, name)
	if !ok && s.name == demoName {
		format, ok = model, true
	}
	if ok {
		if f := e.cfg.formats().Named(format); f != nil {
			return f
		}
	}
	return e.cfg.formats().For(model)
}

// Models implements chat.Catalog: it lists the models of every server, by the names that clients
// use, followed by the aliases. A server that cannot be reached is left out. The only error that it
// returns is that of an ended context. The demo's models are hidden as configured, because 70 of
// them among the user's own would make a menu of models useless.
func (e *Engine) Models(ctx context.Context) ([]chat.Info, error) {
	var all []chat.Info
	alone := true // only the demo answers
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
		all[i].Hidden = strings.HasPrefix(all[i].ID, demoName+"/") && !alone &&
			e.cfg.Demos != DemoAlways
	}
	for _, name := range slices.Sorted(maps.Keys(e.cfg.Aliases)) {
		if strings.Contains(name, "*") { // a pattern is not a name
			continue
		}
		all = append(all, chat.Info{ID: name, Owner: "toolnorm"})
	}
	return all, ctx.Err()
}
