package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Server serves a registry to MCP clients over HTTP. It does not ask who may: put a guard for hosts, origins and keys in
// front, and what ends slow bodies (auth.Guard and front.Front).
type Server struct {
	cfg      Config
	engine   *engine
	queue    *queue
	sessions *sessions
	records  *records
	rate     *limiter
	places   chan struct{} // one value for each POST that is being answered
	streams  atomic.Int64  // open streams

	conns   sync.Map // the id of a legacy stream -> *conn
	closing atomic.Bool
}

// errClosed is why streams end when the server does.
var errClosed = errors.New("the server is shutting down")

// New starts a server. Close it when it is no longer needed.
func New(cfg Config) *Server {
	cfg = cfg.withDefaults()
	e := newEngine(cfg)
	over, err := newEnded(cfg.Ended, time.Now())
	if err != nil {
		cfg.Log.Warn().Err(err).Msg("MCP sessions that were ended may be good again")
	}
	s := &Server{
		cfg: cfg, engine: e, queue: newQueue(e), sessions: newSessions(e.seal, over), records: newRecords(), rate: newLimiter(cfg.Rate),
		places: make(chan struct{}, cfg.MaxCalls),
	}
	go s.queue.run() // ends with Close
	return s
}

// Mount puts the server's addresses into a mux: /mcp, /sse and /sse/message, exactly these.
func (s *Server) Mount(mux *http.ServeMux) {
	mux.Handle("/mcp", s.Streamable())
	mux.Handle("/sse", s.SSE())
	mux.Handle("/sse/message", s.Message())
}

// Close takes no more requests, waits for those that are being answered as long as ctx allows, and ends all streams.
func (s *Server) Close(ctx context.Context) error {
	if s.closing.Swap(true) {
		return nil
	}
	err := s.drain(ctx)
	s.engine.stop(errClosed)
	return err
}

// drain waits until nothing is being answered.
func (s *Server) drain(ctx context.Context) error {
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		if len(s.places) == 0 && s.queue.idle() {
			tick.Stop()
			return nil
		}
		select {
		case <-ctx.Done():
			tick.Stop()
			return ctx.Err()
		case <-tick.C:
		}
	}
}
