package engine

import (
	"cmp"
	"context"
	"errors"
	"io"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/window"
	"toolnorm/internal/fault"
)

// maxOpenings is how often one reply may be asked for. The engine asks again while the server
// refuses the request for something that can be changed: the order of its roles, its context
// length, or its oldest turns, whose tokens are an estimate that may be too low. A server that
// finds something else at each refusal must not keep a client waiting for ever.
const maxOpenings = 5

// source opens one generation with the hooks that watch it. The parameter generation is the
// generation's name. The result src is the source, and tail is the end of the prompt. The returned
// job is the one that the server accepted, whose context, messages or roles may differ from those
// of j. source returns an error if the server does not accept the request.
func (j *job) source(ctx context.Context, generation string) (
	_ *job, src chat.Source, tail string, err error) {
	j, src, tail, err = j.open(ctx)
	if err != nil {
		return j, nil, "", err
	}
	var hooks []chat.Hook
	// Generations that repair a reply have other prompts: their counts say nothing of this
	// request's bytes.
	if generation == j.strategy && j.force == nil {
		c := counter{&j.target, window.Bytes(j.request), j.context, j.strategy == Raw ||
			j.strategy == Tokens, j.meter}
		hooks = append(hooks, c.watch())
		if j.seen != nil {
			hooks = append(hooks, j.seen.hooks()...)
		}
	}
	return j, j.watched(j.request, src, generation, hooks...), tail, nil
}

// watched returns src with the given hooks, followed by the hooks that every generation has. The
// observer's hook comes last, so that it gets the same events as the decoder, including the end of
// a reply that repeats itself.
func (t *target) watched(r *chat.Request, src chat.Source, generation string,
	hooks ...chat.Hook) chat.Source {
	if limit := cmp.Or(t.engine.cfg.MaxRepeat, defaultRepeat); limit > 0 { // negative: for ever
		hooks = append(hooks, t.endRepetition(r, limit))
	}
	if t.observer.OnGeneration != nil {
		hooks = append(hooks, observe(t.observer.OnGeneration(generation)))
	}
	return chat.Watch(src, hooks...)
}

// seen is what is recorded of a reply before it is decoded.
type seen struct {
	tokens *gathered // the tokens with their probabilities; nil: they are not wanted
	pace   *pace     // how fast the model writes; nil: calls are held back by size and not by time
	end    string    // why the model ended; empty: it has not ended
}

// hooks returns the hooks that record how a model's reply ended, its tokens and its pace.
func (s *seen) hooks() []chat.Hook {
	all := []chat.Hook{func(ev chat.Event, err error) (chat.Event, chat.Source) {
		if err == nil && ev.Kind == chat.Finish {
			s.end = ev.Text
		}
		return ev, nil
	}}
	if s.tokens != nil {
		all = append(all, s.tokens.gather)
	}
	if s.pace != nil {
		all = append(all, s.pace.watch)
	}
	return all
}

// observe returns a hook that calls the function hear with every event, before the event is
// decoded.
func observe(hear func(chat.Event)) chat.Hook {
	return func(ev chat.Event, err error) (chat.Event, chat.Source) {
		if err == nil {
			hear(ev)
		}
		return ev, nil
	}
}

// open asks the server for a reply. If the server refuses the request for its length or for the
// order of its roles, open changes the request and asks again, up to maxOpenings times. It returns
// the job that was accepted, the source of the reply and the end of the prompt, or the last error.
// A refusal comes some milliseconds later, before anything is generated, so asking again costs next
// to nothing.
func (j *job) open(ctx context.Context) (_ *job, src chat.Source, tail string, err error) {
	// a text that is continued has a fixed prompt, which nothing can shorten
	if j.request.Continue != nil {
		src, err = j.server.Complete(ctx, j.orderFor(j.request))
		return j, src, "", err
	}
	for range maxOpenings {
		if src, tail, err = j.server.Open(ctx, j.order(ctx)); err == nil {
			return j, src, tail, nil
		}
		var over *upstream.Overflow
		if errors.As(err, &over) {
			k, long := j.shrink(ctx, over)
			if long != nil {
				return j, nil, "", long
			}
			j = k
			continue
		}
		k := j.stricter(fault.From(err))
		if k == nil {
			return j, nil, "", err
		}
		j = k
	}
	return j, nil, "", err
}

// all returns the events that a source returns, unchanged. An error of the source is the last
// event.
func all(src chat.Source) events {
	return func(yield func(chat.Event, error) bool) {
		for {
			ev, err := src.Next()
			if errors.Is(err, io.EOF) || !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// closing returns the given events, and closes their source when the loop over them ends: at the
// end of the reply, after a break, or in a panic. A model whose reply is not read must not go on
// writing, because Ollama answers one request at a time by default, and the next request waits for
// it.
func closing(src chat.Source, in events) events {
	return func(yield func(chat.Event, error) bool) {
		defer src.Close()
		in(yield)
	}
}

// whole asks the model, and returns the text that it writes, undecoded, and how many tokens that
// took. The parameter generation names this generation for the observer. It returns an error if the
// generation fails, or if the text is cut. A cut text is useless, because whole is used for JSON.
func (j *job) whole(ctx context.Context, generation string) (
	text string, counts chat.Counts, err error) {
	_, src, _, err := j.source(ctx, generation)
	if err != nil {
		return "", counts, err
	}
	defer src.Close()
	var reply chat.Collector
	for ev, err := range all(src) {
		if err != nil {
			return "", reply.Usage, err
		}
		reply.Add(ev)
	}
	if reply.End == nil || reply.End.Text != chat.Stop {
		return "", reply.Usage, fault.New(fault.Unavailable, "the model's reply was cut")
	}
	return reply.Text.String(), reply.Usage, nil
}
