package engine

import (
	"context"
	"errors"
	"iter"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// closing closes the source when the events are not wanted any more, whichever way that comes about.
func closing(src chat.Source, in iter.Seq2[chat.Event, error]) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		defer src.Close()
		in(yield)
	}
}

// ended sees to the end of a reply: a Finish that says how the reply was read, nothing behind it, and an error where
// there would be neither, or where the server gave up and no call stands. An empty reply is passed on as it is.
func ended(ctx context.Context, in iter.Seq2[chat.Event, error], format, strategy string) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		for ev, err := range in {
			if err != nil {
				yield(chat.Event{}, err)
				return
			}
			if ev.Kind != chat.Finish {
				if !yield(ev, nil) {
					return
				}
				continue
			}
			meta := metaOf(ev)
			if ev.Text == chat.Abandoned {
				yield(chat.Event{}, &fault.Error{Kind: fault.Unavailable, Message: "the model server says: " + meta.Cause, Curable: true})
				return
			}
			meta.Format, meta.Strategy = format, strategy
			ev.Meta = &meta
			yield(ev, nil)
			return
		}
		yield(chat.Event{}, unfinished(ctx))
	}
}

// metaOf is a copy of what an event says of the reply.
func metaOf(ev chat.Event) chat.Meta {
	if ev.Meta == nil {
		return chat.Meta{}
	}
	return *ev.Meta
}

// costing is an event with the tokens that were spent besides, if it counts tokens.
func costing(ev chat.Event, spent chat.Counts) chat.Event {
	meta := metaOf(ev)
	if meta.Usage == nil || spent == (chat.Counts{}) {
		return ev
	}
	sum := meta.Usage.Plus(spent)
	meta.Usage, ev.Meta = &sum, &meta
	return ev
}

// counting adds what was spent beforehand to the tokens of a reply.
func counting(in iter.Seq2[chat.Event, error], spent chat.Counts) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		for ev, err := range in {
			if err == nil && ev.Kind == chat.Usage {
				ev = costing(ev, spent)
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// unfinished says why a reply ended without a Finish: the context's cause if that has ended.
func unfinished(ctx context.Context) error {
	var f *fault.Error
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &f):
		return f
	case cause != nil:
		return &fault.Error{Kind: fault.Canceled, Message: "the client went away", Cause: cause}
	}
	return fault.New(fault.Unavailable, "the model server ended its reply in the middle")
}
