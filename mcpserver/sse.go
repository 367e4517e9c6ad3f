package mcpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// SSE returns the handler of the address for revision 2024-11-05. A GET without a session opens a
// stream, whose first event is the address for messages. Everything else is treated as Streamable
// HTTP, which some clients first try on any address. The editor Void does, and its fallback to SSE
// always fails (SDK 1.11.2 gets a string where it wants a URL), so a POST must be answered here.
//
// A GET that names an older revision and no session may come from two kinds of clients: a
// Streamable client that listens, or a client of 2024-11-05 whose stream broke. Both get the
// stream. The second client waits for the first event, which the first client ignores. The
// TypeScript SDK sends such a GET when the server has restarted, and would wait for ever without
// the event.
func (s *Server) SSE() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version := r.Header.Get("Mcp-Protocol-Version")
		older := version == "" || isKnown(version) && !mcp.IsModernProtocol(version) &&
			accepts(r, "text/event-stream")
		if r.Method != http.MethodGet || r.Header.Get("Mcp-Session-Id") != "" || !older {
			s.streamable(w, r)
			return
		}
		s.legacy(w, r, version)
	})
}

// legacy runs a session of the MCP revision 2024-11-05, which begins and ends with its stream. The
// parameter version is the revision that an earlier stream of the client negotiated, or empty. If
// it is set, the session is initialized from the beginning, because such a client does not
// initialize again.
func (s *Server) legacy(w http.ResponseWriter, r *http.Request, version string) {
	out, done, ok := s.open(w)
	if !ok {
		return
	}
	defer done()
	// The context is the stream's: the tools of this session end with it, since their answers could
	// not be delivered.
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(context.Canceled) // ends the tools that still run for it
	c := &conn{session: &session{id: newUUID(), principal: s.cfg.Principal(r),
		said: said{version: version, level: defaultLevel}}, ctx: ctx, box: newOutbox()}
	s.conns.Store(c.id, c)
	defer s.conns.Delete(c.id)
	defer s.engine.hub.add(newsFor(c))()
	defer s.cfg.Gateway.Left(c.id)
	// The whole URL and not a path, as in the examples of the first users. LF alone ends the lines;
	// mcp-go mixes it with CRLF here.
	out.Buf = append(out.Buf, "event: endpoint\ndata: "+s.messageURL(r, c.id)+"\n\n"...)
	err := s.pour(ctx, out, c.box, plainEvent)
	c.box.end(err)
	s.dropped("sse", err)
}

// newsFor returns a listener that notifies a conn of changes after initialize. Changes of a
// resource are only sent if the conn has subscribed to it.
func newsFor(c *conn) *listener {
	return &listener{box: c.box, session: c.id, wants: func(_, uri string) bool {
		return c.now().version != "" && (uri == "" || c.watches(uri))
	}}
}

// newUUID returns a random UUID, version 4. Its 122 random bits are the only secret of a legacy
// session if no keys are required.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// messageURL returns the address for a session's messages: next to the address of the client's
// request, or below the public URL. Clients refuse an address of another origin, so PublicURL must
// be set behind a proxy that shows another name. Headers such as X-Forwarded-Host are not used,
// since any client can send them.
func (s *Server) messageURL(r *http.Request, id string) string {
	base := strings.TrimSuffix(s.cfg.PublicURL, "/") + "/sse"
	if s.cfg.PublicURL == "" {
		at := url.URL{Scheme: "http", Host: r.Host, Path: strings.TrimSuffix(r.URL.Path, "/")}
		if r.TLS != nil {
			at.Scheme = "https"
		}
		base = at.String()
	}
	return base + "/message?session_id=" + id
}

// Message returns the handler for messages of 2024-11-05 sessions. It answers 202 at once; the real
// answer is sent on the stream. A message that is invalid or exceeds a limit is refused here, with
// 400, 413, 429 or 503, because its client may not have an id to match an answer on the stream.
func (s *Server) Message() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			s.refuse(w, nil, fail(codeRequest, "messages must be sent by POST").withStatus(
				http.StatusMethodNotAllowed))
			return
		}
		c, rpcErr := s.connOf(r)
		if rpcErr != nil {
			s.refuse(w, nil, rpcErr)
			return
		}
		if wait, ok := s.rate.allow(c.id, time.Now()); !ok {
			s.tooMany(w, wait)
			return
		}
		body, rpcErr := s.readBody(w, r)
		if rpcErr != nil {
			s.refuse(w, nil, rpcErr)
			return
		}
		// Once Close has begun, it waits for the queue, which must not grow.
		if s.closing.Load() {
			s.busy(w, errClosed.Error())
			return
		}
		s.enqueue(s.cfg.Identity(c.ctx, r), w, c, body)
	})
}

// enqueue queues the messages in body for a conn, and answers the HTTP request: with 202, or with
// an error if body is invalid or the queue is full. The status for a batch is always 202, because
// its other messages run; a message that is refused gets its error on the stream.
func (s *Server) enqueue(ctx context.Context, w http.ResponseWriter, c *conn, body []byte) {
	all, rpcErr := c.split(body)
	if rpcErr != nil {
		s.refuse(w, nil, rpcErr)
		return
	}
	if isBatch(body) {
		for _, raw := range all {
			// an error means that the stream has ended, and with it the client
			_ = s.queue.receive(ctx, c, raw)
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	m, rpcErr := readMessage(body)
	if rpcErr != nil {
		s.refuse(w, m.id, rpcErr)
		return
	}
	m.ctx = ctx
	if err := s.queue.submit(c, m); err != nil {
		s.busy(w, err.Error())
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// connOf returns the conn that a message is for. It returns an error with status 400 if the address
// names no session, and with 404 if the session is unknown or belongs to another principal. The
// address names the session in the query parameter session_id; mcp-go and the TypeScript SDK call
// it sessionId.
func (s *Server) connOf(r *http.Request) (*conn, *rpcError) {
	q := r.URL.Query()
	id := cmp.Or(q.Get("session_id"), q.Get("sessionId"))
	if id == "" {
		return nil, fail(codeRequest, "the address must name a session_id").withStatus(
			http.StatusBadRequest)
	}
	found, ok := s.conns.Load(id)
	if !ok || found.(*conn).principal != s.cfg.Principal(r) {
		return nil, fail(codeRequest,
			"there is no such session; open a stream first, with GET /sse").withStatus(
			http.StatusNotFound)
	}
	return found.(*conn), nil
}
