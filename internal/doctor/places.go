package doctor

import (
	"context"
	"time"

	"toolnorm/chat"
)

// places says how many requests the server answers at a time: by its own word, else by whether a second one is answered
// while a first one still runs.
func (x *examination) places(ctx context.Context) bool {
	if x.server.Slots > 0 || x.on.name == demoHost {
		return true
	}
	x.cfg.Progress("two requests at a time", 0, 0)
	begun, over := make(chan struct{}), make(chan time.Time, 1)
	go func() { // ends with its reply, which is short, or with ctx
		defer func() { over <- time.Now() }()
		first := true
		for range x.engine.Stream(ctx, limited(user(x.m.Name, "Count from one to forty in words."), 64)) {
			if first {
				close(begun)
			}
			first = false
		}
		if first {
			close(begun)
		}
	}()
	<-begun
	asked := time.Now()
	second := ask(ctx, x.engine, limited(user(x.m.Name, "Say yes."), 4))
	switch ended := <-over; {
	case second.err != nil:
		x.failed(ctx, "places", second.err)
	case ended.Before(asked):
		x.finding(OK, "places", "answers too fast to tell how many requests it takes at a time", "")
	case asked.Add(second.first).Before(ended):
		x.finding(OK, "places", "answers several requests at a time", "")
	default:
		x.finding(OK, "places", "answers one request at a time; others wait in line", "toolnorm keeps waiting clients alive; OLLAMA_NUM_PARALLEL at the server changes it")
	}
	return true
}

// limited is the request with a limit of tokens.
func limited(r *chat.Request, tokens int) *chat.Request {
	r.MaxTokens = tokens
	return r
}
