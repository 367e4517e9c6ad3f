package mcpserver

import (
	"sync"
	"time"
)

// sessions knows the sessions of Streamable HTTP. What they are stands in their ids; kept here is only what a client has said
// since, and which ids it has given up.
type sessions struct {
	seal seal

	mu    sync.Mutex
	kept  map[string]*session
	ended *ended
}

// maxSessions is how many sessions something is kept of. The settings of one too many fall back to what they were.
const maxSessions = 10_000

func newSessions(s seal, e *ended) *sessions {
	return &sessions{seal: s, kept: map[string]*session{}, ended: e}
}

// find gives the session of an id, for its own principal only.
func (s *sessions) find(id, principal string) (*session, bool) {
	if id == "" {
		return nil, false
	}
	found, ok := s.seal.read(id, principal)
	if !ok {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.has(id) {
		return nil, false
	}
	if known, ok := s.kept[id]; ok {
		return known, true
	}
	return found, true
}

// remembered is a session of which something is kept.
func (s *sessions) remembered(id string) (*session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.kept[id]
	return one, ok
}

// keep remembers what a session's client has set.
func (s *sessions) keep(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[one.id] = one
	for id := range s.kept {
		if len(s.kept) <= maxSessions {
			return
		}
		delete(s.kept, id)
	}
}

// end makes an id void. An error means that it is so only until the server ends.
func (s *sessions) end(id string, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, id)
	return s.ended.add(id, now)
}
