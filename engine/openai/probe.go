package openai

import (
	"cmp"
	"context"
	"strings"
	"time"

	"toolnorm/adapters/derive"
	"toolnorm/engine/upstream"
)

const (
	// offeredAge is how long a server that renders is assumed to do so with the same model. A
	// llama-server that is restarted with another model has the same address, and the same name for
	// the model.
	offeredAge = time.Minute
	// refusedAge is how long a server that does not render is assumed not to, because such a server
	// is another program.
	refusedAge = time.Hour
)

// Probe returns the facts about the model that the order names: whether the server renders prompts,
// as llama-server does, what its template can print, and whether thinking can be switched. The
// facts are valid for ProbeAge or, if the server does not render, an hour, since there is no digest
// that shows a change. Probe returns an error only if the server cannot be reached or is busy,
// because a refusal is an answer.
func (b *Backend) Probe(ctx context.Context, o *upstream.Order) (upstream.Facts, error) {
	b.mu.Lock()
	s, ok := b.known[o.Model]
	b.mu.Unlock()
	if ok && time.Now().Before(s.until) {
		return s.Facts, nil
	}
	f, err := b.ask(ctx, o)
	if err != nil {
		return upstream.Facts{}, err
	}
	age := cmp.Or(b.ProbeAge, offeredAge)
	// A server that renders may be a llama-server that gets another model; any other server is
	// another program.
	if !f.Renders {
		age = refusedAge
	}
	if !ok || f.Tools != s.Tools || f.Renders != s.Renders {
		o.Log.Info().Str("server", o.Server).Str("model", o.Model).Str("format",
			o.Format.Name).Bool("tools", f.Tools).
			Bool("thinking", f.Thinking).Bool("render", f.Renders).Msg("model probed")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known[o.Model] = seen{f, time.Now().Add(age)}
	return f, nil
}

// ask asks the server what it can do, and returns the answers as facts. If the server renders
// prompts (llama-server), ask has it render a prompt with a tool, and looks for the tool in the
// result. Newer ones also state in chat_template_caps whether the template has tools, and a "no"
// there is decisive. A server that does not render is assumed to accept tools. If it refuses tools
// later, as vLLM does without a tool parser, they are written into the prompt. OpenAI itself is not
// asked, because its abilities are known. ask returns an error if the server cannot be reached or
// is busy.
func (b *Backend) ask(ctx context.Context, o *upstream.Order) (upstream.Facts, error) {
	if b.Strict {
		return upstream.Facts{Tools: true, HonorsToolChoice: true, StrictNames: true}, nil
	}
	props, err := b.Client.Properties(ctx)
	if err != nil && !upstream.IsRefusal(err) {
		return upstream.Facts{}, err
	}
	// Not a llama-server, or one without a template: only the server's own chat is available.
	if err != nil || props.Template == "" {
		m := b.listed(ctx, o.Model)
		return upstream.Facts{Tools: true, Thinking: switches(m), Window: m.Context}, nil
	}
	prompt, err := b.Client.Template(ctx, o.Pulse, &Request{
		Model: o.Model, Messages: []Message{{Role: "user", Content: "hi"}},
		Tools: []upstream.Tool{upstream.ProbeTool},
	})
	if err != nil && !upstream.IsRefusal(err) {
		return upstream.Facts{}, err
	}
	supported, said := props.Caps["supports_tools"]
	return upstream.Facts{
		// The digest is made of path and template: another model at the same address differs in at
		// least one of them.
		Digest:   props.Model + "\n" + props.Template,
		Window:   props.Generation.Context,
		Renders:  err == nil,
		Tools:    strings.Contains(prompt, "probe") && (supported || !said),
		Thinking: strings.Contains(props.Template, "enable_thinking"),
		NoVision: props.Modalities != nil && !props.Modalities["vision"],

		// llama-server makes a grammar of the schema, or refuses the request
		PlainSchemas: err == nil,
	}, nil
}

// listed returns the server's list entry of a model, or an empty Model if there is none, since some
// servers answer to any name. vLLM's entry has the context length (max_model_len). The entries of
// OpenAI itself have neither a context length nor abilities.
func (b *Backend) listed(ctx context.Context, model string) Model {
	list, _ := b.Client.Models(ctx) // a server without a list is fine
	for _, m := range list {
		if m.ID == model {
			return m
		}
	}
	return Model{}
}

// switches reports whether the server accepts vLLM's switch for thinking:
// "chat_template_kwargs":{"enable_thinking":false}. It returns false for a server that does not
// name its program, since OpenAI's imitators may refuse unknown fields.
func switches(m Model) bool { return m.Owner == "vllm" || m.Owner == "sglang" }

// Template returns the chat template of the model that the order names on a llama-server, which
// renders with it. Thinking is on, because many templates print reasoning only then. It returns an
// error for servers that do not render, since nothing is known about their templates.
func (b *Backend) Template(ctx context.Context, o *upstream.Order) (derive.Template, error) {
	props, err := b.Client.Properties(ctx)
	if err != nil {
		return derive.Template{}, err
	}
	return o.Rendering(props.Template, true, func(q *upstream.Order) (string, error) {
		return b.Client.Template(ctx, o.Pulse, b.request(q))
	}), nil
}
