package engine

import (
	"context"

	"toolnorm/chat"
)

// source opens the source of one generation, which generation names, and observes it.
func (t *turn) source(ctx context.Context, generation string) (src chat.Source, tail string, err error) {
	src, tail, err = t.opened(ctx)
	return heard(t.observer, generation, t.unending(t.metered(src, generation))), tail, err
}

// heard calls the observer with every event of src, before anything is read from it.
func heard(o *chat.Observer, generation string, src chat.Source) chat.Source {
	if o.OnGeneration == nil || src == nil {
		return src
	}
	return &listened{src, o.OnGeneration(generation)}
}

// listened is a source that tells what comes from it.
type listened struct {
	chat.Source
	hear func(chat.Event)
}

// Next passes the next event on.
func (l *listened) Next() (chat.Event, error) {
	ev, err := l.Source.Next()
	if err == nil {
		l.hear(ev)
	}
	return ev, err
}
