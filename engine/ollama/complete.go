package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// CompleteRequest is the body of /api/generate for a text that is to be written on.
type CompleteRequest struct {
	Model     string                     `json:"model"`
	Prompt    string                     `json:"prompt"`           // not empty: else the server only loads the model
	Suffix    string                     `json:"suffix,omitempty"` // the text behind the gap; needs a model whose template knows gaps
	Stream    bool                       `json:"stream"`
	Truncate  bool                       `json:"truncate"`
	Options   map[string]json.RawMessage `json:"options,omitempty"`
	KeepAlive json.RawMessage            `json:"keep_alive,omitempty"`
}

// Complete begins to write a text on: raw, or by the model's own template for gaps when there is a suffix.
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
