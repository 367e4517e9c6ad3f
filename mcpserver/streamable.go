package mcpserver

import (
	"bytes"
	"cmp"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// Streamable returns the handler for Streamable HTTP, with all its revisions on one address. A
// client that never sent initialize is answered too, as in 2025-03-26, so that one request with
// curl is enough to call a tool.
func (s *Server) Streamable() http.Handler { return http.HandlerFunc(s.streamable) }

// streamable answers a request by its method. GET and DELETE belong to the revisions with sessions.
// Any other request gets a 405, because several clients take a 404 on GET for a missing server.
func (s *Server) streamable(w http.ResponseWriter, r *http.Request) {
	modern := mcp.IsModernProtocol(r.Header.Get("Mcp-Protocol-Version"))
	switch {
	case r.Method == http.MethodPost:
		s.post(w, r)
	case r.Method == http.MethodGet && !modern && accepts(r, "text/event-stream"):
		s.listen(w, r)
	case r.Method == http.MethodDelete && !modern:
		s.forget(w, r)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		err := fail(codeRequest,
			"messages are sent by POST; GET is for event streams of revisions up to 2025-11-25")
		s.refuse(w, nil, err.withStatus(http.StatusMethodNotAllowed))
	}
}

// accepts reports whether a client accepts a content type, explicitly or by a wildcard. A client
// without an Accept header accepts JSON. Case does not matter (RFC 9110, section 8.3.1). The
// specification demands that Accept has both types, but */*, which curl sends, is accepted as well.
func accepts(r *http.Request, kind string) bool {
	said := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	general, _, _ := strings.Cut(kind, "/")
	return strings.Contains(said, kind) || strings.Contains(said, "*/*") ||
		strings.Contains(said, general+"/*") ||
		said == "" && kind == "application/json"
}

// post answers a POST. It checks in this order: rate, type and size, text, revision, headers,
// session. Then the method is run with its parameters. The cheap checks come first, and the first
// error is the answer. So an unknown session causes a 404 only if the rest of the request is right,
// because clients initialize again on a 404.
func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	principal := s.cfg.Principal(r)
	// The session is looked up before the body is read, since the rate limit depends on it and must
	// not cost the reading of a message.
	named := r.Header.Get("Mcp-Session-Id")
	found, ok := s.sessions.find(named, principal)
	if wait, ok := s.rate.allow(rateKey(found, principal, r), time.Now()); !ok {
		s.tooMany(w, wait)
		return
	}
	body, rpcErr := s.readBody(w, r)
	if rpcErr != nil {
		s.refuse(w, nil, rpcErr)
		return
	}
	if isBatch(body) {
		s.batch(w, r, body, found)
		return
	}
	m, rpcErr := readMessage(body)
	if rpcErr != nil {
		s.refuse(w, m.id, rpcErr)
		return
	}
	modern, version, rpcErr := pick(r.Header, m)
	switch {
	case rpcErr != nil:
	case modern && m.isRequest():
		rpcErr = s.checkModern(r.Header, m)
	// Notifications are refused too: since 2026-07-28 closing the stream cancels a request.
	case modern:
		rpcErr = fail(codeRequest, "by this revision clients send only requests over HTTP")
	// initialize with an old id is accepted: clients that reconnect send the id that they had.
	case named != "" && !ok && m.method != string(mcp.MethodInitialize):
		rpcErr = noSession()
	}
	if rpcErr != nil {
		s.write(w, frame{body: rpcErr.frame(m.id), status: rpcErr.httpStatus(modern)})
		return
	}
	s.answer(w, r, callerOf(found, principal, modern, version, m), m)
}

// noSession returns the error that tells a client to initialize again. Its status is 404, as
// Streamable HTTP demands (Session Management).
func noSession() *rpcError {
	return fail(codeRequest, "there is no such session any more; initialize again").withStatus(
		http.StatusNotFound)
}

// rateKey returns the key for the rate limit: the session, else the principal, else the address. An
// unknown session id is ignored, so a client gains nothing by inventing ids.
func rateKey(found *session, principal string, r *http.Request) string {
	if found != nil {
		return found.id
	}
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	return cmp.Or(principal, host)
}

// callerOf returns the sender of a message. A request of 2026-07-28 describes its client itself. A
// client with a session is described by the session. Any other client is new, and its revision is
// the one of its header.
func callerOf(found *session, principal string, modern bool, version string, m message) *caller {
	c := &caller{session: found, modern: modern, meta: m.said.Meta}
	switch {
	case modern:
		c.session = m.said.Meta.session(principal)
	case m.method == string(mcp.MethodInitialize):
		c.session = &session{principal: principal}
	case found == nil:
		c.session = &session{principal: principal,
			said: said{version: version, level: defaultLevel}}
	}
	return c
}

// batch answers the messages of a batch. Only 2025-03-26 has batches; for later revisions a batch
// is an invalid request. The messages run one after the other and count as one request, so a batch
// is no way around MaxCalls.
func (s *Server) batch(w http.ResponseWriter, r *http.Request, body []byte, found *session) {
	version := cmp.Or(r.Header.Get("Mcp-Protocol-Version"), oldest)
	// The negotiated revision has precedence over the header.
	if found != nil {
		version = found.now().version
	}
	if version != oldest {
		s.refuse(w, nil, noBatches())
		return
	}
	all, rpcErr := readBatch(body)
	if rpcErr != nil {
		s.refuse(w, nil, rpcErr)
		return
	}
	if named := r.Header.Get("Mcp-Session-Id"); named != "" && found == nil {
		s.refuse(w, nil, noSession())
		return
	}
	if !s.enter(w) {
		return
	}
	defer s.leave()
	var answers [][]byte
	for _, raw := range all {
		if a := s.oneOfBatch(r, raw, found); a != nil {
			answers = append(answers, a)
		}
	}
	if len(answers) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	list := bytes.Join(answers, []byte(","))
	s.write(w, frame{body: slices.Concat([]byte("["), list, []byte("]"))})
}

// noBatches returns the error for a batch of messages from a client whose MCP revision does not
// know batches.
func noBatches() *rpcError {
	return fail(codeRequest, "a batch of messages is only known to revision %s", oldest)
}

// oneOfBatch returns the answer to one message of a batch, or nil if the message needs none.
// initialize is an error in a batch, because the other messages would need its session.
func (s *Server) oneOfBatch(r *http.Request, raw []byte, found *session) []byte {
	m, rpcErr := readMessage(raw)
	if rpcErr == nil && m.method == string(mcp.MethodInitialize) {
		rpcErr = fail(codeRequest, "initialize is sent alone")
	}
	if rpcErr != nil {
		return rpcErr.frame(m.id)
	}
	c := callerOf(found, s.cfg.Principal(r), false, oldest, m)
	c.out = nowhere
	f := s.handled(r.Context(), c, m)
	if f.body == nil {
		return nil
	}
	return f.append(nil)
}
