package engine

import "toolnorm/chat"

// defaultRepeat is how long a text may repeat itself, if the configuration does not say: some 2,000 tokens of nothing new.
const defaultRepeat = 8 << 10

// stepRepetition is the name of the end of a reply that would have had none.
const stepRepetition = "repetition"

// unending is src, ended when the model goes on repeating itself: by itself it would stop at its limit of tokens, if there
// is one.
func (t *turn) unending(src chat.Source) chat.Source {
	limit := t.engine.cfg.MaxRepeat
	if limit == 0 {
		limit = defaultRepeat
	}
	if src == nil || limit < 0 {
		return src
	}
	return &unending{Source: src, t: t, limit: limit}
}

// unending watches one generation.
type unending struct {
	chat.Source
	t     *turn
	limit int // bytes
	bytes int // that were read
	text  repetition
	over  chat.Source // what comes instead of the rest; nil: the rest does
}

// Next passes the next event on. Behind the one with which the repetition is long enough the reply ends: the server is told
// to stop, and its counts are estimated.
func (u *unending) Next() (chat.Event, error) {
	if u.over != nil {
		return u.over.Next()
	}
	ev, err := u.Source.Next()
	switch {
	case err != nil:
	case ev.Kind == chat.Text, ev.Kind == chat.Reasoning, ev.Kind == chat.CallArgs:
		u.bytes += len(ev.Text)
		if u.text.write(ev.Text) >= u.limit {
			u.end()
		}
	case ev.Kind == chat.Finish && metaOf(ev).Cause == chat.RepeatAbort:
		meta := *ev.Meta
		meta.Repairs = []string{stepRepetition}
		ev.Meta = &meta
	}
	return ev, err
}

// end stops the server and makes up the end.
func (u *unending) end() {
	_ = u.Source.Close() // what is left of it is not wanted
	u.t.engine.cfg.Log.Warn().Str("model", u.t.name).Int("bytes", u.text.run).Msg("the model repeats itself without end: the reply is ended (setting max-repeat)")
	counts := &chat.Counts{Prompt: u.t.estimate(), Completion: u.bytes / 4, Estimated: true}
	u.over = &chat.Fixed{
		{Kind: chat.Usage, Meta: &chat.Meta{Usage: counts}},
		{Kind: chat.Finish, Text: chat.Length, Meta: &chat.Meta{Cause: "the model repeated itself without end", Repairs: []string{stepRepetition}}},
	}
}
