package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/internal/sse"
)

// answer handles a message and writes its answer: as JSON when it is there soon and is all there is to say, else as a stream.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, c *caller, m message) {
	switch {
	case !m.isRequest():
		c.out = nowhere
		s.engine.handle(r.Context(), c, m)
		w.WriteHeader(http.StatusAccepted)
	case c.modern && m.method == string(mcp.MethodSubscriptionsListen):
		s.subscribe(w, r, c, m)
	case s.enter(w):
		s.request(w, r, c, m)
	}
}

// nowhere drops what is said about a message where nobody can hear it. Whoever needs to be heard gets the error.
func nowhere(context.Context, frame) error { return errDeaf }

// errDeaf says that a client takes only the answer.
var errDeaf = errors.New("the client takes no stream on which it could be asked")

// enter takes one of the places for requests, or answers that there is none. leave gives it back.
func (s *Server) enter(w http.ResponseWriter) bool {
	if !s.closing.Load() {
		select {
		case s.places <- struct{}{}:
			return true
		default:
		}
	}
	s.busy(w, "too many requests are being answered")
	return false
}

func (s *Server) leave() { <-s.places }

// request answers a request. It becomes a stream when something is to be said before its answer, or that takes long.
func (s *Server) request(w http.ResponseWriter, r *http.Request, c *caller, m message) {
	defer s.leave()
	if isQuick(m.method) {
		s.quick(w, r, c, m)
		return
	}
	ctx := r.Context()
	if !c.modern { // only since 2026-07-28 a client that leaves cancels; before, a session can cancel and take up a broken stream
		ctx = context.WithoutCancel(ctx)
	}
	reply := &reply{stream: func(box *outbox) { s.stream(w, r, c, box) }}
	c.out = nowhere
	if accepts(r, "text/event-stream") {
		c.out = reply.send
		late := time.AfterFunc(s.cfg.Patience, func() { reply.begin() })
		defer late.Stop()
		if !accepts(r, "application/json") {
			reply.begin()
		}
	}
	switch f := s.handled(ctx, c, m); {
	case reply.finish(ctx, f):
	case f.body == nil: // the client took the request back
		w.WriteHeader(http.StatusAccepted)
	default:
		s.write(w, f)
	}
}

// quick answers a request that takes no time.
func (s *Server) quick(w http.ResponseWriter, r *http.Request, c *caller, m message) {
	c.out = nowhere
	f := s.handled(r.Context(), c, m)
	s.remember(c, m)
	if f.status == 0 && m.method == string(mcp.MethodInitialize) {
		w.Header().Set("Mcp-Session-Id", s.engine.seal.mint(c.session))
	}
	s.write(w, f)
}

// handled is the answer to a request, as a last frame.
func (s *Server) handled(ctx context.Context, c *caller, m message) frame {
	result, fault := s.engine.handle(ctx, c, m)
	if fault != nil {
		return frame{body: fault.frame(m.id), last: true, status: fault.httpStatus(c.modern)}
	}
	return frame{id: m.id, body: result, last: true}
}

// remember keeps what a request has set for its session.
func (s *Server) remember(c *caller, m message) {
	switch mcp.MCPMethod(m.method) {
	case mcp.MethodSetLogLevel, mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
		if c.id != "" {
			s.sessions.keep(c.session)
		}
	}
}

// stream writes what comes of a request as events. Those of a session can be taken up again when the connection breaks.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, c *caller, box *outbox) {
	out := sse.NewWriter(w, s.cfg.Stall)
	if !c.modern && c.id != "" {
		if record := s.records.begin(c.session, box); record != nil {
			s.replay(r.Context(), out, record, 0)
			return
		}
	}
	err := s.pour(r.Context(), out, box, plainEvent)
	box.end(err)
	s.dropped("post", err)
}
