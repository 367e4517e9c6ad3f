package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/internal/body"
	"toolnorm/internal/fault"
	"toolnorm/tools"
)

// The paths of the proxy's side.
const (
	Paths    = "/runner/" // all of them begin with this
	pathList = Paths + "tools"
	pathCall = Paths + "call"
)

// codeNotPending is the error code for an id that no pending call has. By it a runner tells the
// proxy's 404 from that of another program.
const codeNotPending = "call_not_pending"

// mostBody bounds a request, in bytes: the arguments of a call, and what is around them.
const mostBody = mostArgument + 64<<10

// question is what a runner asks to have run: a call, or the id of one that is pending.
type question struct {
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Described is a tool as a runner lists it. The members are those of OpenAI's functions.
type Described struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"parameters,omitempty"`
	Output      json.RawMessage `json:"output,omitempty"`
}

// Describe lists the tools of a registry in their order, as the caller of ctx may see them.
func Describe(ctx context.Context, r *tools.Registry) []Described {
	all := []Described{}
	for _, t := range r.For(ctx).Tools {
		t = t.For(ctx)
		all = append(all, Described{t.Name, t.Title, t.Description, t.Schema, t.Output})
	}
	return all
}

// Server is the proxy's side: GET /runner/tools lists the tools, POST /runner/call runs a call or a
// pending one and answers with its outcome. It neither authenticates callers nor bounds slow ones:
// auth.Guard and front.Front belong before it. A tool that fails is a 200 with "success": false, as
// it has run.
type Server struct {
	registry *tools.Registry
	pending  *Pending
	log      zerolog.Logger
	mux      http.ServeMux
}

// NewServer makes the handler of everything under Paths. log gets a line for each call, without its
// arguments.
func NewServer(registry *tools.Registry, pending *Pending, log zerolog.Logger) *Server {
	s := &Server{registry: registry, pending: pending, log: log}
	s.mux.HandleFunc(pathList, method(http.MethodGet, s.list))
	s.mux.HandleFunc(pathCall, method(http.MethodPost, s.call))
	s.mux.HandleFunc("/", method("", func(_ http.ResponseWriter, r *http.Request) error {
		return fault.New(fault.NotFound, "no such path: %s; there are %s and %s", r.URL.Path,
			pathList, pathCall)
	}))
	return s
}

// Patterns lists the routes, each after its method.
func (s *Server) Patterns() []string {
	return []string{http.MethodGet + " " + pathList, http.MethodPost + " " + pathCall}
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// method serves one method, any if it is empty, and writes the error of a handler that has written
// nothing.
func method(name string, serve func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := error(nil)
		if name != "" && r.Method != name {
			w.Header().Set("Allow", name)
			err = fault.New(fault.Method, "%s takes %s, not %s", r.URL.Path, name, r.Method)
		} else {
			err = serve(w, r)
		}
		if err != nil {
			fault.Write(w, err)
		}
	}
}

// list answers with all tools.
func (s *Server) list(w http.ResponseWriter, r *http.Request) error {
	text, err := json.Marshal(Describe(r.Context(), s.registry))
	if err != nil {
		return err
	}
	return answer(w, text)
}

// call runs the requested call. A caller that goes away ends it. A pending call is given out
// before it is run, so it is lost when its runner goes away at once.
func (s *Server) call(w http.ResponseWriter, r *http.Request) error {
	var ask question
	err := body.Read(r, mostBody, &ask)
	if err != nil {
		return err
	}
	if ask.ID != "" {
		if ask.Name, ask.Arguments, err = s.pending.Take(ask.ID); err != nil {
			gone := fault.New(fault.NotFound, "%w", err)
			gone.Code = codeNotPending
			return gone
		}
	}
	start := time.Now()
	outcome := tools.OutcomeOf(
		s.registry.Call(r.Context(), s.registry.For(r.Context()).Meant(ask.Name), ask.Arguments))
	s.log.Info().Str("tool", fmt.Sprintf("%.128s", ask.Name)).Bool("success", outcome.Success).Dur(
		"ms", time.Since(start)).Msg("toolrun call")
	return answer(w, outcome.JSON())
}

// answer writes JSON.
func answer(w http.ResponseWriter, text []byte) error {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // the client may be gone
	return nil
}
