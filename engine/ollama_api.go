package engine

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// Server returns the transport to the model's server for requests of Ollama's own API, and the name
// that the model has there. An empty model means the first server. In a pool, the transport asks
// the server that the request's conversation prefers. The parameter request is the parsed body, or
// nil if there is none. The transport is nil, without an error, if that server does not speak this
// API. Server returns an error if the server's kind cannot be found out.
func (e *Engine) Server(ctx context.Context, model string, request *fastjson.Value) (
	http.RoundTripper, string, error) {
	s, name := e.place(model)
	if s.pool == nil {
		known, err := s.known(ctx)
		if err != nil {
			return nil, "", err
		}
		if _, ok := known.backend.(native); !ok {
			return nil, name, nil
		}
	}
	return &passing{e, s, name, model, passedRoot(name, request)}, name, nil
}

// Tags returns the body of /api/tags, which lists every model that can be asked, by the name that
// clients use. Models of other servers and aliases have entries like the others, because clients
// build their menus from this list. Servers that cannot be reached are left out. It returns an
// error only if the request has ended.
func (e *Engine) Tags(ctx context.Context) (json.RawMessage, error) {
	models, err := e.Models(ctx)
	if err != nil {
		return nil, err
	}
	known := map[*server]map[string]api.ListModelResponse{}
	list := api.ListResponse{Models: []api.ListModelResponse{}}
	for _, m := range models {
		s, name, err := e.route(ctx, m.ID)
		if err != nil || m.Hidden {
			// the server stopped answering since it listed the model, or the model must not be
			// listed
			continue
		}
		if known[s] == nil {
			known[s] = tagsOf(ctx, s)
		}
		entry, ok := known[s][name]
		if !ok {
			entry, ok = known[s][name+":latest"]
		}
		if !ok {
			entry.ModifiedAt = time.Unix(m.Created, 0).UTC()
		}
		list.Models = append(list.Models, listEntry(entry, m.ID))
	}
	return json.Marshal(list)
}

// Tag returns an entry for the list of Tags, for a model that the caller adds. It returns an error
// only if the entry cannot be encoded.
func Tag(m chat.Info) (json.RawMessage, error) {
	return json.Marshal(listEntry(api.ListModelResponse{ModifiedAt: time.Unix(m.Created, 0).UTC()},
		m.ID))
}

// listEntry returns an entry under the name that clients use for the model. Ollama's own command
// line relies on a digest of at least twelve characters, so the name's hash is used if a server
// sends none.
func listEntry(m api.ListModelResponse, name string) api.ListModelResponse {
	m.Name, m.Model = name, name
	if len(m.Digest) < 2*sha256.Size {
		m.Digest = fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	}
	if slices.Contains(m.Capabilities, model.CapabilityCompletion) &&
		!slices.Contains(m.Capabilities, model.CapabilityTools) {
		m.Capabilities = append(slices.Clone(m.Capabilities), model.CapabilityTools)
	}
	return m
}

// tagsOf returns the models that a server lists, by name. The map is empty if the server cannot
// list models. Each server is asked once per list, not once per model.
func tagsOf(ctx context.Context, s *server) map[string]api.ListModelResponse {
	all := map[string]api.ListModelResponse{}
	if n, ok := s.backend.(native); ok {
		if list, err := n.Tags(ctx); err == nil {
			for _, m := range list.Models {
				all[m.Name] = m
			}
		}
	}
	return all
}

// Running returns the body of /api/ps, which lists the models that are loaded, on every server that
// can say so. A server that cannot be reached is left out, because clients show this list all the
// time, and one server that is down must not empty it. It returns an error only if the request has
// ended.
func (e *Engine) Running(ctx context.Context) (json.RawMessage, error) {
	all := api.ProcessResponse{Models: []api.ProcessModelResponse{}}
	for _, m := range e.single() {
		s, err := m.known(ctx)
		if err != nil {
			continue
		}
		n, ok := s.backend.(native)
		if !ok || s.name == demoName {
			continue
		}
		list, err := n.Running(ctx)
		if err != nil {
			e.cfg.Log.Debug().Err(err).Str("server", s.name).Msg("running models left out")
			continue
		}
		for _, one := range list.Models {
			one.Name, one.Model = e.prefix(m)+one.Name, e.prefix(m)+one.Model
			all.Models = append(all.Models, one)
		}
	}
	b, err := json.Marshal(all)
	if err == nil {
		err = ctx.Err()
	}
	return b, err
}

// Describe returns the body of /api/show: the server's description of a model, with the capability
// to call tools added. Every model that writes text has this capability through this program.
// Everything else stays as the server wrote it, including members that are newer than this program.
// It returns an error if the server cannot be reached, or does not know the model.
func (e *Engine) Describe(ctx context.Context, model string, verbose bool) (
	json.RawMessage, error) {
	s, name, err := e.route(ctx, model)
	if err != nil {
		return nil, err
	}
	n, ok := s.backend.(native)
	if !ok {
		return e.description(ctx, model), nil
	}
	body, err := n.Describe(ctx, name, verbose)
	if err != nil {
		return nil, err
	}
	return withTools(body)
}

// description returns a description in Ollama's form for a model whose server does not speak
// Ollama's API. The context length, if the server says it, is under the name of the architecture,
// because clients look for it there.
func (e *Engine) description(ctx context.Context, model string) json.RawMessage {
	context := ""
	ctx, pulse := wait.NewPulse(ctx, nil, e.cfg.Timeouts)
	defer pulse.Stop()
	if j, err := e.begin(ctx, pulse, &chat.Request{Model: model}); err == nil {
		if j, err := j.probe(ctx); err == nil && j.facts.Window > 0 {
			context = fmt.Sprintf(`,"%s.context_length":%d`, upstream.KindOpenAI, j.facts.Window)
		}
	}
	return json.RawMessage(
		`{"details":{"format":"","family":"","families":null,"parameter_size":"","quantization_level":""},` +
			`"model_info":{"general.architecture":"` + upstream.KindOpenAI + `"` + context +
			`},"capabilities":["completion","tools"]}`)
}

// withTools returns a description with "tools" added to the capabilities, if the model writes text.
// Clients hide their tools from models without this capability, and through this program such
// models call as well. It returns an error if the description is not JSON.
func withTools(show json.RawMessage) (json.RawMessage, error) {
	v, err := fastjson.ParseBytes(show)
	if err != nil {
		return nil, fault.New(fault.Unavailable,
			"the model server's description cannot be read: %w", err)
	}
	caps := v.Get("capabilities")
	writes := false
	for _, c := range caps.GetArray() {
		switch string(c.GetStringBytes()) {
		case "tools":
			return show, nil
		case "completion":
			writes = true
		}
	}
	if !writes {
		return show, nil
	}
	caps.SetArrayItem(len(caps.GetArray()), fastjson.MustParse(`"tools"`))
	return v.MarshalTo(nil), nil
}

// Version returns the version of the first server. It returns an error if the server cannot be
// reached or has no version. Clients that speak Ollama's API use it to decide which requests they
// may make, and those are passed on to that server.
func (e *Engine) Version(ctx context.Context) (string, error) {
	s := e.servers[0]
	if s.pool != nil {
		var err error
		if s, err = s.pool.known(ctx, ""); err != nil {
			return "", err
		}
	}
	n, ok := s.backend.(native)
	if !ok {
		return "", fault.New(fault.NotFound, "the first model server has no version")
	}
	return n.Version(ctx)
}
