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
	"errors"
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

// API is the path of the routes that only an administrator may use. The other paths below Paths
// belong to the page, which contains no data. The page must load without a key, because a browser
// cannot send one with a navigation.
const API = Paths + "/api/"

// Config contains the parts of the program that the Server shows and changes.
type Config struct {
	Page    http.Handler   // the page at /admin; nil: a sentence there says where the API is
	Tools   *dynamic.Set   // the custom tools; nil: there is no store for them
	Version string         // the version of the program
	Log     zerolog.Logger // a line for each change; the zero value logs nothing

	Trace    *trace.Log       // the last exchanges; nil: none are recorded
	History  *history.History // earlier exchanges; nil: they are not recorded
	Usage    *usage.Usage     // what each caller asked; nil: it is not recorded
	Reasons  []chat.Reason    // what the codes of repairs mean
	Formats  *adapters.Set    // the formats by which texts are read again; nil: the built-in ones
	Models   Models           // the models; nil: there are none
	Doctor   Examiner         // examines model servers; nil: nothing is examined
	Servers  Servers          // the other MCP servers; nil: none are managed
	KB       *kb.KB           // the knowledge bases; nil: there is no store for them
	Registry *tools.Registry  // every tool that is offered; nil: there are none

	Others Replicas // the other replicas of the program; nil: there are none

	PublicURL string // the program's address behind a reverse proxy; empty: there is none
}

// Server answers requests below /admin. It is safe for concurrent use.
type Server struct {
	config  Config
	current atomic.Pointer[current]
	events  *hub
	fleet   *fleet
	mux     *http.ServeMux
	packed  http.HandlerFunc // serve, with answers compressed for clients that accept gzip
	routes  []string         // the patterns that were passed to Handle
}

// current holds what depends on the settings: the models, and the formats by which texts are read.
type current struct {
	models  Models
	formats *adapters.Set
}

// Use replaces the models and the formats, after the settings have changed. A nil f stands for the
// built-in formats. Requests that are being answered may see the old ones or the new ones.
func (s *Server) Use(m Models, f *adapters.Set) {
	if f == nil {
		f = adapters.Builtin()
	}
	s.current.Store(&current{m, f})
}

// New returns a server with its own routes. Other packages add their routes by Handle before the
// first request.
func New(c Config) *Server {
	s := &Server{config: c, events: newHub(), mux: http.NewServeMux(),
		fleet: &fleet{others: c.Others, known: map[string]*mirror{}}}
	s.packed = mustPack(http.HandlerFunc(s.serve))
	s.Use(c.Models, c.Formats)
	s.Handle("GET "+API+"openapi.yaml", s.document)
	s.Handle("GET "+API+"session", show(s.session))
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

// Handle adds a route of the API. The pattern is one of http.ServeMux, with a method and a path
// below /admin/api/. If h returns an error, that error is sent as the answer, so h must not have
// written anything before it.
func (s *Server) Handle(pattern string, h handler) {
	s.routes = append(s.routes, pattern)
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, h) })
}

// Name sets the name of this replica that people see. It must be called before the first request.
func (s *Server) Name(replica string) { s.fleet.label = replica }

// Patterns returns the patterns of all routes of the API.
func (s *Server) Patterns() []string { return s.routes }

// Publish tells the open pages that something of a kind has changed, for example "tools" or
// "servers".
func (s *Server) Publish(kind string) { s.events.publish(kind) }

// Close ends the event streams of all pages, which would never end by themselves.
func (s *Server) Close() { s.events.close() }

// mustPack returns a handler that calls h and compresses its text answers, which helps pages on
// other machines. It panics if the options in its own code are wrong.
func mustPack(h http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(
		gzhttp.ContentTypes([]string{"application/json", "application/yaml", "text/html",
			"text/css", "text/javascript"}))
	if err != nil {
		panic(err) // an option here is wrong
	}
	return wrap(h)
}

// ServeHTTP implements http.Handler for all requests below /admin.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if streams(r.URL.Path) {
		s.serve(w, r)
		return
	}
	s.packed(w, r)
}

// serve answers a request without compressing the answer. Paths of the API go to the routes, all
// others to the page.
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

// answer calls h. If h returns an error, answer sends the error to the client, with all problems if
// a draft was refused. If the client is gone, the error is dropped.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, h handler) {
	guardAnswer(w.Header())
	err := h(w, r)
	if wrong, ok := errors.AsType[*dynamic.Refused](err); ok {
		err = answerProblems(w, wrong)
	}
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

// nothingHere returns the error for a request that no route takes: "not found" for an unknown path,
// "method not allowed" for a known path. The mux makes the same distinction, but its errors are not
// in the form of the API.
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
	slices.Sort(methods) // the routes of one map are added in any order
	return fault.New(fault.Method, "%s takes %s, not %s", r.URL.Path,
		strings.Join(methods, " and "), r.Method)
}

// session returns the identity of the caller, the version of the program, and whether custom tools
// can be saved. The error is always nil. The page sends this request first, and asks its user for a
// key if the answer is a 401.
func (s *Server) session(r *http.Request) (any, error) {
	return struct {
		Principal string `json:"principal"`
		Version   string `json:"version"`
		Writable  bool   `json:"writable"`
	}{auth.PrincipalOf(r.Context()).Subject, s.config.Version, s.config.Tools != nil}, nil
}
