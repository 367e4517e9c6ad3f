package runner

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// The bounds of pending calls: how long one can be run, how many are kept, and how large they may
// be.
const (
	pendingLife  = time.Hour
	mostPending  = 1000
	mostKept     = 64 << 20 // bytes of arguments, all calls together
	mostArgument = 4 << 20  // bytes of one call's
)

// Pending keeps calls that are too long for a command line until a runner fetches them, each under
// an unguessable id. A call is given out once, within an hour. It stays known until new ones need
// the room, so that the call can be found by its id in a conversation. The zero value is ready for
// use, is safe for concurrent use, and must not be copied. Without Shared it is only in memory:
// after a restart the ids are unknown.
type Pending struct {
	Shared Shared // keeps the calls for all replicas; nil: they are kept in memory

	mu    sync.Mutex
	byID  map[string]*pendingCall
	order []*pendingCall // the oldest comes first
	bytes int
}

// Shared keeps calls for all replicas of the program, by kind, id and owner. shared.Store is one.
// Take gives a call out once.
type Shared interface {
	Put(kind, id, owner string, body []byte, life time.Duration) error
	Get(kind, id, owner string) ([]byte, bool, error)
	Take(kind, id, owner string) ([]byte, bool, error)
}

// sharedKind is the kind of calls there. The id alone gives access, so they have no owner.
const sharedKind = "call"

// sharedCall is a call as it is shared.
type sharedCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// pendingCall is one call that waits.
type pendingCall struct {
	id    string
	name  string
	args  json.RawMessage
	since time.Time
	taken bool
}

// Keep keeps a call and returns its id, which Program.Fetch can write. For arguments of more than 4
// MiB it returns ErrTooLong. The arguments are copied, since the caller's may be part of a buffer.
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

// errNotPending is the error for an id that is unknown, used or too old. It does not say which, so
// that ids cannot be tried out.
var errNotPending = errors.New(
	"there is no such call: each can be run once, within an hour of being made")

// Take returns a call, which is then no longer pending. It does so only once: a command in a chat
// is easily run a second time, by a click or from the shell's history.
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

// Find returns the call with an id, whether it has been run or not.
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

// readShared reads what Shared has of a call.
func readShared(body []byte, ok bool, err error) (string, json.RawMessage, bool, error) {
	var c sharedCall
	if err == nil && ok {
		err = json.Unmarshal(body, &c)
	}
	return c.Name, c.Arguments, ok, err
}

// evict drops calls, the oldest first, until the rest is within the bounds. A single call always
// fits, since mostArgument is less than mostKept.
func (p *Pending) evict() {
	for len(p.order) > mostPending || p.bytes > mostKept {
		c := p.order[0]
		p.order[0], p.order = nil, p.order[1:]
		delete(p.byID, c.id)
		p.bytes -= len(c.args)
	}
}
