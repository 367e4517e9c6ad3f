package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// Complete begins a reply of /v1/completions: the model writes prompt on, into the gap in front of suffix if that
// is not empty. Fields are those of a chat. The events are those of a chat too, with the text in "text" instead of
// a delta.
func (o *Client) Complete(ctx context.Context, p *wait.Pulse, model, prompt, suffix string, fields map[string]json.RawMessage) (chat.Source, error) {
	all := make(map[string]any, len(fields)+5)
	for k, v := range fields {
		all[k] = v
	}
	all["model"], all["prompt"], all["stream"], all["stream_options"] = model, prompt, true, json.RawMessage(`{"include_usage":true}`)
	if suffix != "" {
		all["suffix"] = suffix
	}
	body, err := json.Marshal(all)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the request cannot be written as JSON: %w", err)
	}
	d, err := o.stream(ctx, p, o.base+"/completions", body, p.UntilFirst(), p.Later())
	if err != nil {
		return nil, err
	}
	d.record = d.chunk
	return d, nil
}

// Embedding is the body of /v1/embeddings. Encoding is always "float": a client that asks for base64 gets it from
// here, whatever its server can do.
type Embedding struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
	Encoding   string   `json:"encoding_format"` // "float"
}

// Embed gives a vector for each text, in the order of the texts, and the number of tokens in all. Entries may come
// in any order, each with its index; an index that is missing or comes twice is an error, since a vector under a
// wrong text is found by nobody.
func (o *Client) Embed(ctx context.Context, p *wait.Pulse, r *Embedding) (vectors [][]float32, tokens int, err error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, 0, err
	}
	w := p.UntilFirst()
	resp, err := o.post(ctx, p, o.base+"/embeddings", body, w)
	if err = upstream.CannotEmbed(r.Model, err); err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(p.Reader(resp.Body, w, p.Later()), upstream.MaxVectors))
	if err != nil {
		return nil, 0, wait.Broken(ctx, "", err)
	}
	var reply struct {
		Data []struct {
			Index     int
			Embedding []float32
		}
		Usage struct {
			Prompt int `json:"prompt_tokens"`
		}
	}
	if err := json.Unmarshal(data, &reply); err != nil {
		return nil, 0, fault.New(fault.Unavailable, "the model server's embeddings cannot be read: %w", err)
	}
	vectors = make([][]float32, len(reply.Data))
	for _, e := range reply.Data {
		// Two vectors under one number leave another text with none.
		if e.Index < 0 || e.Index >= len(vectors) || vectors[e.Index] != nil {
			return nil, 0, fault.New(fault.Unavailable, "the model server numbered its embeddings wrongly")
		}
		vectors[e.Index] = e.Embedding
	}
	return vectors, reply.Usage.Prompt, nil
}

// Infill begins to fill the gap between prompt and suffix at a llama-server, whose /v1/completions forgets the
// suffix in silence. Fields are those of a Continuation. The server puts the model's own marks of gaps around the
// two; a model that has none in its vocabulary is fault.Invalid with Param "suffix".
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
