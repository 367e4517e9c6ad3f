package runner

import (
	"container/list"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// The bounds of pending calls.
const (
	pendingLife  = time.Hour
	mostPending  = 1000
	mostKept     = 64 << 20 // bytes of arguments, all calls together
	mostArgument = 4 << 20  // bytes of one call's
)

// Pending keeps calls until a runner fetches them, each under an id that nobody can guess: for what no command line takes.
// A call is given out once, within an hour; the oldest make room for new ones. The zero value is ready, may be used by
// many at once, and must not be copied.
type Pending struct {
	mu    sync.Mutex
	byID  map[string]*list.Element // of *pendingCall
	order list.List                // the oldest comes first
	bytes int
}

// pendingCall is one call that waits.
type pendingCall struct {
	id    string
	name  string
	args  json.RawMessage
	since time.Time
}

// Keep takes a call and gives its id, which Program.Fetch can write. Arguments of more than 4 MiB are ErrTooLong.
func (p *Pending) Keep(name string, args json.RawMessage) (id string, err error) {
	if len(args) > mostArgument {
		return "", ErrTooLong
	}
	c := &pendingCall{id: rand.Text(), name: name, args: append(json.RawMessage(nil), args...), since: time.Now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID == nil {
		p.byID = map[string]*list.Element{}
	}
	p.byID[c.id] = p.order.PushBack(c)
	p.bytes += len(c.args)
	p.tidy()
	return c.id, nil
}

// errNotPending is the error for an id that is unknown, used or too old; which, nobody is told.
var errNotPending = errors.New("there is no such call: each can be run once, within an hour of being made")

// Take gives out a call, which is pending no more.
func (p *Pending) Take(id string) (name string, args json.RawMessage, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tidy()
	at, ok := p.byID[id]
	if !ok {
		return "", nil, errNotPending
	}
	c := p.drop(at)
	return c.name, c.args, nil
}

// tidy drops what is too old or too much.
func (p *Pending) tidy() {
	for at := p.order.Front(); at != nil; at = p.order.Front() {
		c, ok := at.Value.(*pendingCall)
		if !ok || time.Since(c.since) < pendingLife && p.order.Len() <= mostPending && p.bytes <= mostKept {
			return
		}
		p.drop(at)
	}
}

// drop takes a call out.
func (p *Pending) drop(at *list.Element) *pendingCall {
	c, ok := p.order.Remove(at).(*pendingCall)
	if !ok {
		return new(pendingCall) // nothing else is ever put in
	}
	delete(p.byID, c.id)
	p.bytes -= len(c.args)
	return c
}
