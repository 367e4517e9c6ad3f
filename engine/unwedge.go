package engine

import (
	"context"

	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// stepUnwedged is the name of what was done to a model that did not begin to write.
const stepUnwedged = "unwedged"

// unloader is a backend that can take a model out of its server's memory.
type unloader interface {
	// unload says whether the model was there, and is no more.
	unload(ctx context.Context, p *wait.Pulse, model string) (bool, error)
}

var _ unloader = (*ollama)(nil)

// silent says whether err is that of a model that did not begin to write in time.
func silent(err error) bool {
	f := fault.From(err)
	return f.Kind == fault.Timeout && f.Code == wait.FirstByteTimeout
}

// unwedge unloads the model of a request that was not answered, and says whether asking again may help. Ollama may lose a
// runner's place for ever when a client leaves between two tokens, and a reader of calls may hang: every later request waits
// in vain, until the model is loaded anew.
func (e *Engine) unwedge(ctx context.Context, p *wait.Pulse, r *chat.Request) bool {
	t, err := e.begin(ctx, p, r)
	if err != nil {
		return false
	}
	u, ok := t.server.backend.(unloader)
	if !ok {
		return false
	}
	log := e.cfg.Log.With().Str("model", t.name).Logger()
	gone, err := u.unload(ctx, p, t.model)
	if err != nil || !gone {
		log.Warn().Err(err).Bool("unloaded", gone).Msg("a model that does not answer was not unloaded: it is not loaded, or still in use")
		return false
	}
	log.Warn().Msg("a model that did not answer was unloaded, and is asked once more (setting unwedge)")
	return true
}

// unload takes a model out of the server's memory. See unloader.
func (o *ollama) unload(ctx context.Context, p *wait.Pulse, model string) (bool, error) {
	return o.client.Unload(ctx, p, fullName(model))
}
