package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"toolnorm/chat"
	ollamaapi "toolnorm/engine/ollama"
	"toolnorm/internal/fault"
)

// digestAge is how old the list of digests may be: so long a model that was replaced is read like its predecessor.
const digestAge = 5 * time.Second

// digest is the model's, from a list that is at most digestAge old.
func (o *ollama) digest(ctx context.Context, name string) (string, error) {
	name = fullName(name)
	o.mu.Lock()
	fresh := time.Since(o.listed) < digestAge
	d := o.digests[name]
	o.mu.Unlock()
	if fresh && d != "" {
		return d, nil
	}
	digests, err := o.list(ctx)
	return digests[name], err
}

// fullName is a model's name as Ollama compares names.
func fullName(model string) string {
	if !strings.Contains(model[strings.LastIndexByte(model, '/')+1:], ":") {
		model += ":latest"
	}
	return strings.ToLower(model)
}

// list asks for the digests of all models, by their full names.
func (o *ollama) list(ctx context.Context) (map[string]string, error) {
	list, err := o.client.Tags(ctx)
	if err != nil {
		return nil, err
	}
	digests := make(map[string]string, len(list.Models))
	for _, m := range list.Models {
		digests[strings.ToLower(m.Name)] = m.Digest
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.digests, o.listed = digests, time.Now()
	return digests, nil
}

// lookup is what is known of the model with that digest; nothing is ever known of one that the server does not list.
func (o *ollama) lookup(name, digest string) (facts, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f, ok := o.known[name]
	return f, ok && digest != "" && f.digest == digest
}

// remember keeps what was found out.
func (o *ollama) remember(name string, f facts) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known[name] = f
}

// probe finds out about the turn's model, once per digest: two shows, of which one holds the vocabulary, and one render.
func (o *ollama) probe(ctx context.Context, t *turn) (facts, error) {
	digest, err := o.digest(ctx, t.model)
	if err != nil {
		return facts{}, err
	}
	if f, ok := o.lookup(t.model, digest); ok {
		return f, nil
	}
	show, err := o.client.Show(ctx, t.model)
	if err != nil {
		return facts{}, err
	}
	f := capabilities(show)
	f.digest, f.blind = digest, blind(show)
	f.window, f.context = ollamaapi.Trained(show), wantedContext(show)
	t.facts = f
	t.size(ctx) // rendering loads the model
	f.levels, f.always = levels(show, t.format.Name)
	prompt, err := o.rendered(ctx, t, f.tools)
	if err != nil {
		return facts{}, err
	}
	f.render, f.structs = prompt != "", printsStructs(prompt)
	if err = o.hidden(ctx, t, show, &f); err != nil {
		return facts{}, err
	}
	o.remember(t.model, f)
	t.engine.cfg.Log.Info().Str("model", t.model).Str("format", t.format.Name).Bool("tools", f.tools).
		Bool("thinking", f.thinking).Bool("render", f.render).Strs("control", f.hidden).Msg("model probed")
	if !f.tools {
		t.engine.cfg.Log.Warn().Str("model", t.model).Msg("the model has no template for tools: they are described in the system text")
	}
	return f, nil
}

// capabilities reads what the server says of a model; servers before 0.6 say it by the template only.
func capabilities(show *api.ShowResponse) facts {
	if len(show.Capabilities) == 0 {
		return facts{tools: strings.Contains(show.Template, ".Tools")}
	}
	return facts{
		tools:    slices.Contains(show.Capabilities, model.CapabilityTools),
		thinking: slices.Contains(show.Capabilities, model.CapabilityThinking),
	}
}

// probeTool is the smallest tool that every version of Ollama takes.
var probeTool = ollamaapi.Tool{Type: "function", Function: ollamaapi.Function{
	Name: "probe", Description: "probe", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`),
}}

// probeRequest is a request of which only the prompt is wanted.
func probeRequest(t *turn, tools bool) *ollamaapi.ChatRequest {
	r := &ollamaapi.ChatRequest{
		Model:    t.model,
		Messages: []ollamaapi.Message{{Role: "user", Content: "probe"}},
		Options:  with(t.options, "num_predict", 1),
	}
	if tools {
		r.Tools = []ollamaapi.Tool{probeTool}
	}
	return r
}

// printsStructs says whether a rendered probe shows its tool as Go prints it.
func printsStructs(prompt string) bool {
	f := probeTool.Function
	return mended(prompt, []ollamaapi.Tool{probeTool}, []chat.Tool{{Name: f.Name, Description: f.Description, Schema: f.Parameters}}) != prompt
}

// rendered is the prompt of a probe, empty when the server does not render. A server that refuses does not; one that is
// busy, silent or gone leaves it open, which is an error.
func (o *ollama) rendered(ctx context.Context, t *turn, tools bool) (string, error) {
	prompt, err := o.client.Render(ctx, t.pulse, probeRequest(t, tools))
	var f *fault.Error
	if errors.As(err, &f) && (f.Kind == fault.Invalid || f.Kind == fault.Unable || f.Kind == fault.Unavailable && f.Cause == nil) {
		t.engine.cfg.Log.Warn().Str("model", t.model).Str("says", f.Message).Msg("the prompt cannot be rendered alone")
		return "", nil
	}
	return prompt, err
}
