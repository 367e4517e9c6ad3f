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
	left := (<-over).Sub(asked)
	if second.err != nil {
		x.failed(ctx, "places", second.err)
		return true
	}
	x.finding(OK, "places", placesBy(left, second.first), "")
	return true
}

// enough is how long the first of two requests must still run for the second to tell anything.
const enough = 200 * time.Millisecond

// placesBy is what it means that a second request was answered after first, when an earlier one ran on for left.
func placesBy(left, first time.Duration) string {
	switch {
	case left < enough:
		return "answers too fast to tell how many requests it takes at a time"
	case first < left/2:
		return "answers several requests at a time"
	}
	return "answers one request at a time; others wait in line, and toolnorm keeps their clients alive"
}

// limited is the request with a limit of tokens.
func limited(r *chat.Request, tokens int) *chat.Request {
	r.MaxTokens = tokens
	return r
}
