package engine

import (
	"context"
	"strings"

	"github.com/rs/zerolog"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// Strategy clone is the only part of this program that changes anything on a model server, and it is never chosen unless
// the settings name it. A clone has its model's weights (no byte is copied), template and parameters, and another parser.

// cloned begins a reply of the clone of the turn's model.
func (o *ollama) cloned(ctx context.Context, t *turn, body *upstream.ChatRequest) (chat.Source, string, error) {
	name, err := o.clone(ctx, t)
	if err != nil {
		return nil, "", curable(err)
	}
	q := *body
	q.Model = name
	tail, err := o.cloneTail(ctx, t, q)
	if err != nil {
		return nil, "", curable(err)
	}
	q.Stream = true
	src, err := o.client.Chat(ctx, t.pulse, &q)
	if err != nil {
		if fault.From(err).Kind == fault.NotFound { // somebody has removed it
			err = curable(err)
		}
		return nil, "", err
	}
	return src, tail, nil
}

// curable is err as one that another strategy may cure, if the server has said no to a clone: its model may do. A server
// that is busy, silent or gone has said nothing.
func curable(err error) error {
	f := *fault.From(err)
	switch f.Kind {
	case fault.Invalid, fault.NotFound, fault.Unable, fault.Unavailable:
		f.Curable = f.Cause == nil && f.Code != "context_length_exceeded"
	}
	return &f
}

// cloneTail is the end of the clone's prompt, empty when the server does not tell.
func (o *ollama) cloneTail(ctx context.Context, t *turn, q upstream.ChatRequest) (string, error) {
	if !t.facts.render {
		return "", nil
	}
	q.Options = with(q.Options, "num_predict", 1)
	prompt, err := o.client.Render(ctx, t.pulse, &q)
	return strings.Clone(prompt[max(len(prompt)-tailLength, 0):]), err
}

// clone is the name of the clone, which is made if the server does not list it, and compared with its model once.
func (o *ollama) clone(ctx context.Context, t *turn) (string, error) {
	name := t.facts.clone
	if name == t.model {
		return name, nil
	}
	o.mu.Lock()
	_, listed := o.digests[name]
	checked := o.checked[name]
	o.mu.Unlock()
	if !listed {
		if err := o.makeClone(ctx, t); err != nil {
			return "", err
		}
	}
	if checked {
		return name, nil
	}
	if err := o.checkClone(ctx, t); err != nil {
		return "", err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.checked[name] = true
	return name, nil
}

// makeClone makes the clone, and removes those that are of no use any more: that one, too, if the model was replaced
// meanwhile.
func (o *ollama) makeClone(ctx context.Context, t *turn) error {
	show, err := o.client.Show(ctx, t.model)
	if err != nil {
		return err
	}
	name, log := t.facts.clone, t.engine.cfg.Log
	if err := o.client.Derive(ctx, name, t.model, passthrough, show.Capabilities); err != nil {
		return err
	}
	log.Info().Str("model", t.model).Str("clone", name).Msg("clone made")
	digests, err := o.list(ctx)
	if err != nil {
		return err
	}
	o.sweep(ctx, log, digests)
	if stale(name, digests) {
		return fault.New(fault.Unavailable, "the model changed while it was made")
	}
	return nil
}

// sweep removes the clones whose model is gone, or is another one by now.
func (o *ollama) sweep(ctx context.Context, log zerolog.Logger, digests map[string]string) {
	for name := range digests {
		if stale(name, digests) {
			o.dropClone(ctx, log, name)
		}
	}
}

// stale says that name is a clone's, of a model that the server has no more with that digest.
func stale(name string, digests map[string]string) bool {
	model, digest, ok := originalOf(name)
	return ok && !strings.HasPrefix(strings.TrimPrefix(digests[model], "sha256:"), digest)
}

// dropClone removes a clone. One that stays costs a few hundred bytes, so nothing fails for it.
func (o *ollama) dropClone(ctx context.Context, log zerolog.Logger, name string) {
	if err := o.client.Remove(ctx, name); err != nil {
		log.Warn().Err(err).Str("clone", name).Msg("clone not removed")
		return
	}
	log.Info().Str("clone", name).Msg("clone removed")
}

// checkClone makes sure that the server shows the clone the same prompts as its model; one that it does not is removed.
func (o *ollama) checkClone(ctx context.Context, t *turn) error {
	if !t.facts.render {
		return nil
	}
	want, err := o.client.Render(ctx, t.pulse, probeRequest(t, t.model, t.facts.tools))
	if err != nil {
		return err
	}
	got, err := o.client.Render(ctx, t.pulse, probeRequest(t, t.facts.clone, t.facts.tools))
	if err == nil && got != want {
		o.dropClone(ctx, t.engine.cfg.Log, t.facts.clone)
		err = fault.New(fault.Unavailable, "the server renders its prompts in another way")
	}
	return err
}
