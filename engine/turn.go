package engine

import (
	"context"
	"maps"
	"time"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// turn is one request of a client, with the servers that are asked for it. Everything that is asked
// for one reply goes to one server with one key. Another server is asked only while nothing of the
// reply was sent to the client.
type turn struct {
	engine *Engine
	key    string
	began  time.Time
	again  bool // a second key was tried

	pool    *pool
	model   string            // by its servers' name
	at      *member           // the server that is asked; nil: none yet, or no pool
	tried   map[*member]error // servers that failed, with their errors
	patient bool              // all servers are full, so the last one is waited for
}

// turnKey is the key under which a context stores its turn.
type turnKey struct{}

// newTurn returns the turn of a client's request. The parameter key identifies the conversation of
// the request. The caller must call the turn's method end.
func (e *Engine) newTurn(key string) *turn { return &turn{engine: e, key: key, began: time.Now()} }

// context returns the context for an attempt. Requests under this context carry the conversation's
// key, and go to the server that the turn has chosen.
func (t *turn) context(ctx context.Context) context.Context {
	return context.WithValue(upstream.WithConversation(ctx, t.key), turnKey{}, t)
}

// end ends the turn's request, so that it is no longer included in the server's running requests.
func (t *turn) end() {
	if t.at != nil {
		t.pool.give(t.at)
		t.at = nil
	}
}

// timeouts returns the time limits of the next attempt at a reply, reduced by the time that earlier
// attempts took. If pooled is true, so that another server may be asked instead, the attempt does
// not wait in the queue of a full server.
func (t *turn) timeouts(pooled bool) wait.Timeouts {
	limits := t.engine.cfg.Timeouts
	if len(t.tried) > 0 {
		limits = limits.After(time.Since(t.began))
	}
	if pooled && !t.patient {
		limits.Queue = -1
	}
	return limits
}

// choose chooses the server of the pool p that this turn asks next. It returns an error if no
// server with the model answers.
func (t *turn) choose(ctx context.Context, p *pool, model string) error {
	t.pool, t.model = p, model
	t.at = p.take(t.left(ctx))
	switch {
	case t.at == nil:
		return p.allAway(model, t.tried)
	case len(t.tried) > 0:
		t.engine.cfg.Log.Warn().Str("server", p.name).Str("at", t.at.at).Str("model", model).Int(
			"tried", len(t.tried)).Msg("another model server of the pool is asked")
	}
	return nil
}

// left returns the servers that may still be asked. These are the servers that were not tried, or,
// if all were tried, those that are only busy.
func (t *turn) left(ctx context.Context) []*member {
	not := t.tried
	if t.patient {
		not = maps.Clone(t.tried)
		maps.DeleteFunc(not, func(_ *member, err error) bool {
			return fault.From(err).Kind == fault.Busy
		})
	}
	return t.pool.candidates(ctx, t.key, t.model, not)
}

// elsewhere reports whether the request should be asked once more, of another server or with
// another key. If so, it also releases the server that failed. It must be called only for errors
// that come before any part of the reply was sent. It returns false for errors about the request
// itself, which the next server would return as well.
func (t *turn) elsewhere(ctx context.Context, err error) bool {
	f := fault.From(err)
	switch {
	case ctx.Err() != nil:
		return false
	case t.at != nil:
		if t.patient || !t.at.failed(f) {
			return false
		}
		if t.tried == nil {
			t.tried = map[*member]error{}
		}
		t.tried[t.at] = err
		if len(t.left(ctx)) == 0 {
			t.patient = true
		}
		if len(t.left(ctx)) == 0 {
			return false
		}
		t.end()
		return true
	}
	// At one address there may be several servers, of which some do not have the model.
	if f.Kind != fault.NotFound || f.Param != "model" || t.again {
		return false
	}
	t.again, t.key = true, t.key+"-2"
	return true
}

// told returns the error that the client gets in place of err. If every server of a pool has
// failed, it is an error that names all of the servers. Otherwise it is err itself.
func (t *turn) told(err error) error {
	if t.at == nil || fault.From(err).Kind != fault.Unavailable || t.tried[t.at] == nil {
		return err
	}
	return t.pool.allAway(t.model, t.tried)
}

// failed records that a server did not answer, and reports whether another one may answer.
func (m *member) failed(f *fault.Error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch f.Kind {
	case fault.Unavailable:
		m.away, m.listed = f, time.Now()
	case fault.Busy: // that is load
		m.full = time.Now().Add(fullAge)
	case fault.NotFound:
		m.listed = time.Time{}
	default:
		return false
	}
	return true
}

// root returns the key of the conversation that a request belongs to. It is made of the model, the
// tools and everything before the first answer, which clients repeat with every turn.
func root(model string, r *chat.Request) string {
	var k upstream.Root
	k.Add(model)
	if r.Continue != nil {
		k.Add(r.Continue.Prompt[:min(len(r.Continue.Prompt), continuedRoot)])
		return k.Key()
	}
	// what a client puts before the first question may be a message of its own
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Role != chat.System && m.Role != chat.User {
			break
		}
		k.Add(m.Content)
		for _, image := range m.Images {
			k.Add(string(image[:min(len(image), continuedRoot)]))
		}
	}
	for i := range r.Tools {
		if !r.Tools[i].Found { // it comes in the middle of a conversation
			k.Add(r.Tools[i].Name) // their schemas are long, and tell no two conversations apart
		}
	}
	return k.Key()
}

// continuedRoot is how many bytes of a text to be continued count. The beginning of a file stays
// the same while its user types further down.
const continuedRoot = 1 << 10

// embedRoot returns a key for a request for vectors. It selects the server, and only spreads the
// requests, because no server has a cache that helps with vectors.
func embedRoot(model string, r *chat.EmbedRequest) string {
	var k upstream.Root
	k.Add(model)
	if len(r.Input) > 0 {
		k.Add(r.Input[0])
	}
	return k.Key()
}
