// Package proxy is the OpenAI-compatible face: it reads what a client asks, lets a chat.Model answer, and writes the
// reply in the client's own form while it comes.
package proxy

import (
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/trace"
)

// Defaults of Config.
const (
	DefaultMaxBody = 20 << 20         // bytes
	DefaultStall   = 60 * time.Second // for a client that takes nothing
)

// Config says what a Server serves, and to whom. Model and Catalog are needed; the zero value of the rest will do.
type Config struct {
	Model    chat.Model
	Catalog  chat.Catalog
	Embedder chat.Embedder  // nil: /v1/embeddings answers that there is none
	Native   Native         // nil: there is no /api
	Log      zerolog.Logger // one line a request; the zero value logs nothing
	Trace    *trace.Log     // keeps the last exchanges, shown at /debug on this machine; nil: none are kept
	Reasons  []chat.Reason  // what the codes in chat.Meta.Repairs mean, for those who look at exchanges

	Forms       map[string]string // models (* stands for any text) and the dialect of their replies, one of Forms; nil: by what asks
	Shell       *Shell            // tools that are served here, for clients that have only a terminal; nil: there are none
	VoidAliases string            // when models are listed under a second name, for Void; empty: AliasesAuto

	Thoughts string // the fields of what a model thought, as Out.Thoughts; empty: both

	Version      string        // what /version says
	DefaultModel string        // answers requests that name no model; empty: such requests are an error
	MaxBody      int64         // of a request, in bytes; 0: DefaultMaxBody
	Stall        time.Duration // until a client that takes nothing is given up; 0: DefaultStall
}

// Server is the http.Handler of the OpenAI-compatible face. It answers whoever asks, and waits for bodies for
// ever: auth.Guard and front.Front belong in front of it.
type Server struct {
	cfg      Config
	dialects []Dialect
	mux      *http.ServeMux
}

// New makes a Server.
func New(cfg Config) *Server {
	if cfg.MaxBody == 0 {
		cfg.MaxBody = DefaultMaxBody
	}
	if cfg.Stall == 0 {
		cfg.Stall = DefaultStall
	}
	s := &Server{cfg: cfg, dialects: []Dialect{shellDialect{cfg.Shell}, xmlDialect{cfg.Shell}, openAI{}}, mux: http.NewServeMux()}
	s.route("POST", "/v1/chat/completions", s.ask(question{"chat", "chatcmpl-", parseAsk, s.dialect, fault.Write}))
	s.route("POST", "/v1/completions", s.ask(question{"completion", "cmpl-", parseCompletion, openText, fault.Write}))
	s.route("POST", "/v1/embeddings", s.logged(question{name: "embeddings", prefix: "embd-", fail: fault.Write}, s.embed))
	s.route("GET", "/v1/models", s.models)
	s.route("GET", "/v1/models/{id...}", s.model)
	s.route("GET", "/debug", s.debug)
	s.route("GET", "/debug/exchanges", s.debug)
	s.route("GET", "/healthz", s.health)
	s.route("GET", "/version", s.version)
	if cfg.Native != nil {
		s.routeNative()
	}
	s.mux.HandleFunc("/", s.unknown)
	return s
}

// handler serves a path. An error of a handler that has written nothing is written for it.
type handler func(http.ResponseWriter, *http.Request) error

// route serves a path with one method, and says so to requests with another.
func (s *Server) route(method, path string, h handler) {
	s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method && (r.Method != http.MethodHead || method != http.MethodGet) {
			w.Header().Set("Allow", method)
			fault.WriteFor(w, r, fault.New(fault.Method, "%s takes %s, not %s", r.URL.Path, method, r.Method))
			return
		}
		if err := h(w, r); err != nil {
			fault.WriteFor(w, r, err)
		}
	})
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// unknown answers for every other path.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		fault.WriteOllama(w, fault.New(fault.NotFound, "no such path: %s; of Ollama's API there is %s", r.URL.Path, nativePaths))
		return
	}
	fault.Write(w, fault.New(fault.NotFound, "no such path: %s; the API begins at /v1: %s", r.URL.Path, paths))
}

// paths are those of OpenAI's API, for those who ask for another.
const paths = "/v1/chat/completions, /v1/completions, /v1/embeddings, /v1/models"

// health says that the process serves; it says nothing about the model servers behind it.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	return writeValue(w, struct {
		Status string `json:"status"`
	}{"ok"})
}

// version says what is running.
func (s *Server) version(w http.ResponseWriter, _ *http.Request) error {
	return writeValue(w, struct {
		Version string `json:"version"`
		Go      string `json:"go"`
	}{s.cfg.Version, runtime.Version()})
}
