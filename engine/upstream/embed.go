package upstream

import (
	"context"
	"encoding/json"
	"io"

	"github.com/ollama/ollama/api"

	"toolnorm/internal/fault"
)

// EmbedRequest is the body of /api/embed.
type EmbedRequest struct {
	Model      string                     `json:"model"`
	Input      []string                   `json:"input"`
	Dimensions int                        `json:"dimensions,omitempty"`
	Truncate   bool                       `json:"truncate"`
	Options    map[string]json.RawMessage `json:"options,omitempty"`
	KeepAlive  json.RawMessage            `json:"keep_alive,omitempty"`
}

// Embed gives a vector for each text.
func (o *Ollama) Embed(ctx context.Context, p *Pulse, r *EmbedRequest) (*api.EmbedResponse, error) {
	w := p.untilFirst()
	resp, err := o.post(ctx, p, "/api/embed", r, w)
	if err = unable(r.Model, err); err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(p.reader(resp.Body, w, p.later()), maxVectors))
	if err != nil {
		return nil, broken(ctx, "", err)
	}
	var reply api.EmbedResponse
	if err := json.Unmarshal(body, &reply); err != nil {
		return nil, fault.New(fault.Unavailable, "the model server's embeddings cannot be read: %w", err)
	}
	return &reply, nil
}
