// Package proxy serves programs that chat with a model: it offers the APIs of OpenAI, Anthropic and
// Ollama, and finds the client form of each request. Its folders:
//
//	field               reads the fields of a JSON body
//	form                what all client forms share: API, Form, Ask, Reply
//	form/openai         chat completions, completions, embeddings
//	form/messages       Anthropic's Messages API
//	form/responses      OpenAI's Responses API, for Codex
//	form/ollama         Ollama's own API
//	form/shell          calls as commands for a terminal
//	form/xml            calls in text, for Void, Cline and Roo
//	exchange            one request from its body to its line in the log
//
// The files of this package:
//
//	proxy.go   the settings, every path and form (New)
//	forms.go   which form a request gets
//	models.go  the list of models
//	alias.go   their second names, for Void
//
// A request goes through them in this order: exchange reads the body, an API's Read makes a
// form.Ask of it by field, openForm finds the Form that takes it, exchange asks the model, and the
// form's Reply writes each event as it comes. Only forms know how a client writes; from form.Ask
// on, every request looks the same.
package proxy

import (
	"cmp"
	"context"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/trace"
	"toolnorm/proxy/exchange"
	"toolnorm/proxy/form"
	"toolnorm/proxy/form/messages"
	"toolnorm/proxy/form/ollama"
	"toolnorm/proxy/form/openai"
	"toolnorm/proxy/form/responses"
	"toolnorm/proxy/form/shell"
	"toolnorm/proxy/form/xml"
)

// Defaults of Config.
const (
	DefaultMaxBody = 20 << 20         // bytes
	DefaultStall   = 60 * time.Second // for a client that reads nothing
)

// Config configures a Server. Model and Catalog are needed; all other fields may be zero.
type Config struct {
	Model chat.Model
	// if it has a method May, as in exchange.Runner, that decides who may ask which model
	Catalog chat.Catalog
	// nil: /v1/messages/count_tokens answers "not found"
	Counter chat.Counter
	// nil: /v1/embeddings answers "not found"
	Embedder chat.Embedder
	Ollama   ollama.Upstream // nil: there is no /api
	// gets one line per request; the zero value logs nothing
	Log zerolog.Logger
	// records the last exchanges, which /debug shows on this machine; nil: none are recorded
	Trace *trace.Log
	// counts every exchange; nil: they are not counted
	Count trace.Counter
	// as in exchange.Runner
	Watch func(ctx context.Context, r *chat.Request, o *chat.Observer)
	// where browsers that ask for /debug are redirected; empty: /debug is a page itself
	LivePage string
	// what the codes in chat.Meta.Repairs mean, for /debug
	Reasons []chat.Reason

	// the form of the replies of models (* matches any text), one of form.Names; nil: the form
	// depends on the client
	Forms map[string]string
	// this server's tools, for clients that have only a terminal; nil: there are none
	Shell *shell.Config
	// when models are listed under a second name, for Void; empty: AliasesAuto
	VoidAliases string

	Thoughts string // as in form.Out

	Version string // the version of the program, for /version
	// the model for requests that name none; empty: such requests are an error
	DefaultModel string
	MaxBody      int64 // of a request, in bytes; 0: DefaultMaxBody
	// stores replies for previous_response_id beyond the life of this Server; nil: one of its own
	Replies *responses.Replies
	// how long a client may read nothing of its reply; 0: DefaultStall
	Stall time.Duration
}

// Server is the http.Handler of the APIs. It answers every caller, and has no time limit for
// request bodies, so it must be wrapped in auth.Guard and front.Front.
type Server struct {
	cfg   Config
	forms form.First // of chat completions
	mux   *http.ServeMux
	paths []string // of the routes
}

// New returns a Server. Every client form is registered here, and nowhere else. New cannot fail,
// because the caller must have checked every setting that could be wrong.
func New(cfg Config) *Server {
	cfg.MaxBody, cfg.Stall = cmp.Or(cfg.MaxBody, DefaultMaxBody), cmp.Or(cfg.Stall, DefaultStall)
	if cfg.Replies == nil {
		cfg.Replies = new(responses.Replies)
	}
	s := &Server{cfg: cfg, forms: chatForms(cfg.Shell), mux: http.NewServeMux()}
	run := &exchange.Runner{
		Model: cfg.Model, DefaultModel: cfg.DefaultModel, Real: realName(cfg.Catalog),
		May: modelGuard(cfg.Catalog), Log: cfg.Log, Trace: cfg.Trace, Count: cfg.Count,
		Watch: cfg.Watch, MaxBody: cfg.MaxBody, Stall: cfg.Stall, Thoughts: cfg.Thoughts,
	}
	view := &trace.View{Log: cfg.Trace, Reasons: cfg.Reasons, Page: cfg.LivePage}
	s.route("POST", "/v1/chat/completions", run.Ask(openai.Chat(s.openForm)))
	s.route("POST", "/v1/completions", run.Ask(openai.Completions()))
	s.route("POST", "/v1/embeddings", openai.Embeddings(run, cfg.Embedder))
	s.route("POST", "/v1/messages", run.Ask(messages.API()))
	s.route("POST", "/v1/messages/count_tokens", messages.CountTokens(run, cfg.Counter))
	(&responses.Server{Run: run, Kept: cfg.Replies}).Routes(s.route)
	s.route("GET", "/v1/models", s.models)
	s.route("GET", "/v1/models/{id...}", s.model)
	s.route("GET", "/debug", view.Serve)
	s.route("GET", "/debug/exchanges", view.Serve)
	s.route("GET", "/healthz", s.health)
	s.route("GET", "/version", s.version)
	if cfg.Ollama != nil {
		(&ollama.Server{Run: run, Upstream: cfg.Ollama, Alias: s.aliasesFor}).Routes(s.route)
	}
	s.handle("/", s.unknown)
	return s
}

// handle adds a route.
func (s *Server) handle(path string, h http.HandlerFunc) {
	s.paths = append(s.paths, path)
	s.mux.HandleFunc(path, h)
}

// Mount adds each of the server's paths to a mux. The path "/" alone would do, but then a list of
// the mux's paths would show no others.
func (s *Server) Mount(mux interface{ Handle(string, http.Handler) }) {
	for _, path := range s.paths {
		mux.Handle(path, s)
	}
}

// chatForms returns the client forms of /v1/chat/completions in the order in which they are tried.
// The form that runs tools by shell commands is first. It writes each command as a call in one of
// the other two forms: with @shell and the editor Void's prompt, for example, a reply has to
// contain <run_command>. The form that accepts every request is last.
func chatForms(tools *shell.Config) form.First {
	plain := openai.Form{}
	inText := xml.Form{Below: plain}
	if tools != nil {
		inText.Command = func(h http.Header, theirs []chat.Tool) func(chat.Call) (
			chat.Call, error) {
			return tools.Commander(h, theirs).Call
		}
	}
	return form.First{shell.Form{Config: tools, Below: form.First{inText, plain}}, inText, plain}
}

// route adds a path with one method, or with all methods if method is empty. Other methods get an
// error. GET includes HEAD. net/http would answer 405 as plain text, but clients expect errors in
// the form of their API.
func (s *Server) route(method, path string, h exchange.Handler) {
	s.handle(path, func(w http.ResponseWriter, r *http.Request) {
		if method != "" && r.Method != method &&
			(r.Method != http.MethodHead || method != http.MethodGet) {
			w.Header().Set("Allow", method)
			fault.WriteFor(w, r, fault.New(fault.Method, "%s takes %s, not %s", r.URL.Path, method,
				r.Method))
			return
		}
		if err := h(w, r); err != nil {
			fault.WriteFor(w, r, err)
		}
	})
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// unknown answers requests for every other path with an error that names the known paths. An HTML
// or text page would show up in an editor as a broken reply.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	known := "the API begins at /v1: " + paths
	if strings.HasPrefix(r.URL.Path, "/api/") {
		known = "supported paths of Ollama's API: " + ollama.Paths
	}
	fault.WriteFor(w, r, fault.New(fault.NotFound, "no such path: %s; %s", r.URL.Path, known))
}

// paths lists the paths of the APIs of OpenAI and Anthropic, for the error about an unknown path.
const paths = "/v1/chat/completions, /v1/responses, /v1/completions, /v1/messages, /v1/embeddings, /v1/models"

// health answers that the process is running. It says nothing about the model servers, because a
// monitor restarts a program that is not healthy, which would not bring a model server back. It
// returns an error if the client cannot be written to.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	return form.WriteValue(w, struct {
		Status string `json:"status"`
	}{"ok"})
}

// version answers with the versions of the program and of Go. It returns an error if the client
// cannot be written to.
func (s *Server) version(w http.ResponseWriter, _ *http.Request) error {
	return form.WriteValue(w, struct {
		Version string `json:"version"`
		Go      string `json:"go"`
	}{s.cfg.Version, runtime.Version()})
}

// modelGuard returns the function with which the catalog decides who may ask a model. The function
// returns an error if the caller may not. modelGuard returns nil if the catalog has no method May,
// so that every caller may.
func modelGuard(c chat.Catalog) func(ctx context.Context, model string) error {
	if b, ok := c.(interface {
		May(ctx context.Context, model string) error
	}); ok {
		return b.May
	}
	return nil
}

// realName returns the function that finds the name for which an alias stands. It returns nil if
// there is no catalog.
func realName(c chat.Catalog) func(string) string {
	if c == nil {
		return nil
	}
	return c.Real
}
