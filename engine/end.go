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
			meta := chat.Meta{}
			if ev.Meta != nil {
				meta = *ev.Meta
			}
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
