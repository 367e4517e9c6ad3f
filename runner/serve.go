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
	Paths    = "/runner/" // the prefix of all of them
	pathList = Paths + "tools"
	pathCall = Paths + "call"
)

// codeNotPending is the error code for an id without a pending call. By it a runner distinguishes
// the proxy's 404 from that of another program.
const codeNotPending = "call_not_pending"

// mostBody is the largest request, in bytes: the arguments of a call, and the other members.
const mostBody = mostArgument + 64<<10

// question is the request of a runner: a call that it wants to run, or the id of a pending call.
type question struct {
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Described is a tool in the list that a runner gets. In JSON it has the members of a function in
// OpenAI's API, and also the title and the schema of the output.
type Described struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"parameters,omitempty"`
	Output      json.RawMessage `json:"output,omitempty"`
}

// Describe returns the tools of a registry in their order, as the caller of ctx may see them. The
// list is never nil.
func Describe(ctx context.Context, r *tools.Registry) []Described {
	all := []Described{}
	for _, t := range r.For(ctx).Tools {
		t = t.For(ctx)
		all = append(all, Described{t.Name, t.Title, t.Description, t.Schema, t.Output})
	}
	return all
}

// Server answers the requests of runners on the side of the proxy. GET /runner/tools lists the
// tools, and POST /runner/call runs a call or a pending one and answers with its outcome. A tool
// that fails is a 200 with "success": false, because it has run. Server neither authenticates
// callers nor limits slow ones, so auth.Guard and front.Front belong before it.
type Server struct {
	registry *tools.Registry
	pending  *Pending
	log      zerolog.Logger
	mux      http.ServeMux
}

// NewServer returns the handler of everything under Paths. The log gets a line for each call,
// without its arguments.
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

// Patterns returns the patterns of the routes, each with its method.
func (s *Server) Patterns() []string {
	return []string{http.MethodGet + " " + pathList, http.MethodPost + " " + pathCall}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// method returns a handler for requests with one HTTP method, or with any if name is empty. The
// function serve answers them. If serve returns an error, it must not have written anything,
// because the handler then writes the error as the answer.
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

// list answers with all tools that the caller may use. It returns an error if they cannot be
// marshaled.
func (s *Server) list(w http.ResponseWriter, r *http.Request) error {
	text, err := json.Marshal(Describe(r.Context(), s.registry))
	if err != nil {
		return err
	}
	return answer(w, text)
}

// call runs the requested call and answers with its outcome. The call ends if its caller
// disconnects. A pending call is removed from the pending ones before it is run. So if the runner
// disconnects while it runs, the call is lost. call returns an error if the body is wrong or there
// is no such pending call.
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

// answer writes JSON. It always returns nil, because an error only means that the client is gone.
func answer(w http.ResponseWriter, text []byte) error {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // the client may be gone
	return nil
}
