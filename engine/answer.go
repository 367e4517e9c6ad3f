package engine

import (
	"context"
	"iter"
	"sync"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// answer is the reply by the turn's strategy. When that fails before anything has left, in a way that another strategy may
// cure, the next one takes over, once; if it does better, it is the model's strategy from then on.
func (t *turn) answer(ctx context.Context) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		first, next := t.strategy, t.next()
		why := t.try(ctx, yield, next != "")
		if why == "" {
			return
		}
		t.strategy = next
		t.engine.cfg.Log.Warn().Str("model", t.model).Str("strategy", first).Str("says", why).Str("next", next).
			Msg("the strategy failed, another one takes over")
		better := sync.OnceFunc(func() { t.learn(func(l *lessons) { l.avoid(first) }) })
		t.try(ctx, func(ev chat.Event, err error) bool {
			if err == nil {
				better()
			}
			return yield(ev, err)
		}, false)
	}
}

// swallowed is why a reply failed of which nothing came though the model wrote something.
const swallowed = "the server passed on nothing of what the model wrote"

// try yields the reply by the turn's strategy. If curable is set, a failure that another strategy may cure, and before
// which nothing was yielded, is not yielded either: try says why it failed instead.
func (t *turn) try(ctx context.Context, yield func(chat.Event, error) bool, curable bool) string {
	if t.observer.OnPlan != nil {
		t.observer.OnPlan(t.format.Name, t.strategy)
	}
	if t.strategy == Prompt {
		t.wording = t.wordingOf(ctx)
	}
	var usage *chat.Event // held as long as it is all that came
	for ev, err := range t.open(ctx) {
		if curable {
			switch {
			case err != nil:
				if f := fault.From(err); f.Curable {
					return f.Message
				}
			case ev.Kind == chat.Usage:
				usage = &ev
				continue
			case ev.Kind == chat.Finish && t.swallowed(usage, ev):
				return swallowed
			}
			curable = false
			if usage != nil && !yield(*usage, nil) {
				return ""
			}
		}
		if !yield(ev, err) {
			return ""
		}
	}
	return ""
}

// swallowed says whether a reply that is empty was not so when the model wrote it. One token is the end itself.
func (t *turn) swallowed(usage *chat.Event, end chat.Event) bool {
	return (t.strategy == Native || t.strategy == Tap) && end.Text == chat.Stop && usage != nil && usage.Meta.Usage.Completion > 1
}

// open begins the reply: what was read, checked, with the finishing touches.
func (t *turn) open(ctx context.Context) iter.Seq2[chat.Event, error] {
	events := t.sameCalls(t.read(ctx, t.strategy))
	if len(t.request.Tools) > 0 && !t.engine.cfg.Unchecked {
		events = t.guarded(ctx, events)
	}
	switch {
	case t.request.Required:
		events = mustCall(events)
	case t.answerForm != nil:
		events = t.formatted(ctx, events)
	}
	if t.spent != (chat.Counts{}) {
		events = counting(events, t.spent)
	}
	events = numbered(events, t.request.Messages)
	if t.ownStops() {
		events = stopped(events, t.request.Stop)
	}
	return ended(ctx, events, t.format.Name, t.strategy)
}

// read is the source of a generation, decoded.
func (t *turn) read(ctx context.Context, generation string) iter.Seq2[chat.Event, error] {
	src, tail, err := t.source(ctx, generation)
	if err != nil {
		return broken(err)
	}
	o := adapters.Options{Tools: t.callable(), Also: t.names.others(), Prompt: tail, Hold: t.hold(), Which: t.engine.cfg.Which, Quiet: t.engine.cfg.Quiet, Context: ctx}
	switch {
	case t.request.Logprobs: // with them each text belongs to its tokens, and there are no calls to look for
		return closing(src, all(src))
	case t.force != nil:
		o.Prompt = ""
		return closing(src, adapters.Named("hermes").Decode(&framed{Source: src}, o))
	}
	return closing(src, t.format.Decode(src, o))
}
