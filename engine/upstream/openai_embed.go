package upstream

import (
	"context"
	"encoding/json"
	"io"

	"toolnorm/internal/fault"
)

// OpenAIEmbedRequest is the body of /v1/embeddings.
type OpenAIEmbedRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
	Encoding   string   `json:"encoding_format"`
}

// OpenAIEmbeddings is the answer.
type OpenAIEmbeddings struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
	Usage struct {
		Prompt int `json:"prompt_tokens"`
	} `json:"usage"`
}

// Embed gives a vector for each text, in whatever order the server likes.
func (o *OpenAI) Embed(ctx context.Context, p *Pulse, r *OpenAIEmbedRequest) (*OpenAIEmbeddings, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the request cannot be written as JSON: %w", err)
	}
	w := p.untilFirst()
	resp, err := o.post(ctx, p, o.base+"/embeddings", body, w)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(&pulsed{r: resp.Body, pulse: p, first: w, later: wait{p.limits.Idle, silentIdle}}, maxVectors))
	if err != nil {
		return nil, broken(ctx, "", err)
	}
	reply := new(OpenAIEmbeddings)
	if err := json.Unmarshal(data, reply); err != nil {
		return nil, fault.New(fault.Unavailable, "the model server's embeddings cannot be read: %w", err)
	}
	return reply, nil
}
