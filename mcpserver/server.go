package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"github.com/rs/zerolog"

	"toolnorm/internal/sleep"
	"toolnorm/tools"
)

// Server serves a registry to MCP clients over HTTP. It does not check who may use it: callers put
// auth.Guard before it, which checks hosts, origins and keys, and front.Front, which ends slow
// bodies. Its HTTP is its own, as mcp-go's transports take bodies of any size, check no origin, and
// let a tool run on when its client has left.
type Server struct {
	cfg       Config
	engine    *engine
	queue     *queue
	sessions  *sessions
	records   *records
	elsewhere *elsewhere
	rate      *limiter
	places    chan struct{} // one value for each POST that is being answered
	streams   atomic.Int64  // open streams

	conns   sync.Map // the id of a legacy stream -> *conn
	closing atomic.Bool
}

// errClosed is the cause of streams that end because the server does.
var errClosed = errors.New("the server is shutting down")

// New starts a server, which the caller closes when it is no longer needed. It never fails: if the
// file of ended sessions cannot be read, it logs that some of them may work again.
func New(cfg Config) *Server {
	cfg = cfg.withDefaults()
	e := newEngine(cfg)
	over, err := newEnded(cfg.Ended, time.Now())
	if err != nil {
		cfg.Log.Warn().Err(err).Msg(
			"cannot read which MCP sessions were ended: they may work again")
	}
	s := &Server{
		cfg: cfg, engine: e, queue: newQueue(e), sessions: newSessions(e.seal, over, cfg.Shared),
		records: newRecords(), rate: newLimiter(cfg.Rate),
		places: make(chan struct{}, cfg.MaxCalls),
	}
	s.elsewhere = newElsewhere(cfg, e, s.records)
	if cfg.Shared != nil {
		hear(cfg.Shared, aboutEnd, func(session string) any { s.over(session); return nil })
	}
	e.beside.Go(s.queue.run) // ends with Close
	return s
}

// OfferExtra makes the server offer Extra while a function reports true, and otherwise a server
// without prompts and resources in its place. It is called before the server answers.
func (s *Server) OfferExtra(while func() bool) { s.engine.offers = while }

// Mount puts the server's addresses into a mux: /mcp, /mcp/sets/NAME, /sse and /sse/message,
// exactly these. /mcp/ as a prefix would take /mcp/add and the others of package remote.
func (s *Server) Mount(mux interface{ Handle(string, http.Handler) }) {
	mux.Handle("/mcp", s.Streamable())
	mux.Handle(Sets, ofSet(s))
	mux.Handle("/sse", s.SSE())
	mux.Handle("/sse/message", s.Message())
}

// Close takes no more requests, waits for those that are being answered as long as ctx allows, and
// ends all streams. Requests that come meanwhile get a 503 with Retry-After, which sends a client
// to the next replica. When Close returns, only the handlers of streams may still run, and they end
// at once. The error is ctx's.
func (s *Server) Close(ctx context.Context) error {
	if s.closing.Swap(true) {
		return nil
	}
	err := s.drain(ctx)
	s.engine.stop(errClosed)
	s.engine.beside.Wait()
	return err
}

// drain waits until nothing is being answered. It polls every 5 ms: a shutdown is rare, and
// counting ends would cost each request a lock.
func (s *Server) drain(ctx context.Context) error {
	for len(s.places) > 0 || !s.queue.idle() {
		if !sleep.For(ctx, 5*time.Millisecond) {
			return ctx.Err()
		}
	}
	return nil
}

// Config says what a Server serves, and to whom. Registry or Extra is needed; the zero value of the
// rest will do. The bounds are all on by default: MCP demands that servers limit how often tools
// are called, and stock servers bound nothing.
type Config struct {
	Registry *tools.Registry // the tools; nil: none but those of Extra
	// further tools, prompts and resources, and the answers to what we do not answer ourselves;
	// nil: nothing more
	Extra   *server.MCPServer
	Name    string // of the server, for people; empty: "toolnorm". Extra has its own
	Version string // of the server
	// what a model should know of the server as a whole ("instructions"); may be empty
	Guide string
	Log   zerolog.Logger // what was dropped and refused; the zero value logs nothing

	// Settle waits, for a bounded time, until the tools that become available late are there. Only
	// the first tools/list or tools/call waits for it. If it is nil, no request waits.
	Settle func(context.Context)

	Gateway Gateway // what other MCP servers offer beside the tools; nil: there are none

	// Principal returns the sender of a request, as the guard before the server found out. Sessions
	// belong to a principal. If it is nil, all senders are the same.
	Principal func(*http.Request) string

	// Identity copies the sender of a request into another context. A message of revision
	// 2024-11-05 runs in the context of the stream that its answer goes to, which may be hours
	// older than the token that the message bears. If it is nil, senders are unknown.
	Identity func(context.Context, *http.Request) context.Context

	// Outcome reports whether a tool answers as tools.Outcome promises: with an object that has
	// success, and a result or an error. If it is nil, no tool does.
	Outcome func(tool string) bool

	// A random key means that every session ends with the process: clients that never initialize
	// twice, as Void, are then lost until they are restarted.
	// signs session ids; the same for all replicas and after a restart. nil: a random one
	Key []byte
	// file that keeps which sessions their clients have ended, as long as their ids would be good;
	// empty: known until the server ends
	Ended string
	// keeps them for all replicas, and leads to streams of the others; nil: there is one
	Shared Shared
	// where clients find the server (scheme, host and path in front of /sse); empty: as they asked
	PublicURL string

	Bounds
}

// Bounds bound what clients may ask. Beyond them a client gets 413, 429 or 503; only requests of a
// legacy session wait, up to MaxWaiting.
type Bounds struct {
	MaxBody    int64         // of a message, in bytes; 0: 4 MiB
	Stall      time.Duration // until a client that takes nothing of its stream is given up; 0: 30 s
	Beat       time.Duration // between the comments that keep a silent stream alive; 0: 15 s
	Patience   time.Duration // until an answer that is not there becomes a stream; 0: 1 s
	MaxStreams int           // open at once; 0: 10,000
	// requests answered at once; 0: 256. Further ones of a session wait, others get 503
	MaxCalls int
	// requests of one legacy session that wait or are answered; 0: 64. Further ones get 503
	MaxWaiting int
	// The list of 1,000 tools has some 300 KB, written once.
	// tools a page of tools/list; 0: 1,000, since many clients read only the first page
	PageSize int
	// messages a second of one session, after a burst of twice as many; 0: 200; negative: any
	// number
	Rate float64
	// calls a second of one tool, after a burst of twice as many; 0: 100; negative: any number
	RateOfTool float64
	// Until then the record of the stream, and what it has sent, stay in memory.
	// how long a broken stream of 2025-11-25 can be taken up again; 0: 2 min
	StreamGrace time.Duration
}

// withDefaults fills in the missing settings.
func (c Config) withDefaults() Config {
	if c.Registry == nil {
		c.Registry = tools.New(tools.Options{})
	}
	c.Name = cmp.Or(c.Name, "toolnorm")
	c.Version = cmp.Or(c.Version, "0")
	c.MaxBody = cmp.Or(c.MaxBody, 4<<20)
	c.Stall = cmp.Or(c.Stall, 30*time.Second)
	c.Beat = cmp.Or(c.Beat, 15*time.Second)
	c.Patience = cmp.Or(c.Patience, time.Second)
	c.MaxStreams = cmp.Or(c.MaxStreams, 10_000)
	c.MaxCalls = cmp.Or(c.MaxCalls, 256)
	c.MaxWaiting = cmp.Or(c.MaxWaiting, 64)
	c.PageSize = cmp.Or(c.PageSize, 1000)
	c.Rate = cmp.Or(c.Rate, 200)
	c.RateOfTool = cmp.Or(c.RateOfTool, 100)
	c.StreamGrace = cmp.Or(c.StreamGrace, 2*time.Minute)
	if c.Gateway == nil {
		c.Gateway = none{}
	}
	if c.Principal == nil {
		c.Principal = func(*http.Request) string { return "" }
	}
	if c.Identity == nil {
		c.Identity = func(ctx context.Context, _ *http.Request) context.Context { return ctx }
	}
	if c.Outcome == nil {
		c.Outcome = func(string) bool { return false }
	}
	if c.Extra == nil {
		c.Extra = server.NewMCPServer(c.Name, c.Version, server.WithInstructions(c.Guide))
	}
	return c
}
