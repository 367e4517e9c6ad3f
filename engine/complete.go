package engine

import (
	"cmp"
	"context"

	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// complete returns the reply to a request that continues a text. If the request fails, the reply is
// only the error. Of the usual stages of a reply it passes only two, which check the form of an
// answer and complete the end. There are no calls to look for, and what editors send (code before
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

// Embed implements chat.Embedder. It returns the vectors of r's texts, or an error if no server can
// answer. It also returns an error if the number of vectors differs from the number of texts.
// Clients pair vectors and texts by position, and would store texts under the vectors of other
// texts. Embed sends no keep-alives, since nothing can be written before the answer, which is one
// document.
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

// embed asks one server for the vectors of texts. It returns an error if the server fails, sends
// the wrong number of vectors, or sends vectors that are empty or differ in length.
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
	if err != nil {
		return nil, err
	}
	if len(got.Vectors) != len(r.Input) {
		return nil, fault.New(fault.Unavailable, "the model server sent %d vectors for %d texts",
			len(got.Vectors), len(r.Input))
	}
	for _, v := range got.Vectors {
		if len(v) == 0 || len(v) != len(got.Vectors[0]) {
			return nil, fault.New(fault.Unavailable,
				"the model server sent vectors that are empty or differ in length")
		}
	}
	return got, nil
}
