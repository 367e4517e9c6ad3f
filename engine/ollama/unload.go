package ollama

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"toolnorm/engine/wait"
)

const (
	unloadTime = 30 * time.Second       // until a model must be out of the memory; the client of a hung reply waits for it
	unloadLook = 200 * time.Millisecond // between two looks
)

// Unload has the server take a model out of its memory, and waits until it is. It says
// whether it was there and is no more: a model that other requests use stays for as long as they do, so one that
// is merely busy is not cut off. Before 0.32.15 one call that a parser refuses may stop a model for everyone, and
// this is what frees it.
func (o *Client) Unload(ctx context.Context, p *wait.Pulse, model string) (bool, error) {
	model = fullName(model)
	there, err := o.isLoaded(ctx, model)
	if !there || err != nil {
		return false, err
	}
	// A request without a prompt and with keep_alive 0 is how Ollama is asked to unload.
	now := map[string]any{"model": model, "keep_alive": "0s", "stream": false}
	err = o.calls.Quick(ctx, o.base+"/api/generate", now, new(json.RawMessage))
	for until := time.Now().Add(unloadTime); there && err == nil && time.Now().Before(until) && p.Sleep(ctx, unloadLook); {
		there, err = o.isLoaded(ctx, model)
	}
	return !there && err == nil, err
}

// isLoaded says whether a model is in the server's memory.
func (o *Client) isLoaded(ctx context.Context, model string) (bool, error) {
	list, err := o.Running(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.Models, func(m api.ProcessModelResponse) bool { return strings.EqualFold(m.Name, model) }), nil
}
