package ollama

import (
	"context"
	"encoding/json"
	"io"

	"github.com/ollama/ollama/api"

	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
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
