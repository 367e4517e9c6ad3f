package mcpserver

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"time"

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

// watch subscribes to a resource, or ends that.
func (s *session) watch(uri string, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !on:
		delete(s.watched, uri)
	case len(s.watched) < maxWatched:
		if s.watched == nil {
			s.watched = map[string]bool{}
		}
		s.watched[uri] = true
	}
}

// maxWatched is how many resources one session may watch; more are not told of.
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

// sealedSession is what a session id of Streamable HTTP says. It is signed and not secret.
type sealedSession struct {
	Version   string `json:"v"`
	Client    string `json:"n,omitempty"`
	Release   string `json:"r,omitempty"`
	Can       string `json:"c,omitempty"` // a letter for each of roots, sampling, elicitation, tasks
	Principal string `json:"p,omitempty"` // a digest
	Since     int64  `json:"t"`           // Unix seconds
	Nonce     string `json:"x"`
}

// sessionLife is how long a session id is good. Its client initialises again after that.
const sessionLife = 30 * 24 * time.Hour

// mint makes the id of a session that has begun.
func (s seal) mint(of *session) string {
	var nonce [16]byte
	rand.Read(nonce[:]) // never fails
	return s.close("session", sealedSession{
		Version: of.version, Client: cut(of.client.Name), Release: cut(of.client.Version), Can: letters(of.can),
		Principal: digest(of.principal), Since: time.Now().Unix(), Nonce: hex.EncodeToString(nonce[:]),
	})
}

// read makes the session of an id. It is not ok when the id is not ours, too old, or another principal's.
func (s seal) read(id, principal string) (*session, bool) {
	var said sealedSession
	if s.open("session", id, &said) != nil || said.Principal != digest(principal) || time.Since(time.Unix(said.Since, 0)) > sessionLife {
		return nil, false
	}
	return &session{
		id: id, principal: principal, version: said.Version, level: defaultLevel,
		client: mcp.Implementation{Name: said.Client, Version: said.Release}, can: abilities(said.Can),
	}, true
}

// cut keeps an id short whatever a client calls itself.
func cut(name string) string { return name[:min(len(name), 64)] }

// digest stands for a principal where everybody can read.
func digest(principal string) string {
	if principal == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(principal))
	return hex.EncodeToString(sum[:8])
}

// letters are a client's capabilities in short.
func letters(c mcp.ClientCapabilities) (all string) {
	if c.Roots != nil {
		all += "r"
	}
	if c.Sampling != nil {
		all += "s"
	}
	if c.Elicitation != nil {
		all += "e"
	}
	if c.Tasks != nil {
		all += "t"
	}
	return all
}

// abilities are the capabilities that letters stand for.
func abilities(all string) (c mcp.ClientCapabilities) {
	if strings.Contains(all, "r") {
		c.Roots = &struct {
			ListChanged bool `json:"listChanged,omitempty"`
		}{}
	}
	if strings.Contains(all, "s") {
		c.Sampling = &mcp.SamplingCapability{}
	}
	if strings.Contains(all, "e") {
		c.Elicitation = &mcp.ElicitationCapability{}
	}
	if strings.Contains(all, "t") {
		c.Tasks = &mcp.TasksCapability{}
	}
	return c
}
