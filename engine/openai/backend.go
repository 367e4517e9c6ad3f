package openai

import (
	"context"
	"strings"
	"sync"
	"time"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
	"toolnorm/internal/kept"
)

// Backend is a server with OpenAI's API as the engine uses it, with the facts about its models. It
// is safe for concurrent use.
type Backend struct {
	*Client
	Strict bool // it refuses unknown fields, as OpenAI itself does
	// how long facts are valid for a server that renders; 0: a minute
	ProbeAge time.Duration

	grammars grammars

	mu    sync.Mutex      // guards known
	known map[string]seen // by the server's name for the model
}

// seen has the facts about a model, and until when they are valid, because nothing announces that a
// server's model changes. This API has no digest, and a llama-server answers to any model's name.
type seen struct {
	upstream.Facts
	until time.Time
}

// NewBackend returns the backend of the server at the URL base. OpenAI itself is recognized by its
// address. It refuses unknown fields, and is not asked what it can do. If key is empty, no key is
// sent.
func NewBackend(base, key string) *Backend {
	return &Backend{Client: New(base, key, nil),
		grammars: grammars{Cache: kept.Cache[*held]{Most: maxGrammars}},
		Strict:   strings.HasPrefix(base, "https://api.openai.com"), known: map[string]seen{}}
}

// Models returns the models that the server lists, or an error if it cannot be reached. A date
// below 0 becomes 0.
func (b *Backend) Models(ctx context.Context) ([]chat.Info, error) {
	list, err := b.Client.Models(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]chat.Info, len(list))
	for i, m := range list {
		all[i] = chat.Info{ID: m.ID, Created: max(m.Created, 0), Owner: m.Owner}
	}
	return all, nil
}

// Open sends the order to the server and returns the source of the reply. The result tail is the
// end of the rendered prompt, or empty if that is not known. If the server does not render prompts,
// a forced call is requested by response_format. Open returns an error (fault.Invalid) if the order
// has a strategy that only Ollama supports, which can come only from a wrong setting.
func (b *Backend) Open(ctx context.Context, o *upstream.Order) (
	src chat.Source, tail string, err error) {
	if o.Strategy == upstream.Tap || o.Strategy == upstream.Tokens {
		return nil, "", fault.Wrong("model",
			"strategy %s is configured for %s, but only Ollama knows it", o.Strategy, o.Name)
	}
	body := b.request(o)
	if o.Rendered {
		return b.raw(ctx, o, body)
	}
	if o.Force != nil {
		body.Fields["response_format"] = responseFormat(o.Force.Schema)
	}
	src, err = b.Client.Chat(ctx, o.Pulse, body,
		Reading{Tools: o.Request.Tools, Hold: o.Decoding.Hold})
	return src, "", err
}

// raw renders the prompt and has it continued, as llama-server can. /apply-template returns the
// prompt that its own chat would use, and /completion continues it without parsing. raw also
// returns the end of the prompt. If the server refuses the grammar that constrains calls, raw asks
// again without it. Any other refusal is an error of the request.
//
// Of 27 texts with calls, llama-server's own chat reads 6 correctly. From raw text all 27 are read
// correctly (docs/internal/upstreams.md).
func (b *Backend) raw(ctx context.Context, o *upstream.Order, body *Request) (
	chat.Source, string, error) {
	prompt, err := b.Client.Template(ctx, o.Pulse, body)
	if err != nil {
		return nil, "", err
	}
	src, err := b.held(o, b.grammar(o, body.Fields), func(h *held) (chat.Source, error) {
		return b.Client.Continue(ctx, o.Pulse, continuation(o, prompt, body.Fields, h))
	})
	if err != nil {
		return nil, "", upstream.Final(err)
	}
	return src, upstream.Tail(prompt), nil
}

// Complete continues a text, and fills the gap before the order's suffix if there is one. On a
// llama-server, which is recognized because it renders prompts, it fills the gap by /infill,
// because /v1/completions accepts a suffix there and ignores it. It returns an error if the request
// has parts that only Ollama's API knows, or if the server refuses it.
func (b *Backend) Complete(ctx context.Context, o *upstream.Order) (chat.Source, error) {
	fields, text := b.fields(o), o.Request.Continue
	if len(text.Told) > 0 {
		return nil, fault.New(fault.Invalid,
			"the server of %q does not speak Ollama's API, so template, context and a system text beside suffix have no place there: leave them out, or ask at /api/chat", o.Name)
	}
	if text.Suffix != "" {
		facts, err := b.Probe(ctx, o)
		if err != nil {
			return nil, err
		}
		if facts.Renders {
			return b.Client.Infill(ctx, o.Pulse, o.Model, text.Prompt, text.Suffix,
				continuing(fields))
		}
	}
	return b.Client.Complete(ctx, o.Pulse, o.Model, text.Prompt, text.Suffix, fields)
}
