package engine

import (
	"fmt"

	"toolnorm/chat"
	"toolnorm/engine/window"
)

// metered is a source whose counts of tokens teach the model's meter, and tell of a conversation that the server has cut.
// Generations that mend a reply have other prompts, and are left alone.
func (t *turn) metered(src chat.Source, generation string) chat.Source {
	if src == nil || t.force != nil || generation != t.strategy {
		return src
	}
	return &metered{Source: src, t: t, bytes: window.Bytes(t.request)}
}

// metered watches one reply.
type metered struct {
	chat.Source
	t     *turn
	bytes int // of the request
	done  bool
}

// Next passes the next event on.
func (m *metered) Next() (chat.Event, error) {
	ev, err := m.Source.Next()
	if err == nil && !m.done && ev.Meta != nil && ev.Meta.Usage != nil && !ev.Meta.Usage.Estimated {
		m.done = true
		m.t.counted(m.bytes, *ev.Meta.Usage)
	}
	return ev, err
}

const (
	mostBytes  = 12  // more than a token stands for in any text that is a conversation
	fewestRead = 256 // how many tokens a count must fall short by to mean something
)

// counted takes what a server has counted of a request of so many bytes.
func (t *turn) counted(bytes int, c chat.Counts) {
	why := ""
	switch {
	case c.Prompt <= 0:
		return
	case t.window > 0 && c.Prompt >= t.window:
		why = fmt.Sprintf("the server read %d tokens, all that its context holds: it has cut the conversation", c.Prompt)
	case t.strategy != Raw && t.strategy != Tokens && bytes > mostBytes*(c.Prompt+fewestRead):
		why = fmt.Sprintf("the server read %d tokens of at least %d: it has cut the conversation", c.Prompt, bytes/mostBytes)
	case t.window == 0 && c.Prompt >= 2048 && c.Prompt%1024 == 0 && t.meter().Estimate(bytes) > c.Prompt+c.Prompt/10:
		why = fmt.Sprintf("the server read exactly %d tokens of about %d: it has probably cut the conversation to its context", c.Prompt, t.meter().Estimate(bytes))
	case t.window > 0 && c.Prompt+c.Completion > t.window:
		why = fmt.Sprintf("the reply went on past the context of %d tokens: the server has dropped the beginning meanwhile", t.window)
	}
	if why == "" {
		t.learn(func(l *lessons) { l.meter.Learn(bytes, c.Prompt) })
		return
	}
	t.engine.cfg.Log.Warn().Str("model", t.name).Int("prompt_tokens", c.Prompt).Int("context", t.window).Msg(why)
	t.tell(noteTruncated, why)
}
