package ollama

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ollama/ollama/api"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// Backend is an Ollama server as the engine uses it, with the facts about its models. It is safe
// for concurrent use: mu guards the facts, and is never held during a request.
type Backend struct {
	*Client
	Owner        string        // owner of its models in lists
	ReadsSchemas bool          // the server accepts every JSON Schema, as the demo does
	ListAge      time.Duration // how old the list of digests may be; 0: digestAge

	mu      sync.Mutex                // guards all fields below
	digests map[string]string         // by full name; a new list is a new map
	listed  time.Time                 // when digests was asked for
	known   map[string]upstream.Facts // by knownAs; valid as long as the digest is the same

	contexts map[string]int // context lengths with which models are loaded, by full name
	looked   time.Time      // when the server was asked for contexts
}

// Models returns the models that the server has pulled, or an error if it cannot be reached. A date
// that the server leaves out is Go's zero time, which is negative in Unix seconds, so clients get
// 0.
func (b *Backend) Models(ctx context.Context) ([]chat.Info, error) {
	list, err := b.Tags(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]chat.Info, len(list.Models))
	for i, m := range list.Models {
		all[i] = chat.Info{ID: m.Name, Created: max(m.ModifiedAt.Unix(), 0), Owner: b.Owner}
	}
	return all, nil
}

// Open begins the reply by the order's strategy. The result tail is the end of the rendered prompt.
// It is empty for a chat, because then the server renders the prompt and does not show it. Errors
// are faults. If a fault is Curable, another strategy may succeed.
func (b *Backend) Open(ctx context.Context, o *upstream.Order) (
	src chat.Source, tail string, err error) {
	body := chatRequest(o)
	if o.Rendered {
		return b.raw(ctx, o, body)
	}
	body.Stream = true
	// A server that does not render constrains the reply to the schema in its own chat, and returns
	// one JSON object.
	switch {
	case o.Force != nil:
		// The prompt cannot be continued here, so `format` constrains the whole reply to the
		// schema.
		body.Format = o.Force.Schema
		if o.Facts.Thinking {
			body.Think = json.RawMessage("false") // otherwise the server ignores the schema
		}
		src, err = b.Chat(ctx, o.Pulse, body)
	case o.Strategy == upstream.Tap:
		src, err = b.Tap(ctx, o.Pulse, body,
			Marks{ThinkEnd: o.Format.ThinkEnd(), Openings: o.Format.Openings()})
	default:
		src, err = b.Chat(ctx, o.Pulse, body)
	}
	return src, "", err
}

// curable returns err as a fault. It marks the fault as Curable, which means that another strategy
// may succeed, if the server refused the request with 400 or 404, or if the server's parser failed
// (500). A busy, silent or unreachable server says nothing about the strategy, and with another one
// the client would only wait again. A prompt that is too long is not Curable either, because no
// strategy makes it shorter.
func curable(err error) error {
	f := *fault.From(err)
	switch f.Kind {
	case fault.Invalid, fault.NotFound, fault.Unable, fault.Unavailable:
		f.Curable = f.Cause == nil && f.Code != upstream.ContextLength
	}
	return &f
}

// raw renders the prompt and has it continued, in two requests. It returns the reply and the end of
// the prompt. It returns an error if either request fails, or if the server does not render.
// Rendering takes a few milliseconds once the model is loaded. Both requests have the same options,
// since another context would load the model again in between.
//
// Raw text is the safest to read. Ollama's own parsers hold a call back until it is closed, and
// lose it if it is malformed. Of 27 texts with calls, Ollama's own API reads 1 to 9 correctly. From
// raw text all 27 are read correctly (docs/internal/upstreams.md). The rendered prompt also shows
// how the reply begins, and which templates print tools as Go structs.
func (b *Backend) raw(ctx context.Context, o *upstream.Order, body *ChatRequest) (
	chat.Source, string, error) {
	options := body.Options
	// a server that does not render but answers is soon done
	body.Options = upstream.WithOption(options, "num_predict", 1)
	prompt, err := b.Render(ctx, o.Pulse, body)
	if err != nil {
		return nil, "", err
	}
	if prompt == "" {
		return nil, "", &fault.Error{Kind: fault.Unavailable, Curable: true, Message: fmt.Sprintf(
			"the model server does not render prompts alone: strategy %s cannot work with %q",
			o.Strategy, o.Model)}
	}
	// Only here can the prompt be changed: in a chat the server renders, and the model never sees a
	// schema.
	prompt = replaceGoStructs(prompt, body.Tools, o.Request.Tools)
	q := &GenerateRequest{Model: o.Model, Prompt: prompt, Raw: true, Think: new(bool), Stream: true,
		Options: options, KeepAlive: body.KeepAlive}
	q.Logprobs, q.TopLogprobs = o.Request.Logprobs, o.Request.TopLogprobs
	if o.Force != nil {
		// The prompt then ends with the mark of a call, so that the forced object is where the
		// model expects one. In this way a 1.5B model wrote 20 of 20 calls right, and 18 when only
		// the arguments were constrained.
		q.Prompt += o.Format.Lead(prompt, o.Force.Said, o.Force.Name)
		q.Format = o.Force.Schema
	}
	context := o.FixedContext
	if raw, ok := options["num_ctx"]; ok {
		_ = json.Unmarshal(raw, &context) // cannot fail: other values are refused before
	}
	o.Prompted(q.Prompt, context)
	var src chat.Source
	if byTokens(o) {
		src, err = b.tokens(ctx, o, q, tail(o, body, q.Prompt))
	} else {
		src, err = b.Generate(ctx, o.Pulse, q)
	}
	if err != nil && o.Strategy == upstream.Tokens {
		// another strategy may work with a server that refuses such a request
		return nil, "", curable(err)
	}
	if err != nil {
		// The server has not parsed anything of raw text, so another strategy would meet the same
		// refusal.
		return nil, "", upstream.Final(err)
	}
	return src, tail(o, body, prompt), nil
}

// tail returns the end of a rendered prompt, by which the decoder knows whether the reply begins
// with thinking. If Ollama's parser for the model assumes that it does, tail adds <think> even if
// the template has not written it, because such a reply has no opening tag: "Secret
// plan.⏎</think>⏎⏎Plain words."
func tail(o *upstream.Order, body *ChatRequest, prompt string) string {
	end := upstream.Tail(prompt)
	switch last := len(body.Messages) - 1; {
	case !o.Facts.BeginsThinking, o.Force != nil, string(body.Think) == "false",
		strings.Contains(end, "think>"):
		return end
	case last >= 0 && body.Messages[last].Role == string(chat.Assistant) &&
		body.Messages[last].Content != "":
		return end // the model continues an answer
	}
	return end + "<think>\n"
}

// Complete opens a reply that continues a text. The text is continued raw, or, if there is a
// suffix, by the model's own template for gaps. If the model has no such template, the error is
// fault.Invalid with Param "suffix", because another prompt would not help.
//
// Editors put the tokens that mark gaps into the prompt themselves. The model is not probed,
// because only its context length would be useful, and that is used if it is already known. An
// editor that asks with every key stroke should not wait for a probe.
func (b *Backend) Complete(ctx context.Context, o *upstream.Order) (chat.Source, error) {
	q := *o
	b.mu.Lock()
	q.Facts = b.known[knownAs(o, b.digests[fullName(o.Model)])]
	b.mu.Unlock()
	c := o.Request.Continue
	body := GenerateRequest{
		Model: o.Model, Prompt: c.Prompt, Suffix: c.Suffix, Raw: c.Suffix == "" && len(c.Told) == 0,
		Stream: true, Options: b.sizedOptions(ctx, &q), KeepAlive: o.Request.Keep,
		Format: o.Request.Format, System: c.Told["system"], Context: c.Told["context"],
		Images: c.Told["images"],
	}
	if template := c.Told["template"]; template != nil {
		if err := json.Unmarshal(template, &body.Template); err != nil {
			return nil, fault.Wrong("template", "template: must be a text")
		}
	}
	if body.Raw {
		body.Think = new(bool)
	}
	src, err := b.stream(ctx, o.Pulse, "/api/generate", &body, o.Pulse.UntilFirst(),
		o.Pulse.Later(), new(stream))
	return src, upstream.Meant(err, "does not support insert", "suffix", "the model "+o.Model+
		" cannot fill a gap: its template has no place for a suffix")
}

// Embed returns a vector for each text, in order. A text that is too long is an error unless the
// client asks for truncation (Truncate). Ollama truncates silently by default, and a search over
// truncated texts is wrong without notice.
func (o *Client) Embed(ctx context.Context, p *wait.Pulse, model string, r *chat.EmbedRequest) (
	*chat.Embeddings, error) {
	said := struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
		// 0: as many as the model has
		Dimensions int                        `json:"dimensions,omitempty"`
		Truncate   bool                       `json:"truncate"`
		Options    map[string]json.RawMessage `json:"options,omitempty"`
		KeepAlive  json.RawMessage            `json:"keep_alive,omitempty"`
	}{model, r.Input, r.Dimensions, r.Truncate, r.Options, r.KeepAlive}
	var reply api.EmbedResponse
	if err := o.calls.Embed(ctx, p, o.base+"/api/embed", model, said, &reply); err != nil {
		return nil, err
	}
	return &chat.Embeddings{Vectors: reply.Embeddings, Tokens: reply.PromptEvalCount}, nil
}
