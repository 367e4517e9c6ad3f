package engine

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// tailLength is how much of a prompt's end the decoder sees, in bytes.
const tailLength = 64

// turn is one request on its way to the model server.
type turn struct {
	engine   *Engine
	server   *server
	pulse    *upstream.Pulse
	request  *chat.Request
	model    string
	format   *adapters.Format
	options  map[string]json.RawMessage // of the model server
	facts    facts
	strategy string
}

// choose picks the strategy: the configured one, else the one that shows most of what the model wrote.
func (t *turn) choose() string {
	if s, ok := match(t.engine.cfg.Strategy, t.model); ok {
		return s
	}
	switch {
	case len(t.request.Tools) > 0 && !t.facts.tools:
		return Prompt
	case t.facts.render && !pictures(t.request):
		return Raw
	}
	return Native
}

// pictures reports whether the request has any: raw prompts are text only.
func pictures(r *chat.Request) bool {
	for _, m := range r.Messages {
		if len(m.Images) > 0 {
			return true
		}
	}
	return false
}

// source begins the reply by the turn's strategy. Tail is the end of the rendered prompt, empty when it is not known.
func (t *turn) source(ctx context.Context) (src chat.Source, tail string, err error) {
	r := t.request
	if t.strategy == Prompt {
		r = described(r, t.format)
	}
	body, err := t.body(r)
	if err != nil {
		return nil, "", err
	}
	if t.strategy == Raw || t.strategy == Prompt && t.facts.render && !pictures(r) {
		return t.raw(ctx, body, r.Tools)
	}
	body.Stream = true
	src, err = t.server.client.Chat(ctx, t.pulse, body)
	return src, "", err
}

// raw renders the prompt and has it continued.
func (t *turn) raw(ctx context.Context, body *upstream.ChatRequest, tools []chat.Tool) (chat.Source, string, error) {
	options := body.Options
	body.Options = with(options, "num_predict", 1) // a server that does not render but answers is soon done
	prompt, err := t.server.client.Render(ctx, t.pulse, body)
	if err != nil {
		return nil, "", err
	}
	if prompt == "" {
		return nil, "", fault.New(fault.Unavailable, "the model server does not render prompts alone: strategy raw cannot work with %q", t.model)
	}
	prompt = mended(prompt, body.Tools, tools)
	src, err := t.server.client.Generate(ctx, t.pulse, &upstream.GenerateRequest{
		Model: t.model, Prompt: prompt, Raw: true, Stream: true, Options: options,
	})
	return src, strings.Clone(prompt[max(len(prompt)-tailLength, 0):]), err // the prompt itself may go
}

// body is the request in Ollama's form.
func (t *turn) body(r *chat.Request) (*upstream.ChatRequest, error) {
	messages, err := wireMessages(r.Messages)
	if err != nil {
		return nil, err
	}
	body := &upstream.ChatRequest{Model: t.model, Messages: messages, Options: t.options}
	for _, tool := range r.Tools {
		f := upstream.Function{Name: tool.Name, Description: tool.Description, Parameters: reduce(tool.Schema)}
		body.Tools = append(body.Tools, upstream.Tool{Type: "function", Function: f})
	}
	if t.facts.thinking { // other models answer 400 to the very word
		body.Think = r.Think
	}
	return body, nil
}

// ownStops reports whether stop sequences are matched here: with tools the server would cut calls in two, and a call
// that is cut looks like a clean end.
func (t *turn) ownStops() bool { return len(t.request.Tools) > 0 && len(t.request.Stop) > 0 }

// serverOptions are the request's options in Ollama's words.
func (t *turn) serverOptions() (map[string]json.RawMessage, error) {
	r := t.request
	o := map[string]any{}
	set(o, "seed", r.Seed)
	set(o, "temperature", r.Temperature)
	set(o, "top_p", r.TopP)
	set(o, "presence_penalty", r.PresencePenalty)
	set(o, "frequency_penalty", r.FrequencyPenalty)
	if t.engine.cfg.NumCtx > 0 {
		o["num_ctx"] = t.engine.cfg.NumCtx
	}
	if r.MaxTokens > 0 {
		o["num_predict"] = r.MaxTokens
	}
	if len(r.Stop) > 0 && !t.ownStops() {
		o["stop"] = r.Stop
	}
	all := make(map[string]json.RawMessage, len(o)+len(r.Options))
	for k, v := range o {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, &fault.Error{Kind: fault.Invalid, Param: k, Message: k + " is no number", Cause: err}
		}
		all[k] = raw
	}
	maps.Copy(all, r.Options)
	return all, nil
}

// set puts *v into o unless v is nil.
func set[T any](o map[string]any, key string, v *T) {
	if v != nil {
		o[key] = *v
	}
}

// with is a copy of the options with one of them set.
func with(o map[string]json.RawMessage, key string, n int) map[string]json.RawMessage {
	c := make(map[string]json.RawMessage, len(o)+1)
	maps.Copy(c, o)
	c[key], _ = json.Marshal(n)
	return c
}
