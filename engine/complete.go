package engine

import (
	"cmp"
	"context"

	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// complete starts a completion, which continues a text. Of the stages of a reply only the form of
// the answer and the end apply: there are no calls to look for, and what editors send (code before
// and after the cursor) must come back byte for byte.
func (e *Engine) complete(ctx context.Context, pulse *wait.Pulse, r *chat.Request) events {
	j, err := e.begin(ctx, pulse, r)
	if err != nil {
		return errorReply(err)
	}
	src, err := j.server.Complete(ctx, j.orderFor(r))
	if err != nil {
		return errorReply(err)
	}
	k := *j
	k.format, k.strategy = nil, Raw // no format is looked for
	src = k.watched(r, src, Raw)
	return finish(ctx, k.format, k.strategy, j.formatAnswer(ctx, closing(src, all(src))))
}

var _ chat.Embedder = (*Engine)(nil)

// Embed returns the vectors of r's texts. See chat.Embedder. It fails when a server sends fewer
// vectors than texts: clients pair them by position, and would file texts under others' vectors.
// There are no heartbeats: the answer is one document, and nothing can be written before it.
func (e *Engine) Embed(ctx context.Context, r *chat.EmbedRequest) (*chat.Embeddings, error) {
	name := cmp.Or(r.Model, e.cfg.DefaultModel)
	t := e.newTurn(embedRoot(e.Real(name), r))
	defer t.end()
	for {
		got, err := e.embed(ctx, t, name, r)
		if err == nil || !t.elsewhere(ctx, err) {
			return got, t.told(err)
		}
	}
}

// embed asks one server for the vectors of texts.
func (e *Engine) embed(ctx context.Context, t *turn, name string, r *chat.EmbedRequest) (
	*chat.Embeddings, error) {
	ctx = t.context(ctx)
	s, model, err := e.route(ctx, name)
	if err != nil {
		return nil, err
	}
	ctx, pulse := wait.NewPulse(ctx, nil, t.timeouts(t.at != nil))
	defer pulse.Stop()
	pulse.For(model)
	got, err := s.Embed(ctx, pulse, model, r)
	if err == nil && len(got.Vectors) != len(r.Input) {
		err = fault.New(fault.Unavailable, "the model server sent %d vectors for %d texts",
			len(got.Vectors), len(r.Input))
	}
	return got, err
}
