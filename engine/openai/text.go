package openai

import (
	"context"
	"encoding/json"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// Complete begins a reply of /v1/completions: the model writes prompt on, into the gap in front of suffix if that
// is not empty. Fields are those of a chat. The events are those of a chat too, with the text in "text" instead of
// a delta.
func (o *Client) Complete(ctx context.Context, p *wait.Pulse, model, prompt, suffix string, fields map[string]json.RawMessage) (chat.Source, error) {
	said := map[string]any{"model": model, "prompt": prompt, "stream": true, "stream_options": counted}
	if suffix != "" {
		said["suffix"] = suffix
	}
	return o.stream(ctx, p, o.base+"/completions", with(fields, said), p.Later(), chunks)
}

// Embed gives a vector for each text, in the order of the texts, and the number of tokens in all. Entries may come
// in any order, each with its index; an index that is missing or comes twice is an error, since a vector under a
// wrong text is found by nobody.
// The cut that Ollama knows (Truncate) is not in this API, so who asks for it gets fault.Invalid and no vectors of texts that
// were meant to be cut. The encoding is always "float": a client that asks for base64 gets it from here, whatever its server
// can do.
func (o *Client) Embed(ctx context.Context, p *wait.Pulse, model string, r *chat.EmbedRequest) (*chat.Embeddings, error) {
	if r.Truncate {
		return nil, &fault.Error{Kind: fault.Invalid, Param: "truncate", Message: "the model's server cuts no texts: leave truncate out"}
	}
	said := map[string]any{"model": model, "input": r.Input, "encoding_format": "float"}
	if r.Dimensions > 0 {
		said["dimensions"] = r.Dimensions
	}
	data, err := o.calls.Document(ctx, p, o.base+"/embeddings", said, p.UntilFirst(), p.Later(), upstream.MaxVectors)
	if err = upstream.CannotEmbed(model, err); err != nil {
		return nil, err
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
		return nil, fault.New(fault.Unavailable, "the model server's embeddings cannot be read: %w", err)
	}
	vectors := make([][]float32, len(reply.Data))
	for _, e := range reply.Data {
		// Two vectors under one number leave another text with none.
		if e.Index < 0 || e.Index >= len(vectors) || vectors[e.Index] != nil {
			return nil, fault.New(fault.Unavailable, "the model server numbered its embeddings wrongly")
		}
		vectors[e.Index] = e.Embedding
	}
	return &chat.Embeddings{Vectors: vectors, Tokens: reply.Usage.Prompt}, nil
}

// Infill begins to fill the gap between prompt and suffix at a llama-server, whose /v1/completions forgets the
// suffix in silence. Fields are those of a Continuation. The server puts the model's own marks of gaps around the
// two; a model that has none in its vocabulary is fault.Invalid with Param "suffix".
func (o *Client) Infill(ctx context.Context, p *wait.Pulse, model, prompt, suffix string, fields map[string]json.RawMessage) (chat.Source, error) {
	said := map[string]any{"model": model, "input_prefix": prompt, "input_suffix": suffix, "stream": true}
	src, err := o.stream(ctx, p, o.root+"/infill", with(fields, said), p.Later(), pieces)
	return src, upstream.Meant(err, "Infill is not supported", "suffix", "the model "+model+" cannot fill a gap: it has no marks for one")
}
