package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"

	"toolnorm/chat"
	"toolnorm/engine"
	"toolnorm/internal/fault"
	"toolnorm/internal/trace"
)

// Models provides the data of the page Models. The engine implements it.
type Models interface {
	chat.Catalog
	// Plan returns how a model's replies are read, according to its name and the settings, without
	// asking its server.
	Plan(model string) engine.Plan
	// Examine asks the model's server what the model can do. The server may have to load the model
	// first.
	Examine(ctx context.Context, model string) (engine.Findings, error)
	// Describe returns what the server reports about a model, in the form of Ollama's /api/show.
	Describe(ctx context.Context, model string, verbose bool) (json.RawMessage, error)
}

// models answers the routes about models.
type models struct {
	current *atomic.Pointer[current]
	trace   *trace.Log // nil: no exchanges are recorded
}

// routes adds the routes for the page Models to a server.
func (m *models) routes(to *Server) {
	to.Handle("GET "+API+"models", show(m.listModels))
	to.Handle("POST "+API+"models/examine", show(m.examine))
}

// errNoModels is returned by a server without models, which only tests create.
var errNoModels = fault.New(fault.Unable, "this server asks no models")

// listedModel is a model, with how its replies are read.
type listedModel struct {
	ID    string `json:"id"`
	Owner string `json:"owner"`
	// requests may name it, but clients do not see it in their lists
	Hidden   bool   `json:"hidden,omitempty"`
	Server   string `json:"server"`
	Format   string `json:"format"`
	Strategy string `json:"strategy,omitempty"` // from the settings; empty: probing decides
	Wording  string `json:"wording,omitempty"`
	Used     string `json:"used,omitempty"` // the format and the strategy of the latest reply
}

// listModels returns every model that can be asked. It uses only names and settings, so that
// seventy models cost one request to each server. What only a server knows about a model is left to
// the route examine. It returns an error if there are no models or they cannot be listed.
func (m *models) listModels(r *http.Request) (any, error) {
	catalog := m.current.Load().models
	if catalog == nil {
		return nil, errNoModels
	}
	found, err := catalog.Models(r.Context())
	if err != nil {
		return nil, err
	}
	all, used := []listedModel{}, map[string]string{}
	if m.trace != nil {
		used = m.trace.Read()
	}
	for _, one := range found {
		p := catalog.Plan(one.ID)
		all = append(all, listedModel{ID: one.ID, Owner: one.Owner, Hidden: one.Hidden,
			Server: p.Server, Format: p.Format, Strategy: p.Strategy, Wording: p.Wording,
			Used: used[catalog.Real(one.ID)]})
	}
	return map[string][]listedModel{"models": all}, nil
}

// findings is engine.Findings in JSON, with what the server reports about the model. The JSON names
// belong to the API, so they stay when the names of the engine change.
type findings struct {
	Format       string   `json:"format"`
	Template     string   `json:"template,omitempty"`
	Strategy     string   `json:"strategy"`
	Strategies   []string `json:"strategies"`
	Wording      string   `json:"wording,omitempty"`
	Tools        bool     `json:"tools"`
	Structs      bool     `json:"go_structs"`
	Renders      bool     `json:"renders"`
	Control      []string `json:"control_marks,omitempty"`
	MarksMissing bool     `json:"marks_missing"`
	Thinking     bool     `json:"thinking"`
	Always       bool     `json:"always_thinks"`
	Blind        bool     `json:"no_vision"`
	Context      int      `json:"context,omitempty"` // tokens
	Capabilities []string `json:"capabilities,omitempty"`
}

// examine returns the findings about the model that the request names: its format, its template,
// the strategy for its tools, and what the server reports about it. They are found as for the first
// request with tools. A server that has not loaded the model loads it now, which takes seconds. If
// the page disconnects, the examination ends. It returns an error if the examination fails.
func (m *models) examine(r *http.Request) (any, error) {
	catalog := m.current.Load().models
	if catalog == nil {
		return nil, errNoModels
	}
	var ask struct {
		Model string `json:"model"`
	}
	if err := read(r, &ask); err != nil {
		return nil, err
	}
	f, err := catalog.Examine(r.Context(), ask.Model)
	if err != nil {
		return nil, err
	}
	out := findings{
		Format: f.Format, Template: f.Template, Strategy: f.Strategy, Strategies: f.Strategies,
		Tools: f.Tools, Structs: f.PrintsGoStructs, Renders: f.Renders,
		Control: f.ControlMarks, MarksMissing: f.RawLacksMarks, Thinking: f.Thinking,
		Always: f.AlwaysThinks, Blind: f.NoVision,
	}
	if f.Strategy == engine.Prompt {
		out.Wording = f.Wording.String()
	}
	if show, err := catalog.Describe(r.Context(), ask.Model, false); err == nil {
		out.Context, out.Capabilities = readDescription(show)
	}
	return out, nil
}

// readDescription returns the context length and the capabilities from a model's description. A
// missing or malformed value is returned as zero. The member with the context length is named after
// the architecture, for example "qwen3.context_length".
func readDescription(show json.RawMessage) (context int, capabilities []string) {
	var v struct {
		Info         map[string]any `json:"model_info"`
		Capabilities []string       `json:"capabilities"`
	}
	if json.Unmarshal(show, &v) != nil {
		return 0, nil
	}
	for name, value := range v.Info {
		if n, ok := value.(float64); ok && strings.HasSuffix(name, ".context_length") {
			context = int(n)
		}
	}
	return context, v.Capabilities
}
