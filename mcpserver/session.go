package mcpserver

import (
	"fmt"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// session is what a client began with initialize, or a caller of 2026-07-28 says of itself with each request.
type session struct {
	id        string // empty: there is none
	principal string // whose it is; empty where nobody has to say who they are

	mu      sync.Mutex
	version string // as negotiated; empty before
	client  mcp.Implementation
	can     mcp.ClientCapabilities
	level   mcp.LoggingLevel // log messages below it are not sent
	watched map[string]bool  // resources that the client subscribed to
}

// defaultLevel is what a session logs before its client says anything.
const defaultLevel = mcp.LoggingLevelInfo

// session is the caller of a request of 2026-07-28, which names its capabilities.
func (m meta) session(principal string) *session {
	s := &session{principal: principal, version: mcp.ProtocolVersion20260728, level: m.Level, can: *m.Capabilities}
	if m.Client != nil {
		s.client = *m.Client
	}
	return s
}

// begin keeps what initialize said.
func (s *session) begin(version string, client mcp.Implementation, can mcp.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version, s.client, s.can = version, client, can
	if s.level == "" {
		s.level = defaultLevel
	}
}

// begun says that initialize was answered.
func (s *session) begun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version != ""
}

// logLevel is the lowest level that the client wants to hear of; empty: it wants none.
func (s *session) logLevel() mcp.LoggingLevel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.level
}

// setLevel keeps what logging/setLevel said.
func (s *session) setLevel(level mcp.LoggingLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = level
}

// watch subscribes to a resource.
func (s *session) watch(uri string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.watched) >= maxWatched {
		return fmt.Errorf("a session may subscribe to %d resources", maxWatched)
	}
	if s.watched == nil {
		s.watched = map[string]bool{}
	}
	s.watched[uri] = true
	return nil
}

// unwatch ends a subscription.
func (s *session) unwatch(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watched, uri)
}

// maxWatched is how many resources one session may watch.
const maxWatched = 1000

// watches says whether the client subscribed to a resource.
func (s *session) watches(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watched[uri]
}

// hidesErrors says that the client shows a failed result as nothing at all: Void, whose name is chosen by its user, and
// which has never had another version.
func (s *session) hidesErrors() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client.Version == "0.1.0" && strings.HasSuffix(s.client.Name, "-client")
}
