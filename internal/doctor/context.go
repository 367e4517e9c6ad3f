package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"toolnorm/chat"
	"toolnorm/engine"
	"toolnorm/engine/ollama"
	"toolnorm/engine/wait"
	"toolnorm/engine/window"
)

const (
	tight = 8192 // tokens: a shorter context is seldom enough for tools, a history and a file
	// the longest context, in tokens, for which the examination tests what a server does with too
	// many messages
	mostCut   = 32768
	firstMark = "mark-of-the-first-message"
)

// context reports how many tokens the model can read at a time, and what its server does with a
// longer prompt. It always returns true.
func (x *examination) context(ctx context.Context) bool {
	c := &x.m.Context
	if x.client != nil && x.on.name != demoHost {
		x.cfg.Progress("context length", 0, 0)
		c.Asked = x.cfg.Engine.NumCtx
		if c.Asked == 0 {
			c.Most = cmp.Or(x.cfg.Engine.MaxCtx, window.Most)
			if c.Trained > 0 {
				c.Most = min(c.Most, c.Trained)
			}
		}
		x.loaded(ctx)
		if x.facts.Renders && c.Loaded > 0 && c.Loaded <= mostCut {
			c.Cuts = x.cuts(ctx)
		}
	}
	level, does := OK, ""
	switch {
	case c.Asked > 0 && c.Asked < tight && c.Trained > c.Asked:
		level, does = Note,
			"tools, a history and a file seldom fit: without the setting num-ctx it grows with the request"
	case c.Most > 0 && c.Trained > c.Most:
		does = "the setting max-ctx allows more, which takes more memory"
	}
	x.finding(level, "context", c.String(), does)
	if c.Cuts == silently {
		does := "toolnorm leaves out whole turns, the oldest first, and says so in Toolnorm-Trimmed"
		if x.cfg.Engine.Overflow == engine.Refuse {
			does = "toolnorm forbids it: such a request is an error that says so"
		}
		x.finding(Note, "overflow",
			"the server silently drops the oldest messages of a chat that does not fit", does)
	}
	return true
}

// String returns the context lengths in words. Unknown lengths are left out instead of being called
// 0.
func (c Context) String() string {
	var parts []string
	for _, p := range []struct {
		tokens int
		says   string
	}{{c.Trained, "trained for %d tokens"}, {c.Loaded, "loaded with %d"},
		{c.Asked, "toolnorm asks for %d"},
		{c.Most, "toolnorm asks for up to %d as requests grow"}} {
		if p.tokens > 0 {
			parts = append(parts, fmt.Sprintf(p.says, p.tokens))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "not said")
}

// loaded records with which context length the server has loaded the model. It records nothing if
// the server does not answer or the model is not loaded.
func (x *examination) loaded(ctx context.Context) {
	list, err := x.client.Running(ctx)
	if err != nil {
		return // the finding about the server says so already
	}
	for _, m := range list.Models {
		if m.Name == x.m.Model || m.Name == x.m.Model+":latest" {
			x.m.Context.Loaded = m.ContextLength
			x.server.Loaded = []Loaded{{m.Name, m.ContextLength, m.Size}}
		}
	}
}

// silently is the value of Context.Cuts for a server that drops messages without an error.
const silently = "silently"

// cuts asks the server to render a chat that does not fit, and checks whether the beginning of the
// chat is still there. It returns "no" if it is, the constant silently if it was cut off, and "" if
// the server cannot render. Nothing is generated; num_predict is 1 in case the server does not
// support rendering only. The two messages have six tenths of the context each, so either fits
// alone, but not both together.
func (x *examination) cuts(ctx context.Context) string {
	ctx, pulse := wait.NewPulse(ctx, nil, wait.Timeouts{Beat: -1})
	defer pulse.Stop()
	n := x.m.Context.Loaded
	long := strings.Repeat(" a", n*6/10) // one or two tokens each
	prompt, err := x.client.Render(ctx, pulse, &ollama.ChatRequest{
		Model: x.m.Model,
		Messages: []ollama.Message{{Role: "user", Content: firstMark + long},
			{Role: "assistant", Content: "Yes."}, {Role: "user", Content: "And" + long}},
		Truncate: true, // like a client that does not set it
		Options: map[string]json.RawMessage{"num_ctx": json.RawMessage(strconv.Itoa(n)),
			"num_predict": json.RawMessage("1")},
	})
	switch {
	case err != nil || prompt == "":
		return ""
	case strings.Contains(prompt, firstMark):
		return "no"
	}
	return silently
}

// places reports how many requests the server answers at a time. If the server does not say, it
// tests whether a second request is answered while a first one is still running. The second request
// is tiny, so it ends before the first one unless it had to wait. It always returns true.
func (x *examination) places(ctx context.Context) bool {
	if x.server.Slots > 0 || x.on.name == demoHost {
		return true
	}
	x.cfg.Progress("two requests at a time", 0, 0)
	begun, over := make(chan struct{}), make(chan time.Time, 1)
	go func() { // ends with its reply, which is short, or with ctx
		defer func() { over <- time.Now() }()
		first := true
		long := user(x.m.Name, "Count from one to forty in words.")
		for range x.engine.Stream(ctx, limitTokens(long, 64)) {
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
	second := ask(ctx, x.engine, limitTokens(user(x.m.Name, "Say yes."), 4))
	left := (<-over).Sub(asked)
	if second.err != nil {
		x.failed(ctx, "parallel", second.err)
		return true
	}
	x.finding(OK, "parallel", placesBy(left, second.first), "")
	return true
}

// enough is how much longer the first of two requests must run for the test to be conclusive. A
// shorter time may be just the overhead of the second request.
const enough = 200 * time.Millisecond

// placesBy returns a sentence for the report, which says whether the server answers several
// requests at a time. The parameter first is the time until the second request was answered, and
// left is the time for which the first request was still running.
func placesBy(left, first time.Duration) string {
	switch {
	case left < enough:
		return "too fast to tell how many requests run at a time"
	case first < left/2:
		return "several requests at a time"
	}
	return "1 request at a time; waiting clients get keep-alives"
}

// limitTokens sets the token limit of a request and returns the request.
func limitTokens(r *chat.Request, tokens int) *chat.Request {
	r.MaxTokens = tokens
	return r
}
