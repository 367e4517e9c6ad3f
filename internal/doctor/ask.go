package doctor

import (
	"context"
	"strings"
	"time"

	"toolnorm/chat"
	"toolnorm/engine"
)

const (
	mostTokens = 128              // of a reply: a call takes 20 to 60, and a model that rambles is cut
	mostHeard  = 400              // bytes of what a model wrote that are kept
	mostTime   = 90 * time.Second // for one reply
)

// reply is what came of one request.
type reply struct {
	chat.Collector
	pieces      int           // of text and reasoning
	first, took time.Duration // until the first event, and until the end
	finish      string
	strategy    string // by which it was had at last
	heard       heard
	err         error
}

// heard is what a server gave before anything was made of it.
// What the server read itself is compared with what toolnorm made of the same text.
type heard struct {
	text    strings.Builder // what the model wrote, as far as the server passed it on
	thought bool            // the server told reasoning apart
	calls   chat.Collector  // that the server read itself
}

// take keeps an event.
// Only the beginning is kept: it shows what the model took for a call.
func (h *heard) take(ev chat.Event) {
	switch ev.Kind {
	case chat.Reasoning:
		h.thought = true
	case chat.Text:
		h.text.WriteString(ev.Text[:min(len(ev.Text), mostHeard-min(h.text.Len(), mostHeard))])
	default:
		h.calls.Add(ev)
	}
}

// ask sends one short request, as a client of the proxy would, and collects the reply. Temperature
// 0, so that two examinations agree. A rewrite would hide what the model wrote first, so it is not
// heard.
func ask(ctx context.Context, e *engine.Engine, r *chat.Request) (a reply) {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	cold, begun, first := 0.0, time.Now(), true
	r.Temperature = &cold
	if r.MaxTokens == 0 {
		r.MaxTokens = mostTokens
	}
	o := &chat.Observer{OnGeneration: func(string) func(chat.Event) {
		if !first { // a rewrite of a call is not the reply
			return func(chat.Event) {}
		}
		first = false
		return a.heard.take
	}}
	for ev, err := range e.Stream(chat.WithObserver(ctx, o), r) {
		if a.first == 0 {
			a.first = time.Since(begun)
		}
		if err != nil {
			a.err = err
			break
		}
		a.take(ev)
	}
	a.took = time.Since(begun)
	return a
}

// take adds an event to the reply.
func (a *reply) take(ev chat.Event) {
	a.Add(ev)
	switch ev.Kind {
	case chat.Text, chat.Reasoning:
		a.pieces++
	case chat.Finish:
		a.finish = ev.Text
		if ev.Meta != nil {
			a.strategy = ev.Meta.Strategy
		}
	}
}

// perSecond returns the rate of so many tokens; 0 when the time is not known.
func perSecond(tokens int, in time.Duration) float64 {
	if in <= 0 {
		return 0
	}
	return float64(tokens) / in.Seconds()
}

// user returns a request of one message.
func user(model, text string) *chat.Request {
	return &chat.Request{Model: model, Messages: []chat.Message{{Role: chat.User, Content: text}}}
}
