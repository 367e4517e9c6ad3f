package mcpserver

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/internal/replace"
)

// session is what a client began with initialize, or what a client of 2026-07-28 says of itself
// with each request. The id of a Streamable HTTP session contains all of it (seal.mint); the id of
// a 2024-11-05 stream is a random UUID.
type session struct {
	id        string // empty: there is none
	principal string // its owner; empty if callers need not identify themselves

	mu      sync.Mutex
	said    said
	watched map[string]bool // resources that the client subscribed to
}

// said is what a client has said of itself, and what was negotiated with it.
type said struct {
	version string // empty: initialize was not answered yet
	client  mcp.Implementation
	can     mcp.ClientCapabilities
	level   mcp.LoggingLevel // log messages below it are not sent; empty: none are
}

// defaultLevel is the level of a session's log lines until its client sets one. The revisions leave
// that to the server; debug lines would be noise to clients that never set it.
const defaultLevel = mcp.LoggingLevelInfo

// session returns the caller of a request of 2026-07-28, which names its capabilities. It lives as
// long as the request, and has no id, so it cannot be cancelled by name: closing the stream is the
// cancellation.
func (m meta) session(principal string) *session {
	own := said{version: mcp.ProtocolVersion20260728, level: m.Level, can: *m.Capabilities}
	if m.Client != nil {
		own.client = *m.Client
	}
	return &session{principal: principal, said: own}
}

// begin keeps what initialize said. A level that the client set before it stays.
func (s *session) begin(version string, client mcp.Implementation, can mcp.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = said{version, client, can, cmp.Or(s.said.level, defaultLevel)}
}

// now returns what the client has said so far.
func (s *session) now() said {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}

// setLevel keeps what logging/setLevel said.
func (s *session) setLevel(level mcp.LoggingLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said.level = level
}

// watch subscribes to a resource. The error is for the client, and states the bound: without one a
// session could fill the memory with addresses.
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

// maxWatched is how many resources one session may watch. Addresses are the client's own texts, as
// long as a message may be.
const maxWatched = 1000

// watches reports whether the client subscribed to a resource.
func (s *session) watches(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watched[uri]
}

// hidesErrors reports whether the client shows a failed result as nothing at all: Void, whose name
// is chosen by its user, and which has never had another version. Its interface shows {} for a
// result with isError, so neither the user nor the model learns what was wrong; a text that begins
// with "Error:" reaches both.
func (s *session) hidesErrors() bool {
	client := s.now().client
	return client.Version == "0.1.0" && strings.HasSuffix(client.Name, "-client")
}

// sessions knows the sessions of Streamable HTTP. Their ids contain most of their state; only what
// a client has set since, and which ids were ended, is kept here. Stock mcp-go keeps 10 KB for each
// initialize that no DELETE follows.
type sessions struct {
	seal seal

	mu     sync.Mutex
	kept   map[string]*session
	ended  *ended
	shared Shared // nil: ended alone knows which were given up
}

// Shared keeps for all replicas of the program which sessions their clients have ended.
// shared.Store is one.
type Shared interface {
	Put(kind, id, owner string, body []byte, life time.Duration) error
	Get(kind, id, owner string) ([]byte, bool, error)
}

// sharedKind is the kind of ended sessions there.
const sharedKind = "ended session"

// endedElsewhere reports whether another replica has ended a session. If that cannot be found out,
// the session goes on, as after a restart without the file.
func (s *sessions) endedElsewhere(id string) bool {
	if s.shared == nil {
		return false
	}
	_, ok, _ := s.shared.Get(sharedKind, nameOf(id), "")
	return ok
}

// maxSessions is the number of sessions of which settings are kept. A session beyond it falls back
// to the defaults, log level info and no subscriptions, which costs its client some notifications
// but no answer.
const maxSessions = 10_000

// newSessions returns sessions that know which were ended, and no others yet.
func newSessions(s seal, e *ended, shared Shared) *sessions {
	return &sessions{seal: s, kept: map[string]*session{}, ended: e, shared: shared}
}

// find returns the session of an id, for its own principal only. It checks the signature before it
// takes the lock, so that forged ids do not slow down other clients.
func (s *sessions) find(id, principal string) (*session, bool) {
	if id == "" {
		return nil, false
	}
	found, ok := s.seal.read(id, principal)
	if !ok || s.endedElsewhere(id) {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.has(id) {
		return nil, false
	}
	// What the client has set since counts; the id only says how the session began.
	if known, ok := s.kept[id]; ok {
		return known, true
	}
	return found, true
}

// remembered returns a session whose settings are kept.
func (s *sessions) remembered(id string) (*session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.kept[id]
	return one, ok
}

// keep remembers what a session's client has set. If there are too many sessions, it drops an
// arbitrary one: any order would need a list, for a case that hardly occurs.
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

// end makes an id invalid. An error means that it is invalid only until the server ends. Stock
// servers check only the form of an id, so that a session goes on after its DELETE; the
// specification wants a 404.
func (s *sessions) end(id string, now time.Time) (err error) {
	if s.shared != nil {
		err = s.shared.Put(sharedKind, nameOf(id), "", nil, sessionLife)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, id)
	return errors.Join(err, s.ended.add(id, now))
}

// ended holds the sessions that their clients have ended, and when: their ids are signed, and would
// be valid again after a restart. They are kept in a file, one per line, until the ids have expired
// anyway. A line is a digest and Unix seconds: "4f1d… 1795000000". Replicas on other machines with
// the same key do not see the file.
type ended struct {
	path string // empty: no file
	at   map[string]time.Time
}

// maxEnded is the most ended sessions that are known. If there are more, the oldest tenth is
// forgotten, so that the file is rewritten seldom.
const maxEnded = 100_000

// newEnded reads the file, if there is one. An error means that nothing is known, and that nothing
// will be written: a file that cannot be read may hold more than we know, and a rewrite would lose
// that. Lines that are broken, as the last one after a power cut, are passed over.
func newEnded(path string, now time.Time) (*ended, error) {
	e := &ended{path: path, at: map[string]time.Time{}}
	if path == "" {
		return e, nil
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.path = ""
		return e, err
	}
	lines := 0
	for line := range bytes.Lines(text) {
		var name string
		var seconds int64
		lines++
		if n, _ := fmt.Sscanf(string(line), "%32s %d", &name, &seconds); n == 2 &&
			now.Sub(time.Unix(seconds, 0)) <= sessionLife {
			e.at[name] = time.Unix(seconds, 0)
		}
	}
	// Some lines are too old, broken or repeated: the file is rewritten at the start, when no
	// client waits.
	if lines > len(e.at) {
		err = e.rewrite()
	} else {
		err = nil
	}
	return e, err
}

// nameOf returns the name of an id in the file, so that the file reveals no ids: the first half of
// its SHA-256 sum, in hex.
func nameOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

// has reports whether the session with an id was ended.
func (e *ended) has(id string) bool {
	_, ok := e.at[nameOf(id)]
	return ok
}

// add makes an id invalid. It appends a line, and rewrites the file only when there are too many:
// sessions end often, and a file of 100,000 lines has 4 MB.
func (e *ended) add(id string, now time.Time) error {
	name := nameOf(id)
	e.at[name] = now
	if len(e.at) > maxEnded {
		e.forget(now)
		return e.rewrite()
	}
	if e.path == "" {
		return nil
	}
	f, err := os.OpenFile(e.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	// one write, so that lines of two programs do not mix
	_, err = fmt.Fprintf(f, "%s %d\n", name, now.Unix())
	return errors.Join(err, f.Close())
}

// forget drops the oldest tenth, and what is too old.
func (e *ended) forget(now time.Time) {
	all := make([]time.Time, 0, len(e.at))
	for _, at := range e.at {
		all = append(all, at)
	}
	slices.SortFunc(all, time.Time.Compare)
	// A tenth at once, or each further end would write the whole file.
	last := all[len(all)/10]
	for name, at := range e.at {
		if !at.After(last) || now.Sub(at) > sessionLife {
			delete(e.at, name)
		}
	}
}

// rewrite writes the file anew.
func (e *ended) rewrite() error {
	if e.path == "" {
		return nil
	}
	var b strings.Builder
	for name, at := range e.at {
		fmt.Fprintf(&b, "%s %d\n", name, at.Unix())
	}
	return replace.File(e.path, []byte(b.String()))
}
