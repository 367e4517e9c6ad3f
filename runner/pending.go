package runner

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// The limits of pending calls: how long a call can be run, how many are stored, and how large they
// may be.
const (
	pendingLife  = time.Hour
	mostPending  = 1000
	mostKept     = 64 << 20 // bytes of the arguments of all calls together
	mostArgument = 4 << 20  // bytes of the arguments of one call
)

// Pending stores calls that are too long for a command line until a runner fetches them, each under
// an unguessable id. A call can be taken once, within an hour. After that Find still returns it
// until its place is needed for new calls, because a conversation may mention its id. The zero
// value is ready for use, is safe for concurrent use, and must not be copied. Without Shared the
// calls are in memory, so after a restart the ids are unknown.
type Pending struct {
	Shared Shared // stores the calls for all replicas; nil: they are in memory

	mu    sync.Mutex
	byID  map[string]*pendingCall
	order []*pendingCall // the oldest first
	bytes int
}

// Shared stores calls for all replicas of the program, by kind, id and owner. Take returns a call
// only once. shared.Store implements it.
type Shared interface {
	Put(kind, id, owner string, body []byte, life time.Duration) error
	Get(kind, id, owner string) ([]byte, bool, error)
	Take(kind, id, owner string) ([]byte, bool, error)
}

// sharedKind is the kind of calls in Shared. They have no owner, because the id alone gives access.
const sharedKind = "call"

// sharedCall is a call as it is stored, in JSON, for all replicas of the program.
type sharedCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// pendingCall is one stored call.
type pendingCall struct {
	id    string
	name  string
	args  json.RawMessage
	since time.Time
	taken bool
}

// Keep stores a call and returns its id, for Program.Fetch. The arguments are copied, because those
// of the caller may be part of a buffer. For arguments of more than 4 MiB it returns ErrTooLong. It
// also returns an error if the store that is shared by replicas fails.
func (p *Pending) Keep(name string, args json.RawMessage) (id string, err error) {
	if len(args) > mostArgument {
		return "", ErrTooLong
	}
	if p.Shared != nil {
		id = rand.Text()
		body, err := json.Marshal(sharedCall{name, args})
		if err == nil {
			err = p.Shared.Put(sharedKind, id, "", body, pendingLife)
		}
		return id, err
	}
	c := &pendingCall{id: rand.Text(), name: name, args: append(json.RawMessage(nil), args...),
		since: time.Now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID == nil {
		p.byID = map[string]*pendingCall{}
	}
	p.byID[c.id], p.order = c, append(p.order, c)
	p.bytes += len(c.args)
	p.evict()
	return c.id, nil
}

// errNotPending is returned for an id that is unknown, used or too old. It does not say which, so
// that ids cannot be tested.
var errNotPending = errors.New(
	"there is no such call: each can be run once, within an hour of being made")

// Take returns a call, which is then no longer pending. So a second Take with the same id returns
// errNotPending, because a command in a chat is easily run a second time, by a click or from the
// shell's history. Take also returns errNotPending for an id that is unknown or too old, and an
// error if Shared fails.
func (p *Pending) Take(id string) (name string, args json.RawMessage, err error) {
	if p.Shared != nil {
		name, args, ok, err := readShared(p.Shared.Take(sharedKind, id, ""))
		if err == nil && !ok {
			err = errNotPending
		}
		return name, args, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.byID[id]
	if !ok || c.taken || time.Since(c.since) >= pendingLife {
		return "", nil, errNotPending
	}
	c.taken = true
	return c.name, c.args, nil
}

// Find returns the call with this id, whether or not it was taken. It returns false if the id is
// unknown or Shared fails.
func (p *Pending) Find(id string) (name string, args json.RawMessage, ok bool) {
	if p.Shared != nil {
		name, args, ok, err := readShared(p.Shared.Get(sharedKind, id, ""))
		return name, args, ok && err == nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.byID[id]
	if !ok {
		return "", nil, false
	}
	return c.name, c.args, true
}

// readShared decodes a result of the store that is shared by replicas. It returns the call, true if
// there was one, and the error of the store or of decoding.
func readShared(body []byte, ok bool, err error) (string, json.RawMessage, bool, error) {
	var c sharedCall
	if err == nil && ok {
		err = json.Unmarshal(body, &c)
	}
	return c.Name, c.Arguments, ok, err
}

// evict drops the oldest calls until the others are within the limits. A single call always fits,
// because mostArgument is less than mostKept.
func (p *Pending) evict() {
	for len(p.order) > mostPending || p.bytes > mostKept {
		c := p.order[0]
		p.order[0], p.order = nil, p.order[1:]
		delete(p.byID, c.id)
		p.bytes -= len(c.args)
	}
}
