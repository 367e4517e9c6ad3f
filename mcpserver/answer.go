package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/internal/sse"
)

// answer handles a message and writes its answer: as JSON if the answer is ready soon and nothing
// has to be sent before it, otherwise as a stream. A notification is answered with a 202 without a
// body, as Streamable HTTP requires (Sending Messages to the Server); some clients take any other
// status for a failure.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, c *caller, m message) {
	switch {
	case !m.isRequest():
		c.out = nowhere
		s.engine.handle(r.Context(), c, m)
		w.WriteHeader(http.StatusAccepted)
	case c.modern && m.method == string(mcp.MethodSubscriptionsListen):
		s.subscribe(w, r, m)
	case s.enter(w):
		s.request(w, r, c, m)
	}
}

// nowhere is the function for sending to a client that accepts no stream. It drops the frame and
// returns errDeaf. So a client that accepts only JSON gets no progress of a tool, and a question to
// its user fails immediately.
func nowhere(context.Context, frame) error { return errDeaf }

// errDeaf is returned if a client takes only the answer: it accepts no event stream, has sent a
// notification or a batch, or its answer is being sent already.
var errDeaf = errors.New("the client takes no stream on which it could be asked")

// enter reserves one of the places for requests that are answered at the same time, and reports
// whether it did; if none is free, it answers with a 503. The caller must call leave afterwards.
// enter never waits, because a waiting handler would occupy a connection for each queued request,
// while a 503 leaves the choice to the client.
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

// leave frees a place that enter has taken.
func (s *Server) leave() { <-s.places }

// request answers a request as JSON or as a stream. The answer becomes a stream if something has to
// be sent before it, or if it takes long, because comments in the stream keep proxies from closing
// a connection that looks dead. A client that accepts no event streams waits for its JSON. A client
// that accepts only streams gets one immediately.
func (s *Server) request(w http.ResponseWriter, r *http.Request, c *caller, m message) {
	defer s.leave()
	if s.engine.quick(c, m) {
		s.quick(w, r, c, m)
		return
	}
	ctx := r.Context()
	// In revisions up to 2025-11-25 a broken connection "should not be interpreted as cancelling";
	// notifications/cancelled is for that. Since 2026-07-28 a disconnect cancels the request;
	// before, a client of a session can cancel, and can resume a broken stream
	if !c.modern {
		ctx = context.WithoutCancel(ctx)
	}
	// the record of the stream that the reply becomes; nil: there is none, or it cannot be resumed
	var record *record
	reply := &reply{stream: func(box *outbox) { record = s.stream(w, r, c, m, box) }}
	c.out = nowhere
	if accepts(r, "text/event-stream") {
		c.out = reply.send
		late := time.AfterFunc(s.cfg.Patience, func() { reply.begin() })
		defer late.Stop()
		// The specification wants both types in Accept, but the client gets whichever it can read.
		if !accepts(r, "application/json") {
			reply.begin()
		}
	}
	switch f := s.handled(ctx, c, m); {
	// The reply has become a stream, and the frame was its last event.
	case reply.finish(ctx, f):
		s.elsewhere.leaveBehind(record)
	case f.body == nil: // the client took the request back
		w.WriteHeader(http.StatusAccepted)
	default:
		s.write(w, f)
	}
}

// quick answers a request that takes no time, so the answer is never a stream. The id of a session
// is made only after initialize was answered, because the id contains what was negotiated.
func (s *Server) quick(w http.ResponseWriter, r *http.Request, c *caller, m message) {
	c.out = nowhere
	f := s.handled(r.Context(), c, m)
	// Only if it was answered, because an error begins no session.
	if f.status == 0 && m.method == string(mcp.MethodInitialize) {
		w.Header().Set("Mcp-Session-Id", s.engine.seal.mint(c.session))
	}
	s.write(w, f)
}

// handled answers a request, and returns the answer as the last frame of the reply, which the
// caller then sends. The frame is empty if the client has cancelled the request, because revisions
// up to 2025-11-25 send no answer to a cancelled request.
func (s *Server) handled(ctx context.Context, c *caller, m message) frame {
	if c.id != "" && (sets(m) || m.method == string(mcp.MethodToolsCall)) {
		s.sessions.refresh(c.session)
	}
	result, rpcErr := s.engine.handle(ctx, c, m)
	if c.id != "" && sets(m) {
		if err := s.sessions.keep(c.session); err != nil {
			s.cfg.Log.Warn().Err(err).Msg(
				"cannot tell other replicas what an MCP client has set: it counts at this one alone")
		}
	}
	if rpcErr != nil {
		return frame{body: rpcErr.frame(m.id), last: true, status: rpcErr.httpStatus(c.modern)}
	}
	return frame{id: m.id, body: result, last: true}
}

// sets reports whether a message sets something for its session. Only such settings have to be
// stored, since everything else about a session is in its id.
func sets(m message) bool {
	switch mcp.MCPMethod(m.method) {
	case mcp.MethodSetLogLevel, mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
		return true
	}
	return false
}

// stream writes the messages of a request as events. In a session, a client can resume the stream
// when the connection breaks; then stream returns the record of its events. Otherwise it returns
// nil. A request of 2026-07-28 cannot be resumed, because that revision has no Last-Event-ID, and a
// client that disconnects has cancelled.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, c *caller, m message,
	box *outbox) *record {
	out := sse.NewWriter(w, s.cfg.Stall)
	if !c.modern && c.id != "" {
		// The record numbers and keeps the events from the first one on, so that the client can
		// resume after a break at any point.
		if record := s.records.begin(c.session, box, s.elsewhere.streamID(m.id)); record != nil {
			s.replay(r.Context(), out, record, 0)
			return record
		}
	}
	err := s.pour(r.Context(), out, box, plainEvent)
	box.end(err)
	s.dropped("post", err)
	return nil
}

// reply is the answer to a POST. It is one JSON message, unless it has been made a stream of events
// before the result was ready. The request runs in the goroutine of its handler. Only a stream has
// a goroutine of its own, which ends before the handler does.
type reply struct {
	stream func(*outbox) // writes what comes into the box, until its last frame

	mu    sync.Mutex
	box   *outbox       // nil: the reply is no stream
	ended chan struct{} // closed when stream has returned
	over  bool          // whether the reply can no longer become a stream
}

// send sends a frame before the answer, which makes the reply a stream. It returns errDeaf if it is
// too late to make the reply a stream, and an error if the stream or ctx has ended.
func (p *reply) send(ctx context.Context, f frame) error {
	box := p.begin()
	if box == nil {
		return errDeaf
	}
	return box.send(ctx, f)
}

// begin makes the reply a stream, unless it is one already or the reply has ended. It returns the
// outbox of the stream, or nil if the reply is no stream. The handler, the goroutines of a tool and
// the timer of Patience may call it at the same time.
func (p *reply) begin() *outbox {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.box == nil && !p.over {
		p.box, p.ended = newOutbox(), make(chan struct{})
		go func() {
			defer close(p.ended)
			p.stream(p.box)
		}()
	}
	return p.box
}

// finish sends the last frame of a stream, and waits until that frame is written or the client is
// gone. It returns false if the reply is no stream. It must wait, because net/http takes the writer
// away when the handler returns, and the stream's goroutine may still use it.
func (p *reply) finish(ctx context.Context, last frame) bool {
	// From here on send must not make it a stream, because the answer is sent as JSON.
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	if p.box == nil {
		return false
	}
	_ = p.box.send(ctx, last) // if the box has ended, no answer is wanted
	<-p.ended
	return true
}

// readBody returns the whole body of a request. It returns an error with status 415 for another
// Content-Type than JSON, and with 413 for more than MaxBody bytes. The type is checked because
// browsers send text/plain and forms across origins without asking.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *rpcError) {
	// Parameters are allowed: some clients send application/json; charset=utf-8.
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		kind != "application/json" {
		return nil, fail(codeRequest,
			"a message must have the Content-Type application/json").withStatus(
			http.StatusUnsupportedMediaType)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.cfg.MaxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, fail(codeRequest, "a message may have at most %d bytes",
			s.cfg.MaxBody).withStatus(http.StatusRequestEntityTooLarge)
	case err != nil:
		return nil, fail(codeParse, "the message broke off").withStatus(http.StatusBadRequest)
	}
	return body, nil
}

// refuse answers with an error about the HTTP request itself. Such an error has the same status in
// each protocol revision.
func (s *Server) refuse(w http.ResponseWriter, id []byte, rpcErr *rpcError) {
	s.write(w, frame{body: rpcErr.frame(id), status: rpcErr.httpStatus(false)})
}

// write answers with one frame. A result is written without a copy, because it may be large and the
// same for many clients. For example, a list of 1,000 tools has some 300 KB, and differs between
// clients only in the id before it.
func (s *Server) write(w http.ResponseWriter, f frame) {
	head, tail := []byte(nil), ""
	if f.id != nil {
		head, tail = appendHead(make([]byte, 0, 64), f.id), "}"
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	// The length is known, so the answer is not sent in chunks.
	h.Set("Content-Length", strconv.Itoa(len(head)+len(f.body)+len(tail)))
	// A proxy must not serve one session's answer to another from its cache.
	h.Set("Cache-Control", "no-store")
	// a recorder in a test has no deadlines
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.cfg.Stall))
	w.WriteHeader(cmp.Or(f.status, http.StatusOK))
	for _, part := range [][]byte{head, f.body, []byte(tail)} {
		_, _ = w.Write(part) // a client that has gone needs no answer
	}
}

// busy answers that the server is full: 503 with Retry-After, which SDKs honour. The error has the
// code of an internal error, because the codes from -32000 to -32099 belong to the protocol and
// none of them has this meaning.
func (s *Server) busy(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", "1")
	s.refuse(w, nil, fail(codeInternal, "%s; try again in a second", why).withStatus(
		http.StatusServiceUnavailable))
}

// tooMany answers with 429 and Retry-After in whole seconds. They are rounded up, because 0 would
// mean "at once".
func (s *Server) tooMany(w http.ResponseWriter, wait time.Duration) {
	seconds := int(math.Ceil(wait.Seconds()))
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	s.refuse(w, nil, fail(codeInternal, "too many messages; try again in %d s", seconds).withStatus(
		http.StatusTooManyRequests))
}
