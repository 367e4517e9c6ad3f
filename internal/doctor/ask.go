package doctor

import (
	"context"
	"strings"
	"time"

	"toolnorm/chat"
	"toolnorm/engine"
)

const (
	// tokens of a reply; a call takes 20 to 60, and a reply that rambles is cut off
	mostTokens = 128
	mostHeard  = 400              // bytes of a model's text that are recorded
	mostTime   = 90 * time.Second // the longest time for one reply
)

// reply is the outcome of one request to a model: its answer or its error, and times.
type reply struct {
	chat.Collector
	pieces      int           // how many pieces of text and reasoning came
	first, took time.Duration // the times until the first event and until the end
	finish      string
	strategy    string // the one that gave the reply
	heard       heard
	err         error
}

// heard is what a server sent, before toolnorm decoded it. The calls that the server recognised are
// compared with those that toolnorm finds in the same text.
type heard struct {
	text    strings.Builder // what the model wrote, if the server sent it as text
	thought bool            // the server separated the reasoning from the text
	calls   chat.Collector  // the calls that the server recognised
}

// take records an event. Only the beginning of the text is recorded, which shows how the model
// tried to make a call.
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

// ask sends one short request as a client of the proxy would, and returns the reply; a failure is
// in the reply's field err. The temperature is 0, so that two examinations agree. If toolnorm lets
// the model rewrite a call, the field heard has only what the model wrote first.
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

// perSecond returns a number of tokens per second, or 0 if the time is unknown.
func perSecond(tokens int, in time.Duration) float64 {
	if in <= 0 {
		return 0
	}
	return float64(tokens) / in.Seconds()
}

// user returns a request with one message of the user.
func user(model, text string) *chat.Request {
	return &chat.Request{Model: model, Messages: []chat.Message{{Role: chat.User, Content: text}}}
}
