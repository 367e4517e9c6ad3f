package mcpserver

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/internal/replace"
)

// session is what a client began with initialize, or what a client of 2026-07-28 says about itself
// with each request. The id of a Streamable HTTP session contains all of it (seal.mint); the id of
// a 2024-11-05 stream is a random UUID.
type session struct {
	id        string // empty: there is none
	principal string // its owner; empty if callers need not identify themselves

	mu      sync.Mutex
	said    said
	watched map[string]bool // resources to which the client has subscribed
	bytes   int             // the length of all their addresses
	changes uint64          // how often level and watched were changed, at all replicas
}

// said is what a client has said about itself, and what was negotiated with it.
type said struct {
	version string // empty: initialize has not been answered yet
	client  mcp.Implementation
	can     mcp.ClientCapabilities
	level   mcp.LoggingLevel // log messages below it are not sent; empty: none are sent
}

// defaultLevel is the level of a session's log lines until its client sets one. The protocol leaves
// it to the server; debug lines would be noise for clients that never set it.
const defaultLevel = mcp.LoggingLevelInfo

// session returns a session for a request of 2026-07-28, which must have capabilities. It lives as
// long as the request and has no id, so nothing can be cancelled by name: closing the stream is the
// cancellation.
func (m meta) session(principal string) *session {
	own := said{version: mcp.ProtocolVersion20260728, level: m.Level, can: *m.Capabilities}
	if m.Client != nil {
		own.client = *m.Client
	}
	return &session{principal: principal, said: own}
}

// begin stores what initialize negotiated. If the client has already set a log level, that level
// stays.
func (s *session) begin(version string, client mcp.Implementation, can mcp.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = said{version, client, can, cmp.Or(s.said.level, defaultLevel)}
}

// now returns what the client has said about itself so far.
func (s *session) now() said {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}

// setLevel stores the lowest level of log messages that the client wants, from logging/setLevel.
func (s *session) setLevel(level mcp.LoggingLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said.level = level
}

// watch subscribes to a resource. It returns an error for the client if that would exceed the
// limit. Without a limit a session could fill the memory with addresses.
func (s *session) watch(uri string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watched[uri] {
		return nil
	}
	if len(s.watched) >= maxWatched || s.bytes+len(uri) > maxWatchedBytes {
		return fmt.Errorf("a session may subscribe to %d resources, with %d bytes of addresses",
			maxWatched, maxWatchedBytes)
	}
	if s.watched == nil {
		s.watched = map[string]bool{}
	}
	s.watched[uri] = true
	s.bytes += len(uri)
	return nil
}

// unwatch ends a subscription, if there is one.
func (s *session) unwatch(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watched[uri] {
		delete(s.watched, uri)
		s.bytes -= len(uri)
	}
}

// maxWatched is the most resources to which one session may subscribe, and maxWatchedBytes is the
// greatest length of their addresses together. Clients invent these texts, each as long as a
// message may be.
const (
	maxWatched      = 1000
	maxWatchedBytes = 64 << 10
)

// settings are what a session's client has set, in the form that replicas exchange.
type settings struct {
	Changes uint64           `json:"n"`
	Level   mcp.LoggingLevel `json:"level,omitempty"`
	Watched []string         `json:"watched,omitempty"`
}

// changed increments the number of changes of the settings, and returns the settings with it. By
// that number replicas know which settings are the newest.
func (s *session) changed() settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	return settings{s.changes, s.said.level, slices.Collect(maps.Keys(s.watched))}
}

// adopt replaces the settings by those from another replica if these are newer, and reports whether
// they were.
func (s *session) adopt(other settings) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if other.Changes <= s.changes {
		return false
	}
	s.changes, s.said.level, s.watched, s.bytes = other.Changes, other.Level, map[string]bool{}, 0
	for _, uri := range other.Watched {
		s.watched[uri] = true
		s.bytes += len(uri)
	}
	return true
}

// watches reports whether the client has subscribed to a resource.
func (s *session) watches(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watched[uri]
}

// hidesErrors reports whether the client is the editor Void. Void shows {} for a result with
// isError, so that neither the user nor the model learns what was wrong, but it shows a text that
// begins with "Error:". Void's name depends on the user, so it is recognised by its version, which
// has always been the same.
func (s *session) hidesErrors() bool {
	client := s.now().client
	return client.Version == "0.1.0" && strings.HasSuffix(client.Name, "-client")
}

// sessions are the sessions of Streamable HTTP. Their ids contain most of their state. The type
// stores only what a client has set later, and which sessions were ended. mcp-go's own server
// stores 10 KB for each initialize that no DELETE follows.
type sessions struct {
	seal seal

	mu     sync.Mutex
	kept   map[string]*session
	ended  *ended
	shared Shared // nil: only the field ended knows which sessions were ended
}

// sharedKind is the kind of ended sessions in Shared. settingsKind is the kind of what clients have
// set, which is stored there for settingsLife.
const (
	sharedKind   = "ended session"
	settingsKind = "mcp settings"
	settingsLife = 24 * time.Hour
)

// endedElsewhere reports whether another replica has ended a session. If the shared store cannot be
// asked, it returns false, so that the session goes on.
func (s *sessions) endedElsewhere(id string) bool {
	if s.shared == nil {
		return false
	}
	_, ok, _ := s.shared.Get(sharedKind, nameOf(id), "")
	return ok
}

// maxSessions is the number of sessions whose settings are stored. A session beyond it falls back
// to the defaults, log level info and no subscriptions. That costs its client some notifications
// but no answer.
const maxSessions = 10_000

// newSessions returns an empty store of sessions, except that it knows which sessions were ended.
func newSessions(s seal, e *ended, shared Shared) *sessions {
	return &sessions{seal: s, kept: map[string]*session{}, ended: e, shared: shared}
}

// find returns the session of an id. It returns false if the id is invalid, was ended, or belongs
// to another principal. The signature is checked before the lock is taken, so that forged ids do
// not delay other clients.
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
	// The stored session has the client's later settings; the id has only the first ones.
	if known, ok := s.kept[id]; ok {
		return known, true
	}
	return found, true
}

// watches reports whether the session of an id is subscribed to a resource. It is called for each
// change, because the subscription may have come after the stream was opened.
func (s *sessions) watches(id, uri string) bool {
	s.mu.Lock()
	one := s.kept[id]
	s.mu.Unlock()
	return one != nil && one.watches(uri)
}

// refresh gets the settings that a session's client has made at other replicas. If they cannot be
// read, the settings that this replica knows stay in force.
func (s *sessions) refresh(one *session) {
	if s.shared == nil {
		return
	}
	var other settings
	if body, ok, _ := s.shared.Get(settingsKind, nameOf(one.id), ""); ok &&
		json.Unmarshal(body, &other) == nil && one.adopt(other) {
		s.hold(one)
	}
}

// keep stores the settings of a session for all replicas. It returns an error if other replicas
// will not see them.
func (s *sessions) keep(one *session) error {
	s.hold(one)
	if s.shared == nil {
		return nil
	}
	return s.shared.Put(settingsKind, nameOf(one.id), "", encode(one.changed()), settingsLife)
}

// hold stores a session. If there are too many, it drops an arbitrary one, because any order would
// need a list, for a case that hardly occurs.
func (s *sessions) hold(one *session) {
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

// end makes the id of a session invalid. If it returns an error, the id may become valid again
// after a restart, or still be valid at other replicas. mcp-go's own server checks only the form of
// an id, so there a session goes on after its DELETE, but the specification demands a 404.
func (s *sessions) end(id string, now time.Time) (err error) {
	if s.shared != nil {
		err = s.shared.Put(sharedKind, nameOf(id), "", nil, sessionLife)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, id)
	return errors.Join(err, s.ended.add(id, now))
}

// ended is the list of sessions that their clients have ended, with the times. It is needed because
// their ids are signed, and would be valid again after a restart. The list is stored in a file
// until the ids have expired. A line of the file is a digest and Unix seconds: "4f1d… 1795000000".
// Replicas on other machines with the same key do not see the file.
type ended struct {
	path string // empty: no file
	at   map[string]time.Time
}

// maxEnded is the most ended sessions that are stored. If there are more, the oldest tenth is
// dropped, so that the file is rewritten seldom.
const maxEnded = 100_000

// newEnded returns the list of ended sessions that is stored in the file at path. If there is no
// such file, the list is empty. Broken lines, such as the last one after a power cut, are ignored.
// If the file cannot be read, it returns an error and an empty list, which never writes the file.
// It also returns an error if the file cannot be rewritten.
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

// nameOf returns the first half of the id's SHA-256 hash in hexadecimal. It is used where the id
// itself must not be seen, for example as the name of a file.
func nameOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

// has reports whether the session with this id was ended.
func (e *ended) has(id string) bool {
	_, ok := e.at[nameOf(id)]
	return ok
}

// add adds an id to the list of ended sessions. It returns an error if the file of the list cannot
// be written. It appends a line to the file, and rewrites the whole file only if the list has too
// many ids, because sessions end often, and a file of 100,000 lines has 4 MB.
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

// forget drops the oldest tenth of the ids, and those that have expired.
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

// rewrite writes the whole list to its file, if it has one. It returns an error if that fails.
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
