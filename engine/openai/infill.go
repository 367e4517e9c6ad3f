package openai

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// Infill begins to fill the gap between prompt and suffix at a llama-server, whose /v1/completions forgets the suffix in
// silence. Fields are those of a Continuation.
func (o *Client) Infill(ctx context.Context, p *wait.Pulse, model, prompt, suffix string, fields map[string]json.RawMessage) (chat.Source, error) {
	all := make(map[string]any, len(fields)+4)
	for k, v := range fields {
		all[k] = v
	}
	all["model"], all["input_prefix"], all["input_suffix"], all["stream"] = model, prompt, suffix, true
	body, err := json.Marshal(all)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the request cannot be written as JSON: %w", err)
	}
	d, err := o.stream(ctx, p, o.root+"/infill", body, p.UntilFirst(), p.Later())
	var f *fault.Error
	if errors.As(err, &f) && strings.Contains(f.Message, "Infill is not supported") {
		return nil, &fault.Error{Kind: fault.Invalid, Param: "suffix", Message: "the model " + model + " cannot fill a gap: it has no marks for one", Cause: f}
	}
	if err != nil {
		return nil, err
	}
	d.record = d.piece
	return d, nil
}
