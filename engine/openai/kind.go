package openai

import (
	"context"

	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// KindOf asks the server at base what it speaks: Ollama tells its version, the others list models under /v1. A server
// that does neither is an error, as is one that cannot be reached.
func KindOf(ctx context.Context, base, key string) (string, error) {
	o := New(base, key, nil)
	defer o.http.CloseIdleConnections()
	var version struct{ Version string }
	if err := o.get(ctx, base+"/api/version", &version); err == nil && version.Version != "" {
		return upstream.KindOllama, nil
	}
	if _, err := o.Models(ctx); err != nil {
		f := *fault.From(err)
		f.Message = "the server at " + base + " does not say whether it is Ollama or OpenAI-compatible: " + f.Message
		return "", &f
	}
	return upstream.KindOpenAI, nil
}
