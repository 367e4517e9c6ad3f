package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// digestAge is how old the list of digests may be: so long a model that was replaced is read like its predecessor.
const digestAge = 5 * time.Second

// facts are what is known of a model, as long as its digest stays the same.
type facts struct {
	digest   string // empty: the server does not list the model
	tools    bool   // its template can print tools
	thinking bool   // its thinking can be switched
	render   bool   // the server gives the rendered prompt, so raw works
}

// server is a model server and what has been found out about its models.
type server struct {
	client *upstream.Ollama

	mu      sync.Mutex
	digests map[string]string
	listed  time.Time
	known   map[string]facts
}

// newServer wraps a client. Making one fails only for a URL that ParseHost would not have given.
func newServer(c *upstream.Ollama, err error) *server {
	if err != nil {
		c, _ = upstream.NewOllama("", nil)
	}
	return &server{client: c, known: map[string]facts{}}
}

// digest is the model's, from a list that is at most digestAge old.
func (s *server) digest(ctx context.Context, name string) (string, error) {
	if !strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ":") {
		name += ":latest"
	}
	name = strings.ToLower(name) // as Ollama compares names
	s.mu.Lock()
	fresh := time.Since(s.listed) < digestAge
	d := s.digests[name]
	s.mu.Unlock()
	if fresh && d != "" {
		return d, nil
	}
	list, err := s.client.Tags(ctx)
	if err != nil {
		return "", err
	}
	digests := make(map[string]string, len(list.Models))
	for _, m := range list.Models {
		digests[strings.ToLower(m.Name)] = m.Digest
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.digests, s.listed = digests, time.Now()
	return digests[name], nil
}

// lookup is what is known of the model with that digest; nothing is ever known of one that the server does not list.
func (s *server) lookup(name, digest string) (facts, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.known[name]
	return f, ok && digest != "" && f.digest == digest
}

// remember keeps what was found out.
func (s *server) remember(name string, f facts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[name] = f
}

// probe finds out about the turn's model, once per digest: one show and one render.
func (t *turn) probe(ctx context.Context) (facts, error) {
	digest, err := t.server.digest(ctx, t.model)
	if err != nil {
		return facts{}, err
	}
	if f, ok := t.server.lookup(t.model, digest); ok {
		return f, nil
	}
	show, err := t.server.client.Show(ctx, t.model)
	if err != nil {
		return facts{}, err
	}
	f := capabilities(show)
	f.digest = digest
	if f.render, err = t.renders(ctx, f.tools); err != nil {
		return facts{}, err
	}
	t.server.remember(t.model, f)
	t.engine.cfg.Log.Info().Str("model", t.model).Str("format", t.format.Name).Bool("tools", f.tools).
		Bool("thinking", f.thinking).Bool("render", f.render).Msg("model probed")
	if !f.tools {
		t.engine.cfg.Log.Warn().Str("model", t.model).Msg("the model has no template for tools: they are described in the system text")
	}
	return f, nil
}

// capabilities reads what the server says of a model; servers before 0.6 say it by the template only.
func capabilities(show *api.ShowResponse) facts {
	if len(show.Capabilities) == 0 {
		return facts{tools: strings.Contains(show.Template, ".Tools")}
	}
	return facts{
		tools:    slices.Contains(show.Capabilities, model.CapabilityTools),
		thinking: slices.Contains(show.Capabilities, model.CapabilityThinking),
	}
}

// probeTool is the smallest tool that every version of Ollama takes.
var probeTool = upstream.Tool{Type: "function", Function: upstream.Function{
	Name: "probe", Description: "probe", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`),
}}

// renders reports whether the server renders a prompt of the model. A server that refuses does not; one that is busy,
// silent or gone leaves it open, which is an error.
func (t *turn) renders(ctx context.Context, tools bool) (bool, error) {
	r := &upstream.ChatRequest{
		Model:    t.model,
		Messages: []upstream.Message{{Role: "user", Content: "probe"}},
		Options:  with(t.options, "num_predict", 1),
	}
	if tools {
		r.Tools = []upstream.Tool{probeTool}
	}
	prompt, err := t.server.client.Render(ctx, t.pulse, r)
	var f *fault.Error
	if errors.As(err, &f) && (f.Kind == fault.Invalid || f.Kind == fault.Unavailable && f.Cause == nil) {
		t.engine.cfg.Log.Warn().Str("model", t.model).Str("says", f.Message).Msg("the prompt cannot be rendered alone")
		return false, nil
	}
	return prompt != "", err
}
