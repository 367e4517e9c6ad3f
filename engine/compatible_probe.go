package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"toolnorm/engine/openai"
	"toolnorm/internal/fault"
)

const (
	offeredAge = time.Minute // how long a server that renders counts as one, with the same model
	refusedAge = time.Hour   // how long a server that does not counts as one that never will
)

// probe finds out about the turn's model: whether the server renders prompts, as llama-server does, what its template
// can say, and whether thinking can be switched.
func (c *compatible) probe(ctx context.Context, t *turn) (facts, error) {
	c.mu.Lock()
	s, ok := c.known[t.model]
	c.mu.Unlock()
	if ok && time.Now().Before(s.until) {
		return s.facts, nil
	}
	f, err := c.ask(ctx, t)
	if err != nil {
		return facts{}, err
	}
	age := offeredAge
	if !f.render {
		age = refusedAge
	}
	if !ok || f.tools != s.tools || f.render != s.render {
		t.engine.cfg.Log.Info().Str("server", t.server.name).Str("model", t.model).Str("format", t.format.Name).Bool("tools", f.tools).
			Bool("thinking", f.thinking).Bool("render", f.render).Msg("model probed")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[t.model] = seen{f, time.Now().Add(age)}
	return f, nil
}

// ask asks the server.
func (c *compatible) ask(ctx context.Context, t *turn) (facts, error) {
	if c.strict {
		return facts{tools: true, chooses: true, digest: now()}, nil
	}
	props, err := c.client.Properties(ctx)
	if err != nil && !isRefusal(err) {
		return facts{}, err
	}
	if err != nil || props.Template == "" {
		m := c.listed(ctx, t.model)
		return facts{tools: true, thinking: switches(m), window: m.Context, digest: now()}, nil
	}
	prompt, err := c.client.Template(ctx, t.pulse, &openai.Request{
		Model: t.model, Messages: []openai.Message{{Role: "user", Content: "hi"}},
		Tools: []openai.Tool{{Type: "function", Function: openai.Function{
			Name: "probe", Description: "probe", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`),
		}}},
	})
	if err != nil && !isRefusal(err) {
		return facts{}, err
	}
	supported, said := props.Caps["supports_tools"]
	return facts{
		digest:   props.Model + "\n" + props.Template,
		window:   props.Generation.Context,
		render:   err == nil,
		tools:    strings.Contains(prompt, "probe") && (supported || !said),
		thinking: strings.Contains(props.Template, "enable_thinking"),
		blind:    props.Modalities != nil && !props.Modalities["vision"],
	}, nil
}

// now stands for the digest of a model of which nothing tells when it changes: what was found out about it is forgotten
// with the next probe.
func now() string { return time.Now().String() }

// isRefusal says that the server answered, and will answer the same again: it lacks what it was asked for.
func isRefusal(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && (f.Kind == fault.Invalid || f.Kind == fault.NotFound || f.Kind == fault.Unable || f.Kind == fault.Unavailable && f.Cause == nil)
}

// listed is what the server's list says of a model, nothing when it is not in it.
func (c *compatible) listed(ctx context.Context, model string) openai.Model {
	list, _ := c.client.Models(ctx) // nothing hangs on a server that has no list
	for _, m := range list {
		if m.ID == model {
			return m
		}
	}
	return openai.Model{}
}

// switches says whether the server lets thinking be switched in vLLM's way. One that does not say who it is does not.
func switches(m openai.Model) bool { return m.Owner == "vllm" || m.Owner == "sglang" }
