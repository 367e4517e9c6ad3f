package engine

import (
	"context"

	"toolnorm/chat"
)

// source opens the source of one generation, which generation names: the request's listener, if it has one, is told all
// that comes from it.
func (t *turn) source(ctx context.Context, generation string) (src chat.Source, tail string, err error) {
	src, tail, err = t.opened(ctx)
	return heard(t.request, generation, t.unending(t.metered(src, generation))), tail, err
}

// heard is src with r's listener in front, if it has one.
func heard(r *chat.Request, generation string, src chat.Source) chat.Source {
	if r.Heard == nil || src == nil {
		return src
	}
	return &listened{src, r.Heard(generation)}
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
