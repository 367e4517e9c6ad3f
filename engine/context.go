package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/engine/window"
	"toolnorm/internal/fault"
)

// sizes reports whether a request can ask the server for a context length. Ollama accepts a length,
// and reloads the model for it. A llama-server or a vLLM has the context with which it was started.
func (t *target) sizes() bool {
	_, ok := t.server.backend.(sizer)
	return ok
}

// mostContext returns the longest context that a request may get, in tokens: the configured limit,
// or 32,768 if none is configured. The default is not larger, because servers do not say how much
// memory there is.
func (t *target) mostContext() int { return cmp.Or(t.engine.cfg.MaxCtx, window.Most) }

// fixedContext returns the context length that the client or the settings ask for. It returns 0 if
// neither does, so that the size of the request decides. The client takes precedence. For example,
// aider sends its own num_ctx with every request.
func (t *target) fixedContext(r *chat.Request) (n int) {
	if raw, ok := r.Options["num_ctx"]; ok {
		_ = json.Unmarshal(raw, &n) // what is not a number asks for none
		return n
	}
	return t.engine.cfg.NumCtx
}

// chooseContext returns the job with a context length for its request: a fifth more than the
// estimated number of tokens, and room for the reply. Ollama's default of 4,096 tokens would
// silently drop the tools of most agents. It never fails.
func (j *job) chooseContext(ctx context.Context) (*job, error) {
	k := *j
	k.context = j.sized(ctx, j.orderFor(j.request))
	return &k, nil
}

// sized returns the context length for the generation that the order o describes, in tokens. If the
// backend can choose a length, this is what the backend calculates. Otherwise it is the model's
// own.
func (t *target) sized(ctx context.Context, o *upstream.Order) int {
	if s, ok := t.server.backend.(sizer); ok {
		return s.Size(ctx, o)
	}
	return t.facts.Window
}

// shrink returns the job with a shorter request or a longer context, after the server has found the
// request too long. It tries these ways in order, and takes the first that helps: a longer context,
// a shorter reply if only the reply is too long, shorter tools, and leaving out the oldest turns.
// If no way helps, it returns the error for the client.
//
// Servers are asked with "truncate": false, so that they refuse a prompt that is too long.
// Otherwise they would cut it without saying so, and would cut the definitions of tools first.
// Newer servers say how many tokens the prompt has (Ollama from 0.30, llama-server, vLLM, OpenAI).
// Without such a count, shrink assumes one and a half times its own estimate or the context,
// whichever is larger, so that a few refusals are enough.
func (j *job) shrink(ctx context.Context, over *upstream.Overflow) (*job, error) {
	bytes := window.Bytes(j.request)
	tokens := over.Tokens
	if tokens == 0 { // the server only said that it is too long
		tokens = max(j.meter().Estimate(bytes), j.context) * 3 / 2
	}
	k := *j
	k.counted, k.context = window.Meter{Bytes: bytes, Tokens: tokens},
		cmp.Or(over.Window, j.context)
	if j.sizes() {
		o := k.orderFor(k.request)
		// counted, so without the margin of a fifth
		o.Need = tokens + window.Room(k.request.MaxTokens, k.mostContext())
		if longer := k.sized(ctx, o); longer > k.context {
			k.context = longer
			return &k, nil
		}
	}
	if free := k.context - over.Tokens; over.Tokens > 0 && free >= window.Room(0, k.context) &&
		k.request.MaxTokens > free {
		r := *k.request
		r.MaxTokens = free // the reply that the client allows was too long
		return k.with(&r), nil
	}
	// The tools come before the conversation: what the user said is worth more than the tenth rule
	// about a tool.
	if k.context > 0 {
		if shorter := k.fitted(toolRoom(k.request, tokens, k.context, k.counted),
			k.counted); shorter != &k {
			return shorter, nil
		}
	}
	if k.engine.cfg.Overflow != Refuse && k.context > 0 {
		if trimmed := k.trim(tokens); trimmed != nil {
			return trimmed, nil
		}
	}
	return nil, k.tooLong(tokens, over.Tokens > 0)
}

// trim returns the job without the oldest turns of a conversation of the given number of tokens,
// and tells the client. It returns nil if not enough can be left out. System text, tools, the last
// question and the last message are never left out, because what remains must still be a request.
func (j *job) trim(tokens int) *job {
	excess := tokens + window.Room(j.request.MaxTokens, j.context) - j.context
	meter := j.meter()
	// Cut a quarter of the context at a time: otherwise each further turn would be refused, trimmed
	// by one message, and read anew by a server whose prompt cache ends where the conversation was
	// cut.
	cut := window.Trim(j.request.Messages, excess, j.context/4, func(m chat.Message) int {
		return meter.Estimate(window.MessageBytes(m))
	})
	if cut.Dropped == 0 || tokens-cut.Freed > j.context {
		return nil
	}
	r := *j.request
	r.Messages = cut.Messages
	j = j.with(&r)
	j.dropped += cut.Dropped
	text := fmt.Sprintf(
		"the %d oldest messages, about %d tokens, were left out: the conversation is longer than the context of %d tokens", j.dropped, cut.Freed, j.context)
	j.engine.cfg.Log.Warn().Str("model", j.name).Int("messages", j.dropped).Int("tokens",
		cut.Freed).Int("context", j.context).Str("bound_by",
		string(j.boundBy(j.request, j.context))).
		Msg("the oldest messages were left out: the conversation is longer than the context")
	j.tell(noteTrimmed, text)
	return j
}

// bound is the setting or the limit that keeps a request's context from being longer.
type bound string

const (
	byRequest  bound = "num_ctx of the request"
	byNumCtx   bound = "the setting num-ctx"
	byMaxCtx   bound = "the setting max-ctx"
	byTraining bound = "the model's training"
	byServer   bound = "the model server"
)

// boundBy returns the setting or the limit because of which the request's context has only size
// tokens. The error message names it, so that the user knows which setting helps.
func (t *target) boundBy(r *chat.Request, size int) bound {
	trained := t.facts.Window > 0 && size >= t.facts.Window
	bySize := t.fixedContext(r) == 0
	switch {
	case !t.sizes():
		return byServer
	case trained:
		return byTraining
	case bySize && size < t.mostContext():
		return byServer
	case bySize:
		return byMaxCtx
	case r.Options["num_ctx"] != nil:
		return byRequest
	}
	return byNumCtx
}

// longer returns the rest of the sentence "Please reduce the length …", which says how to get a
// longer context. It names the one setting that helps. For example, raising num-ctx is of no use if
// the model was not trained for more.
func (by bound) longer() string {
	switch by {
	case byRequest:
		return ", or ask for more: this is " + string(by)
	case byNumCtx, byMaxCtx:
		return ", or raise " + string(by)
	case byServer:
		return ", or give the model a longer context at its server"
	}
	return ": the model was trained with no longer context"
}

// tooLong returns the error of a request that does not fit. Its message and its code are OpenAI's,
// since clients look for both to shorten their conversation by themselves. The message says how
// many tokens the tools have, because most users can do something about the tools. exact is true if
// the server has counted the tokens.
func (j *job) tooLong(tokens int, exact bool) error {
	about := "about "
	if exact {
		about = ""
	}
	tools := tokensOf(j.request.Tools, j.meter())
	f := fault.New(fault.Invalid,
		"This model's maximum context length is %d tokens. However, your messages resulted in %s%d tokens (about %d of them in the tools). Please reduce the length of the messages or tools%s.",
		j.context, about, tokens, tools, j.boundBy(j.request, j.context).longer())
	f.Code, f.Param = upstream.ContextLength, "messages"
	f.Tokens, f.Window = tokens, j.context
	f.Cause = &upstream.Overflow{Tokens: tokens, Window: j.context}
	return f
}

// meter returns a meter that estimates tokens for this request. If the server has counted this
// request's tokens in a refusal, the meter is made from that count, which is exact for this text.
// Otherwise it uses the ratio of bytes to tokens that was learned from earlier requests to the
// model.
func (j *job) meter() window.Meter {
	if j.counted.Tokens > 0 {
		return j.counted
	}
	return j.known().meter
}

// counter learns the length of a model's tokens in bytes. It compares the length of one prompt with
// the number of tokens that the server counts in it.
type counter struct {
	*target
	bytes   int  // length of the prompt
	context int  // context length of the request, in tokens; 0: not known
	ours    bool // the prompt was rendered here, and not by the server
	meter   func() window.Meter
}

// watch returns a hook that passes a reply's first token count to learnTokens, unless it is only an
// estimate. From this count the engine learns how many bytes of text make a token, and detects
// whether the server has cut the prompt silently, as Ollama does with prompts longer than its
// context.
func (c *counter) watch() chat.Hook {
	done := false
	return func(ev chat.Event, err error) (chat.Event, chat.Source) {
		if err == nil && !done && ev.Meta != nil && ev.Meta.Usage != nil &&
			!ev.Meta.Usage.Estimated {
			done = true
			c.learnTokens(*ev.Meta.Usage)
		}
		return ev, nil
	}
}

const (
	// mostBytes is more bytes than a token has on average in any conversation
	// (docs/internal/context.md has the measurements). A server that counts fewer tokens has not
	// read all of it.
	mostBytes = 12
	// fewestRead is how many tokens must be missing in a count for the prompt to be considered cut.
	// Below this number a template's own text weighs more than the conversation.
	fewestRead = 256
)

// learnTokens records how many tokens the server has counted in the prompt. If the count shows that
// the prompt was cut, it is not recorded. Instead the client is told that the prompt was cut,
// because nothing else would show it.
func (c *counter) learnTokens(n chat.Counts) {
	why := ""
	switch {
	case n.Prompt <= 0: // a server that has the prompt in its cache may count none of it
		return
	case c.context > 0 && n.Prompt >= c.context:
		why = fmt.Sprintf(
			"the server read %d tokens, all that its context holds: it has cut the conversation",
			n.Prompt)
	// A prompt that was rendered here was sent as it is, and a server that cuts it says so; a chat
	// that the server renders may be cut silently.
	case !c.ours && c.bytes > mostBytes*(n.Prompt+fewestRead):
		why = fmt.Sprintf("the server read %d tokens of at least %d: it has cut the conversation",
			n.Prompt, c.bytes/mostBytes)
	// Context lengths are powers of two or round numbers of them, so a prompt that fills one
	// exactly was cut to it.
	case c.context == 0 && n.Prompt >= 2048 && n.Prompt%1024 == 0 &&
		c.meter().Estimate(c.bytes) > n.Prompt+n.Prompt/10:
		why = fmt.Sprintf(
			"the server read exactly %d tokens of about %d: it has probably cut the conversation to its context", n.Prompt, c.meter().Estimate(c.bytes))
	case c.context > 0 && n.Prompt+n.Completion > c.context:
		why = fmt.Sprintf(
			"the reply went on past the context of %d tokens: the server has dropped the beginning meanwhile", c.context)
	}
	if why == "" {
		c.learn(func(l *lessons) { l.meter.Learn(c.bytes, n.Prompt) })
		return
	}
	c.engine.cfg.Log.Warn().Str("model", c.name).Int("prompt_tokens", n.Prompt).Int("context",
		c.context).Msg(why)
	c.tell(noteTruncated, why)
}

// CountTokens implements chat.Counter. It returns about how many tokens the model would read for r,
// without asking for a reply. Ollama cannot be asked to count, so the size in bytes is divided by
// the bytes per token of the server's last count. After the first reply, the result is right within
// a few percent. It returns an error if the request is invalid, or the server cannot be reached.
func (e *Engine) CountTokens(ctx context.Context, r *chat.Request) (int, error) {
	ctx, pulse := wait.NewPulse(ctx, nil, e.cfg.Timeouts)
	defer pulse.Stop()
	j, err := e.begin(ctx, pulse, r)
	if err != nil {
		return 0, err
	}
	if j, err = j.probe(ctx); err != nil { // what was learned is stored under the model's digest
		return 0, err
	}
	if j, err = j.fitTools(ctx); err != nil {
		return 0, err
	}
	return j.meter().Estimate(window.Bytes(j.request)), nil
}
