package mcpserver

import (
	"net/http"
	"time"
)

// listen is the stream on which a client of 2025 hears what has changed, and takes up a stream that broke.
func (s *Server) listen(w http.ResponseWriter, r *http.Request) {
	principal, named := s.cfg.Principal(r), r.Header.Get("Mcp-Session-Id")
	found, ok := s.sessions.find(named, principal)
	if version := r.Header.Get("Mcp-Protocol-Version"); version != "" && !isKnown(version) {
		s.refuse(w, nil, unsupported(version))
		return
	}
	if named != "" && !ok {
		s.refuse(w, nil, noSession())
		return
	}
	if wait, ok := s.rate.allow(rateKey(found, principal, r), time.Now()); !ok {
		s.tooMany(w, wait)
		return
	}
	out, done, ok := s.open(w)
	if !ok {
		return
	}
	defer done()
	if found == nil {
		found = &session{principal: principal}
	}
	if o, after, ok := s.records.find(r.Header.Get("Last-Event-ID"), found.id); ok && found.id != "" {
		s.replay(r.Context(), out, o, after)
		return
	}
	l := &listener{session: found.id, box: newOutbox()}
	l.wants = func(_, uri string) bool { return uri == "" || s.watches(found.id, uri) }
	defer s.engine.hub.add(l)()
	out.Comment("listening")
	err := s.pour(r.Context(), out, l.box, plainEvent)
	l.box.end(err)
	s.dropped("listener", err)
}

// watches says whether a session subscribed to a resource, perhaps since its stream was opened.
func (s *Server) watches(id, uri string) bool {
	one, ok := s.sessions.remembered(id)
	return ok && one.watches(uri)
}

// forget ends a session that its client gives up.
func (s *Server) forget(w http.ResponseWriter, r *http.Request) {
	named := r.Header.Get("Mcp-Session-Id")
	if named == "" {
		s.refuse(w, nil, fail(codeRequest, "DELETE ends the session that Mcp-Session-Id names").withStatus(http.StatusBadRequest))
		return
	}
	if _, ok := s.sessions.find(named, s.cfg.Principal(r)); !ok {
		s.refuse(w, nil, noSession())
		return
	}
	if err := s.sessions.end(named, time.Now()); err != nil {
		s.cfg.Log.Warn().Err(err).Msg("an MCP session that was ended is good again after a restart")
	}
	s.engine.hub.end(named)
	s.engine.cancelAll(named)
	s.records.end(named)
	w.WriteHeader(http.StatusNoContent)
}
