// Package admin serves the administrator: the API below /admin/api/, and the page at /admin that
// asks it.
//
// Everything below /admin/api/ goes through one Server, which reads and writes JSON and answers
// errors in OpenAI's form. It does not authenticate: auth.Guard belongs before it. openapi.yaml
// describes each route; a test checks that the two lists are equal.
//
//	admin.go      the server, and how a route is answered
//	json.go       bodies and answers
//	events.go     what pages hear of changes
//	tools.go      custom tools
//	toolset.go    their examples, and sets of tools
//	live.go       the last exchanges
//	replay.go     reading a text again by another format, and learning one
//	watch.go      streams of what changes in them
//	fleet.go      those of other replicas
//	packed.go     streams compressed for pages on other machines
//	history.go    earlier exchanges, and those of a conversation
//	usage.go      what each caller asked, by days
//	doctor.go     examinations as toolnorm doctor makes them
//	models.go     models and examinations of them
//	servers.go    other MCP servers, and the tools that are offered
//	signin.go     signing in to other MCP servers
//	knowledge.go  knowledge bases
package admin

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/gzhttp"
	"github.com/rs/zerolog"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/auth"
	"toolnorm/internal/fault"
	"toolnorm/internal/history"
	"toolnorm/internal/store"
	"toolnorm/internal/trace"
	"toolnorm/internal/usage"
	"toolnorm/tools"
	"toolnorm/tools/dynamic"
	"toolnorm/tools/kb"
)

// Paths is the path under which the package serves everything.
const Paths = "/admin"

// API is the path of what only an administrator may use. The rest below Paths is the page, which
// holds no data: a browser can send no key with a navigation, so the page has to come without one.
const API = Paths + "/api/"

// Config holds what is administered.
type Config struct {
	Page    http.Handler   // what is shown at /admin; nil: a sentence that says where the API is
	Tools   *dynamic.Set   // the custom tools; nil: there is no store to keep them in
	Version string         // the program's
	Log     zerolog.Logger // a line for each change; the zero value logs nothing

	Trace    *trace.Log       // the last exchanges; nil: none are kept
	History  *history.History // earlier ones; nil: they are not kept
	Usage    *usage.Usage     // what each caller asked; nil: it is not kept
	Reasons  []chat.Reason    // what the codes of repairs mean
	Formats  *adapters.Set    // by which texts are read again; nil: the built-in ones
	Models   Models           // nil: there are none
	Doctor   Examiner         // nil: nothing is examined
	Servers  Servers          // nil: none are managed
	KB       *kb.KB           // the knowledge bases; nil: there is no store for them
	Registry *tools.Registry  // every tool that is offered; nil: there are none

	Others Replicas // of the program; nil: it is alone

	PublicURL string // the program's address behind a reverse proxy; empty: there is none
}

// Server answers below /admin. It is safe for concurrent use.
type Server struct {
	config  Config
	current atomic.Pointer[current]
	events  *hub
	fleet   *fleet
	mux     *http.ServeMux
	packed  http.HandlerFunc // serve, compressed where that is taken
	routes  []string         // the patterns of Handle
}

// current holds what depends on the settings: the models, and the formats by which a text is read.
type current struct {
	models  Models
	formats *adapters.Set
}

// Use makes the models and formats those of new settings. Requests that are being answered may see
// either.
func (s *Server) Use(m Models, f *adapters.Set) {
	if f == nil {
		f = adapters.Builtin()
	}
	s.current.Store(&current{m, f})
}

// New makes the server with its own routes. Other packages add theirs by Handle before the first
// request.
func New(c Config) *Server {
	s := &Server{config: c, events: newHub(), mux: http.NewServeMux(),
		fleet: &fleet{others: c.Others, known: map[string]*mirror{}}}
	s.packed = mustPack(http.HandlerFunc(s.serve))
	s.Use(c.Models, c.Formats)
	s.Handle("GET "+API+"openapi.yaml", s.document)
	s.Handle("GET "+API+"session", s.session)
	s.Handle("GET "+API+"events", s.stream)
	(&customTools{set: c.Tools, all: c.Registry, log: c.Log}).routes(s)
	(&live{c.Trace, c.History, c.Reasons, &s.current, c.Log, s.events,
		s.fleet}).routes(s)
	(&models{&s.current, c.Trace}).routes(s)
	s.Handle("GET "+API+"usage", (&usages{c.Usage}).list)
	s.Handle("POST "+API+"doctor", (&doctor{examine: c.Doctor}).run)
	(&others{c.Servers, c.Registry, s.Publish, c.PublicURL}).routes(s)
	(&knowledge{c.KB, c.Log, s.Publish}).routes(s)
	if c.Tools != nil {
		c.Tools.Changed(func() { s.Publish("tools") })
	}
	s.mux.HandleFunc(API, func(w http.ResponseWriter, r *http.Request) {
		s.answer(w, r, func(http.ResponseWriter, *http.Request) error { return s.nothingHere(r) })
	})
	return s
}

// Handle adds a route of the API: a pattern as of http.ServeMux, with its method and a path below
// /admin/api/. What h returns as an error is the answer, so h must not have written anything then.
func (s *Server) Handle(pattern string, h func(w http.ResponseWriter, r *http.Request) error) {
	s.routes = append(s.routes, pattern)
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, h) })
}

// Name says which replica this is, for people. It must be called before the first request.
func (s *Server) Name(replica string) { s.fleet.label = replica }

// Patterns lists the routes of the API.
func (s *Server) Patterns() []string { return s.routes }

// Publish reports to the open pages that something of a kind changed: "tools", "servers", …
func (s *Server) Publish(kind string) { s.events.publish(kind) }

// Close ends the streams of pages, which would never end by themselves.
func (s *Server) Close() { s.events.close() }

// mustPack returns h with answers compressed if they are texts, also for a page that is far away.
// It panics if its own options are wrong.
func mustPack(h http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(
		gzhttp.ContentTypes([]string{"application/json", "application/yaml", "text/html",
			"text/css", "text/javascript"}))
	if err != nil {
		panic(err) // an option here is wrong
	}
	return wrap(h)
}

// ServeHTTP answers a request below /admin.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if streams(r.URL.Path) {
		s.serve(w, r)
		return
	}
	s.packed(w, r)
}

// serve answers a request without compressing the answer.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, API) || r.URL.Path == SignedIn {
		s.mux.ServeHTTP(w, r)
		return
	}
	if s.config.Page != nil {
		s.config.Page.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("This build of toolnorm has no admin page. Its API is described at " +
		API + "openapi.yaml.\n"))
}

// answer lets h answer, and writes its error. If the client is gone, the error is dropped.
func (s *Server) answer(w http.ResponseWriter, r *http.Request,
	h func(http.ResponseWriter, *http.Request) error) {
	guardAnswer(w.Header())
	err := h(w, r)
	if err == nil || r.Context().Err() != nil {
		return
	}
	f := fault.From(err)
	if f.Kind == fault.Internal && store.Down(err) {
		f = &fault.Error{Kind: fault.Busy, Code: "store_down",
			Message: "the database of tools and knowledge bases does not answer; try again when it is up", Cause: err}
	}
	if f.Kind == fault.Internal {
		s.config.Log.Error().Err(f.Cause).Str("path", r.URL.Path).Msg("admin")
	}
	fault.Write(w, f)
}

// nothingHere tells a wrong path from a wrong method, as the mux would, but with an error in the
// API's form.
func (s *Server) nothingHere(r *http.Request) error {
	var methods []string
	for _, pattern := range s.routes {
		method, path, _ := strings.Cut(pattern, " ")
		if one := http.NewServeMux(); !slices.Contains(methods, method) {
			one.HandleFunc(path, func(http.ResponseWriter, *http.Request) {})
			if _, found := one.Handler(r); found != "" {
				methods = append(methods, method)
			}
		}
	}
	if len(methods) == 0 {
		return fault.New(fault.NotFound, "there is no %s; %sopenapi.yaml lists the paths",
			r.URL.Path, API)
	}
	slices.Sort(methods) // those of one table come in any order
	return fault.New(fault.Method, "%s takes %s, not %s", r.URL.Path,
		strings.Join(methods, " and "), r.Method)
}

// session answers with the identity of the caller. The page asks this first: a 401 makes it ask its
// user for a key.
func (s *Server) session(w http.ResponseWriter, r *http.Request) error {
	return write(w, http.StatusOK, struct {
		Principal string `json:"principal"`
		Version   string `json:"version"`
		Writable  bool   `json:"writable"`
	}{auth.PrincipalOf(r.Context()).Subject, s.config.Version, s.config.Tools != nil})
}
