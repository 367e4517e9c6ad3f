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

// Pending keeps calls until a runner fetches them, each under an id that nobody can guess: for what
// no command line takes. A call is given out once, within an hour. It stays known, so that its id
// in a conversation says what was called, until new ones need the room. The zero value is ready,
// may be used by many at once, and must not be copied. Unless it is Shared it is memory alone:
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

// sharedKind is the kind of calls there. Their ids are all that is asked for, so they have no
// owner.
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

// Keep keeps a call and returns its id, which Program.Fetch can write. It fails with ErrTooLong for
// arguments of more than 4 MiB. The arguments are copied, since the caller's may be part of a
// buffer.
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
	c := &pendingCall{id: rand.Text(), name: name, args: append(json.RawMessage(nil), args...), since: time.Now()}
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

// errNotPending is the error for an id that is unknown, used or too old; which, nobody is told, so
// that ids cannot be tried out.
var errNotPending = errors.New("there is no such call: each can be run once, within an hour of being made")

// Take returns a call, which is pending no more. It does so once only, and then fails: a command
// that is in a chat is easily run a second time, by a click or by the shell's history.
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

// Find returns the call of an id, whether it has been run or not.
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

// evict drops what is too much, the oldest first. One call is never too much for itself:
// mostArgument is less than mostKept.
func (p *Pending) evict() {
	for len(p.order) > mostPending || p.bytes > mostKept {
		c := p.order[0]
		p.order[0], p.order = nil, p.order[1:]
		delete(p.byID, c.id)
		p.bytes -= len(c.args)
	}
}
