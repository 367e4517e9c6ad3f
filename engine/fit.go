package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/window"
	"toolnorm/internal/fault"
)

// maxOpenings is how often a reply is asked for whose request the server finds too long.
const maxOpenings = 5

// sizer is a backend that can be asked for a longer context.
type sizer interface {
	// size is the context that the turn's model gets for a request of that many tokens, the reply's among them, and has the
	// turn's options say so. 0: not known.
	size(ctx context.Context, t *turn, need int) int
}

var _ sizer = (*ollama)(nil)

// meter tells tokens by what is known of the turn's request, else of its model.
func (t *turn) meter() window.Meter {
	if t.counts.Tokens > 0 {
		return t.counts
	}
	return t.known().meter
}

// size asks for enough context: a fifth more than the estimate, and room for the reply.
func (t *turn) size(ctx context.Context) {
	tokens := t.meter().Estimate(window.Bytes(t.request))
	t.window = t.facts.window
	if s, ok := t.server.backend.(sizer); ok {
		t.window = s.size(ctx, t, tokens+tokens/5+window.Room(t.request.MaxTokens, t.most()))
	}
}

// most is the longest context that is asked for.
func (t *turn) most() int { return cmp.Or(t.engine.cfg.MaxCtx, window.Most) }

// opened asks the server for the reply, and again when it refuses the request for what can be done about.
func (t *turn) opened(ctx context.Context) (src chat.Source, tail string, err error) {
	for range maxOpenings {
		if src, tail, err = t.server.open(ctx, t); err == nil {
			return src, tail, nil
		}
		var over *upstream.Overflow
		switch {
		case errors.As(err, &over):
			if long := t.shrink(ctx, over); long != nil {
				return nil, "", long
			}
		case !t.stricter(fault.From(err)):
			return nil, "", err
		}
	}
	return nil, "", err
}

// shrink makes a request fit that the server has found too long: by a longer context, else by leaving out the oldest turns.
// The error is for the client, when neither can be done.
func (t *turn) shrink(ctx context.Context, over *upstream.Overflow) error {
	bytes := window.Bytes(t.request)
	tokens := over.Tokens
	if tokens == 0 { // all that is known is that it is longer
		tokens = max(t.meter().Estimate(bytes), t.window) * 3 / 2
	}
	t.counts = window.Meter{Bytes: bytes, Tokens: tokens}
	before := cmp.Or(over.Window, t.window)
	if s, ok := t.server.backend.(sizer); ok {
		t.window = s.size(ctx, t, tokens+window.Room(t.request.MaxTokens, t.most()))
		if t.window > before {
			return nil
		}
	}
	t.window = before
	if free := before - over.Tokens; over.Tokens > 0 && free >= window.Room(0, before) && t.request.MaxTokens > free {
		r := *t.request
		r.MaxTokens = free // the reply that the client allows was too long
		t.request = &r
		return nil
	}
	if t.engine.cfg.Overflow == Refuse || t.window == 0 || !t.trim(tokens) {
		return t.tooLong(tokens, over.Tokens > 0)
	}
	return nil
}

// trim leaves out the oldest turns of a conversation that takes so many tokens, and tells the client. It fails when too
// little may be left out.
func (t *turn) trim(tokens int) bool {
	excess := tokens + window.Room(t.request.MaxTokens, t.window) - t.window
	meter := t.meter()
	cut := window.Trim(t.request.Messages, excess, t.window/4, func(m chat.Message) int { return meter.Estimate(window.MessageBytes(m)) })
	if cut.Dropped == 0 || tokens-cut.Freed > t.window {
		return false
	}
	r := *t.request
	r.Messages = cut.Messages
	t.request = &r
	t.dropped += cut.Dropped
	text := fmt.Sprintf("the %d oldest messages, about %d tokens, were left out: the conversation is longer than the context of %d tokens", t.dropped, cut.Freed, t.window)
	t.engine.cfg.Log.Warn().Str("model", t.name).Int("messages", t.dropped).Int("tokens", cut.Freed).Int("context", t.window).Str("bound_by", t.boundBy()).
		Msg("the oldest messages were left out: the conversation is longer than the context")
	t.tell(noteTrimmed, text)
	return true
}

// What bounds the context of a request.
const (
	byRequest  = "num_ctx of the request"
	byNumCtx   = "the setting num-ctx"
	byMaxCtx   = "the setting max-ctx"
	byTraining = "the model's training"
	byServer   = "the model server"
)

// boundBy is what bounds the request's context.
func (t *turn) boundBy() string {
	_, sizes := t.server.backend.(sizer)
	trained := t.facts.window > 0 && t.window >= t.facts.window
	switch {
	case !sizes:
		return byServer
	case trained:
		return byTraining
	case t.sized && t.window < t.most():
		return byServer
	case t.sized:
		return byMaxCtx
	case contextOption(t.request.Options) > 0:
		return byRequest
	}
	return byNumCtx
}

// longer says how to get a longer context, behind "Please reduce …".
func (t *turn) longer() string {
	switch by := t.boundBy(); by {
	case byRequest:
		return ", or ask for more: this is " + by
	case byNumCtx, byMaxCtx:
		return ", or raise " + by
	case byServer:
		return ", or give the model a longer context at its server"
	}
	return ": the model was trained with no longer context"
}

// tooLong is the error of a request that does not fit.
func (t *turn) tooLong(tokens int, exact bool) error {
	about := "about "
	if exact {
		about = ""
	}
	tools, meter := 0, t.meter()
	for _, tool := range t.request.Tools {
		tools += meter.Estimate(window.ToolBytes(tool))
	}
	f := fault.New(fault.Invalid, "This model's maximum context length is %d tokens. However, your messages resulted in %s%d tokens (about %d of them in the tools). Please reduce the length of the messages or tools%s.",
		t.window, about, tokens, tools, t.longer())
	f.Code, f.Param = upstream.ContextLength, "messages"
	f.Cause = &upstream.Overflow{Tokens: tokens, Window: t.window}
	return f
}

// contextOption is the context that the options ask for, 0 when they do not.
func contextOption(options map[string]json.RawMessage) (n int) {
	_ = json.Unmarshal(options["num_ctx"], &n) // what is no number asks for none
	return n
}
