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

// Server offers the tools of a registry to MCP clients over HTTP. It does not check who may use
// them. The caller must put auth.Guard before it, which checks hosts, origins and keys, and
// front.Front, which ends slow bodies. It does not use mcp-go's transports, because these accept
// bodies of any size, check no origin, and let a tool run on when its client has left.
type Server struct {
	cfg       Config
	engine    *engine
	queue     *queue
	sessions  *sessions
	records   *records
	elsewhere *elsewhere
	rate      *limiter
	places    chan struct{} // has one value for each POST that is being answered
	streams   atomic.Int64  // the number of open streams

	conns   sync.Map // the id of a legacy stream -> *conn
	closing atomic.Bool
}

// errClosed is the cause with which streams end when the server does.
var errClosed = errors.New("the server is shutting down")

// New starts a server, which the caller must close. It never fails. If it cannot read the file of
// the sessions that clients have ended, it logs that these sessions may work again.
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

// OfferExtra makes the server offer the prompts, resources and tools of Config.Extra only at times
// when the function "while" returns true. Without OfferExtra it always offers them. OfferExtra must
// be called before the server answers requests.
func (s *Server) OfferExtra(while func() bool) { s.engine.offers = while }

// Mount adds the server's paths to a mux: /mcp, /mcp/sets/NAME, /sse and /sse/message, each
// exactly, or with the slash at its end that people add to the address of a server. It does not add
// the prefix /mcp/, which would include /mcp/add and other paths of package remote.
func (s *Server) Mount(mux interface{ Handle(string, http.Handler) }) {
	for _, end := range []string{"", "/{$}"} {
		mux.Handle("/mcp"+end, s.Streamable())
		mux.Handle(Sets+end, ofSet(s))
		mux.Handle("/sse"+end, s.SSE())
	}
	mux.Handle("/sse/message", s.Message())
}

// Close stops taking requests, waits for running ones until ctx ends, and ends all streams. New
// requests get a 503 with Retry-After, which sends a client to the next replica. When Close
// returns, only handlers of streams may still run, and they end soon. Close returns the error of
// ctx if other requests were still running when ctx ended.
func (s *Server) Close(ctx context.Context) error {
	if s.closing.Swap(true) {
		return nil
	}
	err := s.drain(ctx)
	s.engine.stop(errClosed)
	s.engine.beside.Wait()
	return err
}

// drain waits until nothing is being answered, or returns the error of ctx if that ends first. It
// polls every 5 ms, because a shutdown is rare and counting finished requests would cost each one a
// lock.
func (s *Server) drain(ctx context.Context) error {
	for len(s.places) > 0 || !s.queue.idle() {
		if !sleep.For(ctx, 5*time.Millisecond) {
			return ctx.Err()
		}
	}
	return nil
}

// Config is what a Server offers, and to whom. It needs Registry or Extra; all other fields may be
// zero. All limits are on by default, because MCP demands that servers limit how often tools are
// called, and stock servers limit nothing.
type Config struct {
	Registry *tools.Registry // the tools; nil: none but those of Extra
	// further tools, prompts and resources, and the answers to all other methods; nil: nothing more
	Extra   *server.MCPServer
	Name    string // of the server, for people; empty: "toolnorm". Extra has its own
	Version string // of the server
	// what a model should know about the server as a whole ("instructions"); may be empty
	Guide string
	Log   zerolog.Logger // gets what was dropped and refused; the zero value logs nothing

	// Settle waits, for a limited time, until the tools that become available late are there. Only
	// the first tools/list or tools/call waits for it. If it is nil, no request waits.
	Settle func(context.Context)

	Gateway Gateway // what other MCP servers offer in addition to tools; nil: there are none

	// Principal returns the sender of a request, as determined by the guard before the server.
	// Sessions belong to a principal. If it is nil, all senders are the same.
	Principal func(*http.Request) string

	// Identity copies the sender of a request into another context. A message of revision
	// 2024-11-05 runs in the context of the stream for its answer, which may be hours older than
	// the token of the message. If it is nil, senders are unknown.
	Identity func(context.Context, *http.Request) context.Context

	// Outcome reports whether a tool promises to return a tools.Outcome, an object with success,
	// and a result or an error. If it is nil, no tool does.
	Outcome func(tool string) bool

	// signs session ids; it must be the same for all replicas and after a restart. nil: a random
	// key, with which every session ends with the process. Clients that never initialize twice,
	// such as Void, are then lost until they are restarted.
	Key []byte
	// file of the sessions that their clients have ended, until their ids would have expired;
	// empty: they are known until the server ends
	Ended string
	// stores ended sessions for all replicas, and gives access to streams of the others; nil: there
	// is one replica
	Shared Shared
	// where clients find the server (scheme, host and path before /sse); empty: the address of
	// their request
	PublicURL string

	Bounds
}

// Bounds are limits of what clients may ask. Beyond them a client gets 413, 429 or 503. Only
// requests of a legacy session wait, up to MaxWaiting.
type Bounds struct {
	MaxBody    int64         // of a message, in bytes; 0: 4 MiB
	Stall      time.Duration // how long a client may read nothing of its stream; 0: 30 s
	Beat       time.Duration // the interval of comments that keep a silent stream alive; 0: 15 s
	Patience   time.Duration // how long an answer may take before it becomes a stream; 0: 1 s
	MaxStreams int           // open streams; 0: 10,000
	// requests that are answered at once; 0: 256. Further requests of a legacy session wait, and
	// others get 503
	MaxCalls int
	// unfinished requests of one legacy session; 0: 64. Further ones get 503
	MaxWaiting int
	// tools per page of tools/list; 0: 1,000, because many clients read only the first page. A list
	// of 1,000 tools has some 300 KB, and is encoded once.
	PageSize int
	// messages per second of one session, after a burst of twice as many; 0: 200; negative: no
	// limit
	Rate float64
	// calls per second of one tool, after a burst of twice as many; 0: 100; negative: no limit
	RateOfTool float64
	// how long a broken stream of 2025-11-25 can be resumed; 0: 2 min. Until then its record and
	// the events in it stay in memory.
	StreamGrace time.Duration
}

// withDefaults returns c with the missing settings filled in.
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
