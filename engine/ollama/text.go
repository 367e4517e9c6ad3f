package ollama

import (
	"context"
	"encoding/json"

	"github.com/ollama/ollama/api"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// completeRequest is the body of /api/generate for a text that is to be written on. It is not GenerateRequest:
// here the model's own template may come in, for a gap, and nothing is said of thinking then.
type completeRequest struct {
	Model     string                     `json:"model"`
	Prompt    string                     `json:"prompt"`           // not empty: else the server only loads the model
	Suffix    string                     `json:"suffix,omitempty"` // the text behind the gap; needs a model whose template knows gaps
	Stream    bool                       `json:"stream"`
	Truncate  bool                       `json:"truncate"`
	Options   map[string]json.RawMessage `json:"options,omitempty"`
	KeepAlive json.RawMessage            `json:"keep_alive,omitempty"`
	Raw       bool                       `json:"raw,omitempty"`
	Think     *bool                      `json:"think,omitempty"` // false keeps raw text whole; behind a template, models that cannot think refuse the word
}

// Complete begins to write a text on: raw, or by the model's own template for gaps when there is a suffix. A model
// without such a template is fault.Invalid with Param "suffix": another prompt would not help.
//
// Editors put the marks of gaps into the prompt themselves. The model is not probed for it: all that would be of use is how
// long its context may be, and that is taken when it was learned already. An editor that asks with every key
// stroke should not wait for a probe.
func (b *Backend) Complete(ctx context.Context, o *upstream.Order) (chat.Source, error) {
	q := *o
	b.mu.Lock()
	q.Facts = b.known[knownAs(o)]
	b.mu.Unlock()
	c := o.Request.Continue
	body := completeRequest{
		Model: o.Model, Prompt: c.Prompt, Suffix: c.Suffix, Stream: true, Options: b.sizedOptions(ctx, &q), KeepAlive: o.Request.Keep,
	}
	if c.Suffix == "" {
		body.Raw, body.Think = true, new(bool)
	}
	src, err := b.stream(ctx, o.Pulse, "/api/generate", &body, o.Pulse.UntilFirst(), o.Pulse.Later(), plain)
	return src, upstream.Meant(err, "does not support insert", "suffix", "the model "+o.Model+" cannot fill a gap: its template has no place for a suffix")
}

// Embed gives a vector for each text, in the order of the texts. A model that makes none is an error by
// upstream.CannotEmbed. The answer is one document, MaxVectors at most, and its first byte comes when all texts
// are read.
// What is too long is an error unless the client asks for the cut (Truncate): Ollama's default is to cut silently, and a search
// over cut texts is wrong without anyone knowing.
func (o *Client) Embed(ctx context.Context, p *wait.Pulse, model string, r *chat.EmbedRequest) (*chat.Embeddings, error) {
	said := struct {
		Model      string                     `json:"model"`
		Input      []string                   `json:"input"`
		Dimensions int                        `json:"dimensions,omitempty"` // 0: as many as the model has
		Truncate   bool                       `json:"truncate"`
		Options    map[string]json.RawMessage `json:"options,omitempty"`
		KeepAlive  json.RawMessage            `json:"keep_alive,omitempty"`
	}{model, r.Input, r.Dimensions, r.Truncate, r.Options, r.KeepAlive}
	body, err := o.calls.Document(ctx, p, o.base+"/api/embed", said, p.UntilFirst(), p.Later(), upstream.MaxVectors)
	if err = upstream.CannotEmbed(model, err); err != nil {
		return nil, err
	}
	var reply api.EmbedResponse
	if err := json.Unmarshal(body, &reply); err != nil {
		return nil, fault.New(fault.Unavailable, "the model server's embeddings cannot be read: %w", err)
	}
	return &chat.Embeddings{Vectors: reply.Embeddings, Tokens: reply.PromptEvalCount}, nil
}
