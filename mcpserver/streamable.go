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

// Streamable serves Streamable HTTP, all its revisions on one address. A client that never sent
// initialize is answered too, as by 2025-03-26: one request with curl is enough to call a tool.
func (s *Server) Streamable() http.Handler { return http.HandlerFunc(s.streamable) }

// streamable handles a request by its method. GET and DELETE belong to the revisions with sessions.
// Any other request gets a 405: several clients take a 404 on GET for a server that is not there.
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

// accepts reports whether a client takes a content type, explicitly or by a wildcard. A client
// without Accept takes JSON. The specification wants both types in Accept; curl sends */*, and is
// served.
func accepts(r *http.Request, kind string) bool {
	said := strings.Join(r.Header.Values("Accept"), ",")
	return strings.Contains(said, kind) || strings.Contains(said, "*/*") ||
		said == "" && kind == "application/json"
}

// post answers what a client sends: rate, type and size, text, revision, headers, session are
// checked in this order; then the method and its parameters count. The cheap checks come first, and
// the first error is the answer: an unknown session causes a 404 only if the request is otherwise
// right, as clients initialize again on a 404.
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
	// Notifications too: since 2026-07-28 closing the stream is what cancels.
	case modern:
		rpcErr = fail(codeRequest, "by this revision clients send only requests over HTTP")
	// initialize with an old id is served: clients that reconnect send the id that they had.
	case named != "" && !ok && m.method != string(mcp.MethodInitialize):
		rpcErr = noSession()
	}
	if rpcErr != nil {
		s.write(w, frame{body: rpcErr.frame(m.id), status: rpcErr.httpStatus(modern)})
		return
	}
	s.answer(w, r, callerOf(found, principal, modern, version, m), m)
}

// noSession returns the error that asks a client to initialise again: a 404, by Streamable HTTP
// (Session Management).
func noSession() *rpcError {
	return fail(codeRequest, "there is no such session any more; initialize again").withStatus(
		http.StatusNotFound)
}

// rateKey returns the key of the rate limit: the session, or else the principal, or else the
// address. A made-up id is not a session, so a client gains nothing by making ids up.
func rateKey(found *session, principal string, r *http.Request) string {
	if found != nil {
		return found.id
	}
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	return cmp.Or(principal, host)
}

// callerOf returns the sender of a message. A request of 2026-07-28 describes its client itself; a
// request in a session is described by the session; any other client is new, and is served by the
// revision that its header names.
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

// batch answers the messages of a batch, which only 2025-03-26 has; later ones call it an invalid
// request. Its messages run one after the other and take one place together, so a batch is no way
// around MaxCalls.
func (s *Server) batch(w http.ResponseWriter, r *http.Request, body []byte, found *session) {
	version := cmp.Or(r.Header.Get("Mcp-Protocol-Version"), oldest)
	// What was negotiated counts more than what the header says.
	if found != nil {
		version = found.now().version
	}
	if version != oldest {
		s.refuse(w, nil, fail(codeRequest, "a batch of messages is only known to revision %s",
			oldest))
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
	s.write(w, frame{body: joined(answers)})
}

// oneOfBatch answers one message of a batch; it returns nil if the message wants no answer.
// initialize must not be in a batch: the other messages would need the session that it makes.
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

// joined returns a JSON array of answers.
func joined(answers [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(answers, []byte(",")), []byte("]"))
}
