package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/valyala/fastjson"

	"toolnorm/internal/fault"
)

// Native is what stands behind Ollama's own API.
type Native interface {
	// Server is the way to the server of a model, and the model's name there; of no model, to the first server. Nil: that
	// server does not speak this API.
	Server(ctx context.Context, model string) (http.RoundTripper, string, error)
	Tags(ctx context.Context) (json.RawMessage, error)    // the body of /api/tags: every model that can be asked
	Running(ctx context.Context) (json.RawMessage, error) // the body of /api/ps: the models that are loaded
	// Describe is the body of /api/show.
	Describe(ctx context.Context, model string, verbose bool) (json.RawMessage, error)
	Version(ctx context.Context) (string, error) // of the first server
}

// nativePaths are those of Ollama's API, for those who ask for another.
const nativePaths = "/api/chat, generate, embed, embeddings, tags, show, ps, version, pull, push, create, copy, delete and blobs"

// routeNative serves Ollama's API: what it says of models is said here, chats with tools are answered here, and the rest
// is passed on.
func (s *Server) routeNative() {
	s.route("GET", "/{$}", s.hello)
	s.route("GET", "/api/tags", s.tags)
	s.route("GET", "/api/ps", s.document(s.cfg.Native.Running))
	s.route("GET", "/api/version", s.nativeVersion)
	s.route("POST", "/api/show", s.show)
	s.route("POST", "/api/chat", s.logged(question{name: "native chat", prefix: "chat-", fail: fault.WriteOllama}, s.nativeChat))
	for _, path := range []string{"generate", "embed", "embeddings"} {
		s.route("POST", "/api/"+path, s.logged(question{name: "native " + path, prefix: path + "-", fail: fault.WriteOllama}, s.passOn))
	}
	for path, method := range map[string]string{"pull": "POST", "push": "POST", "create": "POST", "copy": "POST", "delete": "DELETE"} {
		s.route(method, "/api/"+path, s.logged(question{name: "native " + path, prefix: path + "-", fail: fault.WriteOllama}, s.change))
	}
	blobs := s.logged(question{name: "native blobs", prefix: "blobs-", fail: fault.WriteOllama}, s.change)
	s.mux.HandleFunc("/api/blobs/{digest}", func(w http.ResponseWriter, r *http.Request) { _ = blobs(w, r) }) // it has said what is wrong
}

// hello is what Ollama's own command line looks for.
func (s *Server) hello(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := w.Write([]byte("Ollama is running (behind toolnorm)"))
	return err
}

// document serves a body that is made for each request.
func (s *Server) document(make func(context.Context) (json.RawMessage, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		b, err := make(r.Context())
		if err != nil {
			return err
		}
		return writeJSON(w, http.StatusOK, b)
	}
}

// apiVersion is the version of Ollama whose API is spoken here: that of the client library. Some clients refuse to work with
// an older one than they know.
const apiVersion = "0.34.3"

// nativeVersion is that of the server behind, since clients look at it for what that server can do; that of the API when it is
// not there.
func (s *Server) nativeVersion(w http.ResponseWriter, r *http.Request) error {
	v, err := s.cfg.Native.Version(r.Context())
	if err != nil {
		v = apiVersion
	}
	return writeValue(w, struct {
		Version string `json:"version"`
	}{v})
}

// show describes a model.
func (s *Server) show(w http.ResponseWriter, r *http.Request) error {
	body, err := s.body(w, r)
	if err != nil {
		return err
	}
	var model string
	verbose := false
	err = parse(body, func(v *fastjson.Value) error {
		verbose = v.GetBool("verbose")
		model, err = modelOf(v)
		return err
	})
	if err != nil {
		return err
	}
	b, err := s.cfg.Native.Describe(r.Context(), model, verbose)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, b)
}

// modelOf is the model that a request of Ollama's API names: older clients call it name.
func modelOf(v *fastjson.Value) (model string, err error) {
	for _, key := range []string{"name", "model"} {
		if f := v.Get(key); f != nil {
			err = errors.Join(err, within(key, text(&model)(f)))
		}
	}
	if model == "" && err == nil {
		err = bad("model", "is required")
	}
	return model, err
}

// asked reads a request that names a model, shows it to look, and finds the way to the model's server and the name that the
// model has there. The way is nil when that server does not speak Ollama's API.
func (s *Server) asked(w http.ResponseWriter, r *http.Request, t *turn, look func(*fastjson.Value)) (body []byte, rt http.RoundTripper, name string, err error) {
	if body, err = s.body(w, r); err != nil {
		return nil, nil, "", err
	}
	err = parse(body, func(v *fastjson.Value) error {
		look(v)
		t.model, err = modelOf(v)
		return err
	})
	if err != nil {
		return nil, nil, "", err
	}
	rt, name, err = s.cfg.Native.Server(r.Context(), t.model)
	return body, rt, name, err
}

// nativeChat answers a chat with tools, and passes others on.
func (s *Server) nativeChat(w http.ResponseWriter, r *http.Request, t *turn) error {
	var tools bool
	body, rt, name, err := s.asked(w, r, t, func(v *fastjson.Value) {
		tools = len(v.GetArray("tools")) > 0 && len(v.GetArray("messages")) > 0 && !v.GetBool("_debug_render_only") &&
			noFormat(v.Get("format")) && !v.GetBool("logprobs")
	})
	if err != nil {
		return err
	}
	if rt != nil && !tools {
		return s.forward(w, r, t, rt, renamed(body, t.model, name), name)
	}
	return s.answer(w, r, question{read: parseNative, open: openNative}, t, body)
}
