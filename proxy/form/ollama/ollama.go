// Package ollama is the client form of Ollama's own API. It lists the models, answers chats with
// tools like any other request, and passes on all requests that need no help to the model's server,
// byte for byte.
//
//	ollama.go   paths, models, which chats are answered here
//	request.go  the fields of a chat
//	generate.go a prompt with a format
//	reply.go    the reply as records of JSON, one a line or one in all
//	forward.go  requests that are passed on, with the name that the model has at its server
//
// A reply is a line of JSON for each piece, the last of which says why it ended and what it took:
//
//	{"model":"qwen3","created_at":"…","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_1","function":{"index":0,"name":"f","arguments":{"a":1}}}]},"done":false}
//	{"model":"qwen3","created_at":"…","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","eval_count":20}
//
// Arguments are an object there, so a call can only be sent when it is whole, and is checked
// before. Chats with tools are not passed on, since all versions of Ollama drop malformed calls or
// turn them into errors.
package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/valyala/fastjson"

	"toolnorm/internal/fault"
	"toolnorm/proxy/exchange"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// Upstream gives access to the model servers. The engine implements it. It may know several
// servers, which look like one in this API.
type Upstream interface {
	// Server returns the transport to a model's server and the model's name there. For an empty
	// name it is the first server. The transport is nil if the server does not know Ollama's API.
	// It is for one request, whose parsed body is given, or nil if it has none. Server returns an
	// error if the caller may not ask the model or there is no such server.
	Server(ctx context.Context, model string, request *fastjson.Value) (http.RoundTripper, string,
		error)
	// Tags returns the body of /api/tags, all models that can be asked.
	Tags(ctx context.Context) (json.RawMessage, error)
	// Running returns the body of /api/ps, the models that are loaded.
	Running(ctx context.Context) (json.RawMessage, error)
	// Describe returns the body of /api/show.
	Describe(ctx context.Context, model string, verbose bool) (json.RawMessage, error)
	Version(ctx context.Context) (string, error) // Version returns the version of the first server.
}

// Paths lists the API's paths, for the error message about an unknown path.
const Paths = "/api/chat, generate, embed, embeddings, tags, show, ps, version, pull, push, create, copy, delete and blobs"

// Server answers requests to the API. All its fields are needed.
type Server struct {
	Run      *exchange.Runner
	Upstream Upstream

	// Alias returns a function that returns a model's second name in the list, or "" if the model
	// has none. Alias returns nil for a client that is shown no second names.
	Alias func(r *http.Request) func(model string) string
}

// Routes registers every path with the function route; an empty method stands for all methods.
// Questions about models and chats with tools are answered here; all other requests are passed on.
func (s *Server) Routes(route func(method, path string, h exchange.Handler)) {
	route("GET", "/{$}", s.hello)
	route("GET", "/api/tags", s.tags)
	route("GET", "/api/ps", s.document(s.Upstream.Running))
	route("GET", "/api/version", s.version)
	route("POST", "/api/show", s.show)
	route("POST", "/api/chat", s.logged("chat", s.chat))
	route("POST", "/api/generate", s.logged("generate", s.generate))
	for _, name := range []string{"embed", "embeddings"} {
		route("POST", "/api/"+name, s.logged(name, s.passOn))
	}
	for name, method := range map[string]string{"pull": "POST", "push": "POST", "create": "POST",
		"copy": "POST", "delete": "DELETE"} {
		route(method, "/api/"+name, s.logged(name, s.change))
	}
	route("", "/api/blobs/{digest}", s.logged("blobs", s.upload))
}

// logged returns a handler that calls h, gives the request a line in the log, and writes errors as
// Ollama does: {"error":"…"} with a sentence, and not an object as OpenAI.
func (s *Server) logged(name string, h func(http.ResponseWriter, *http.Request,
	*exchange.Record) error) exchange.Handler {
	return s.Run.Logged(form.API{Name: "ollama " + name, Prefix: name + "-",
		Fail: fault.WriteOllama}, h)
}

// hello answers GET /, by which Ollama's own command line detects a server. It returns an error if
// the client cannot be written to.
func (s *Server) hello(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := w.Write([]byte("Ollama is running (behind toolnorm)"))
	return err
}

// tags answers with the list of models, including second names for clients that are shown them. A
// model's other members are copied unchanged. The editor Void asks for the list every five seconds
// and reads the member name. It returns an error if the models cannot be listed.
func (s *Server) tags(w http.ResponseWriter, r *http.Request) error {
	body, err := s.Upstream.Tags(r.Context())
	if err != nil {
		return err
	}
	alias := s.Alias(r)
	if alias == nil {
		return form.WriteJSON(w, http.StatusOK, body)
	}
	list, err := fastjson.ParseBytes(body)
	if err != nil {
		return err
	}
	var arena fastjson.Arena
	models := list.Get("models")
	for _, m := range list.GetArray("models") {
		second := alias(string(m.GetStringBytes("name")))
		if second == "" {
			continue
		}
		again, err := fastjson.ParseBytes(m.MarshalTo(nil))
		if err != nil {
			return err
		}
		again.Set("name", arena.NewString(second))
		again.Set("model", arena.NewString(second))
		models.SetArrayItem(len(models.GetArray()), again)
	}
	return form.WriteJSON(w, http.StatusOK, list.MarshalTo(nil))
}

// document returns a handler that calls make for each request, and answers with the document that
// make returns, or with its error.
func (s *Server) document(make func(context.Context) (json.RawMessage, error)) exchange.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		b, err := make(r.Context())
		if err != nil {
			return err
		}
		return form.WriteJSON(w, http.StatusOK, b)
	}
}

// apiVersion is the version of Ollama whose API this package implements. It is the version of the
// client library. Some clients refuse to work with an old version.
const apiVersion = "0.34.3"

// version answers with the version of the model server, since clients conclude from it what that
// server can do. If the server does not answer, it answers with apiVersion. toolnorm's own version
// is not used, because `codex --oss` refuses anything older than 0.13.4. It returns an error if the
// client cannot be written to.
func (s *Server) version(w http.ResponseWriter, r *http.Request) error {
	v, err := s.Upstream.Version(r.Context())
	if err != nil {
		v = apiVersion
	}
	return form.WriteValue(w, struct {
		Version string `json:"version"`
	}{v})
}

// show answers with the description of a model. Clients read the context length from model_info,
// and some (LlamaIndex, LiteLLM) fail if it is null. It returns an error if the request names no
// model or the model is unknown.
func (s *Server) show(w http.ResponseWriter, r *http.Request) error {
	body, err := s.Run.Body(w, r)
	if err != nil {
		return err
	}
	var model string
	verbose := false
	err = field.Parse(body, func(v *fastjson.Value) error {
		verbose = v.GetBool("verbose")
		model, err = modelOf(v)
		return err
	})
	if err != nil {
		return err
	}
	b, err := s.Upstream.Describe(r.Context(), model, verbose)
	if err != nil {
		return err
	}
	return form.WriteJSON(w, http.StatusOK, b)
}

// modelOf returns the model that a request names in the member model, or in the member name, as
// older clients do. It returns an error if there is none.
func modelOf(v *fastjson.Value) (model string, err error) {
	for _, key := range []string{"name", "model"} {
		if v.Exists(key) {
			err = errors.Join(err, field.Member(v, key, &model))
		}
	}
	if model == "" && err == nil {
		err = field.Bad("model", "is required")
	}
	return model, err
}

// asked reads the body of a request that names a model, and decides who answers it. The model's
// server does if it has Ollama's API and the function passed returns true for the parsed body. Then
// asked returns a transport to that server, and the body with the model's name on that server.
// Otherwise this program answers: asked passes the parsed body to the function in the parameter
// here, and returns a nil transport. It returns an error if the body is invalid or the model is not
// allowed. The body is parsed only once, because a second copy of 19 MB takes 40 MB more memory.
func (s *Server) asked(w http.ResponseWriter, r *http.Request, x *exchange.Record,
	passed func(*fastjson.Value) bool, here func(*fastjson.Value)) (body []byte,
	rt http.RoundTripper, err error) {
	if body, err = s.Run.Body(w, r); err != nil {
		return nil, nil, err
	}
	err = field.Parse(body, func(v *fastjson.Value) (err error) {
		if x.Model, err = modelOf(v); err != nil {
			return err
		}
		var name string
		if passed(v) {
			rt, name, err = s.Upstream.Server(r.Context(), x.Model, v)
		}
		switch {
		case err != nil:
		case rt == nil:
			here(v)
		case name != x.Model || len(modelMembers(v)) > 1:
			body = renameModel(body, name)
		}
		return err
	})
	return body, rt, err
}

// chat handles a request for a chat. If it has tools or a format, this program answers it, because
// a reply that may contain a call or must fit a schema has to be read here. Other chats are passed
// on. A chat with _debug_render_only asks for the prompt and no reply, so it is passed on, too. If
// the model's server has OpenAI's API, every chat is answered here. It returns an error if
// answering or passing on fails.
func (s *Server) chat(w http.ResponseWriter, r *http.Request, x *exchange.Record) error {
	return s.answer(w, r, x, readChat, false, func(v *fastjson.Value) bool {
		plain := len(v.GetArray("tools")) == 0 && form.NoFormat(v.Get("format"))
		return plain || len(v.GetArray("messages")) == 0 || v.GetBool("_debug_render_only")
	})
}

// answer passes a request on to its model's server if that has Ollama's API and the function passed
// returns true for the body. Otherwise it makes a chat request from the body with the function
// read, and answers it. The parameter prompt says that the client sent a prompt and not a chat. It
// returns an error if the request is wrong, or if passing it on or answering fails.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, x *exchange.Record,
	read func(*fastjson.Value) (*form.Ask, error), prompt bool,
	passed func(*fastjson.Value) bool) error {
	var ask *form.Ask
	var unread error
	body, rt, err := s.asked(w, r, x, passed, func(v *fastjson.Value) { ask, unread = read(v) })
	if err != nil {
		return err
	}
	if rt != nil {
		return s.forward(w, r, x, rt, body)
	}
	return s.Run.Answer(w, r, form.API{
		Read: func([]byte) (*form.Ask, error) { return ask, field.AsFault(unread) },
		Open: func(_ http.Header, a *form.Ask, out form.Out) (form.Reply, error) {
			return openReply(a, out, prompt), nil
		},
	}, x, nil)
}
