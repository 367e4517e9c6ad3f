package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/ollama/ollama/api"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// CompleteRequest is the body of /api/generate for a text that is to be written on. It is not GenerateRequest:
// here the model's own template may come in, for a gap, and nothing is said of thinking then.
type CompleteRequest struct {
	Model     string                     `json:"model"`
	Prompt    string                     `json:"prompt"`           // not empty: else the server only loads the model
	Suffix    string                     `json:"suffix,omitempty"` // the text behind the gap; needs a model whose template knows gaps
	Stream    bool                       `json:"stream"`
	Truncate  bool                       `json:"truncate"`
	Options   map[string]json.RawMessage `json:"options,omitempty"`
	KeepAlive json.RawMessage            `json:"keep_alive,omitempty"`
}

// Complete begins to write a text on: raw, or by the model's own template for gaps when there is a suffix. A model
// without such a template is fault.Invalid with Param "suffix": another prompt would not help.
func (o *Client) Complete(ctx context.Context, p *wait.Pulse, r *CompleteRequest) (chat.Source, error) {
	body := struct {
		*CompleteRequest
		Raw   bool  `json:"raw,omitempty"`
		Think *bool `json:"think,omitempty"` // false keeps raw text whole; behind a template, models that cannot think refuse the word
	}{CompleteRequest: r}
	if r.Suffix == "" {
		body.Raw, body.Think = true, new(bool)
	}
	src, err := o.stream(ctx, p, "/api/generate", &body, p.UntilFirst(), p.Later())
	var f *fault.Error
	if errors.As(err, &f) && strings.Contains(f.Message, "does not support insert") {
		return nil, &fault.Error{Kind: fault.Invalid, Param: "suffix", Message: "the model " + r.Model + " cannot fill a gap: its template has no place for a suffix", Cause: f}
	}
	return src, err
}

// EmbedRequest is the body of /api/embed.
type EmbedRequest struct {
	Model      string                     `json:"model"`
	Input      []string                   `json:"input"`
	Dimensions int                        `json:"dimensions,omitempty"` // 0: as many as the model has
	Truncate   bool                       `json:"truncate"`
	Options    map[string]json.RawMessage `json:"options,omitempty"`
	KeepAlive  json.RawMessage            `json:"keep_alive,omitempty"`
}

// Embed gives a vector for each text, in the order of the texts. A model that makes none is an error by
// upstream.CannotEmbed. The answer is one document, MaxVectors at most, and its first byte comes when all texts
// are read.
func (o *Client) Embed(ctx context.Context, p *wait.Pulse, r *EmbedRequest) (*api.EmbedResponse, error) {
	w := p.UntilFirst()
	resp, err := o.post(ctx, p, "/api/embed", r, w)
	if err = upstream.CannotEmbed(r.Model, err); err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(p.Reader(resp.Body, w, p.Later()), upstream.MaxVectors))
	if err != nil {
		return nil, wait.Broken(ctx, "", err)
	}
	var reply api.EmbedResponse
	if err := json.Unmarshal(body, &reply); err != nil {
		return nil, fault.New(fault.Unavailable, "the model server's embeddings cannot be read: %w", err)
	}
	return &reply, nil
}
