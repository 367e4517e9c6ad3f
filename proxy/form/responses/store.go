package responses

import (
	"container/list"
	"encoding/json"
	"sync"
	"time"
)

// Bounds of what is kept for clients that go on with a reply by its id, or read it again. store is true where
// a client says nothing, so most of what is kept is never asked for.
const (
	keepFor   = time.Hour
	mostKept  = 1000     // replies
	mostBytes = 64 << 20 // of all of them together
)

// keptReply is a reply that is kept.
type keptReply struct {
	id, owner string
	object    json.RawMessage   // the response, as it was sent
	items     []json.RawMessage // the conversation with it: what was said before, and what the reply said
	output    int               // how many of them are the reply's
	bytes     int
	until     time.Time
}

// Replies keeps the last replies in memory: one process knows its own alone, and forgets them when it ends.
// The zero value has none. A conversation of n turns by previous_response_id keeps its items once: each
// turn's list holds the texts of the one before.
type Replies struct {
	mu    sync.Mutex
	byID  map[string]*list.Element // to a *keptReply in order
	order list.List                // the oldest comes first
	bytes int

	shares map[string]share // of each owner who has one
	now    func() time.Time // nil: the clock
}

// time returns the present. Tests give another, since an hour is long.
func (s *Replies) time() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}

// keep keeps a reply. Where there are too many, the oldest of the owner who has most goes: nobody
// loses what is theirs to the crowd of another. What a reply shares with the ones before it is
// counted each time, so the bound holds for the worst case.
func (s *Replies) keep(k *keptReply) {
	k.bytes = len(k.object)
	for _, item := range k.items {
		k.bytes += len(item)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k.until = s.time().Add(keepFor)
	if s.byID == nil {
		s.byID = map[string]*list.Element{}
	}
	s.byID[k.id] = s.order.PushBack(k)
	s.bytes += k.bytes
	s.count(k, 1)
	for oldest := s.order.Front(); oldest != nil && !s.time().Before(oldest.Value.(*keptReply).until); oldest = s.order.Front() {
		s.drop(oldest)
	}
	for s.order.Len() > mostKept || s.bytes > mostBytes {
		s.drop(s.oldestOf(s.greediest()))
	}
}

// share is what one owner has here.
type share struct{ replies, bytes int }

// size returns the part of the bounds that a share takes.
func (h share) size() float64 {
	return max(float64(h.replies)/mostKept, float64(h.bytes)/mostBytes)
}

// count adds a reply to its owner's share, or takes it off. s.mu is held.
func (s *Replies) count(k *keptReply, n int) {
	if s.shares == nil {
		s.shares = map[string]share{}
	}
	h := s.shares[k.owner]
	h.replies, h.bytes = h.replies+n, h.bytes+n*k.bytes
	if s.shares[k.owner] = h; h.replies == 0 {
		delete(s.shares, k.owner)
	}
}

// greediest returns the owner who has most. s.mu is held.
func (s *Replies) greediest() (owner string) {
	most := -1.0
	for name, h := range s.shares {
		if size := h.size(); size > most {
			owner, most = name, size
		}
	}
	return owner
}

// oldestOf finds the oldest reply of an owner who has one. s.mu is held.
func (s *Replies) oldestOf(owner string) *list.Element {
	at := s.order.Front()
	for at.Value.(*keptReply).owner != owner {
		at = at.Next()
	}
	return at
}

// drop forgets a reply. s.mu is held.
func (s *Replies) drop(at *list.Element) {
	k := s.order.Remove(at).(*keptReply)
	delete(s.byID, k.id)
	s.bytes -= k.bytes
	s.count(k, -1)
}

// find finds a reply of the one who asks. That of another is as unknown as one that was never there.
func (s *Replies) find(id, owner string) (*keptReply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.byID[id]
	if !ok {
		return nil, false
	}
	k := at.Value.(*keptReply)
	return k, k.owner == owner && s.time().Before(k.until)
}

// remove forgets a reply of the one who asks, and says whether there was one.
func (s *Replies) remove(id, owner string) bool {
	if _, ok := s.find(id, owner); !ok {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.byID[id]
	if ok {
		s.drop(at)
	}
	return ok
}

// item finds an item of a reply by its id, the newest first. An item's id holds that of its reply, so only
// one reply is looked at.
func (s *Replies) item(id, owner string) (json.RawMessage, bool) {
	k, ok := s.find(replyOf(id), owner)
	if !ok {
		return nil, false
	}
	for _, item := range k.items[len(k.items)-k.output:] {
		var named struct{ ID string }
		if json.Unmarshal(item, &named) == nil && named.ID == id {
			return item, true
		}
	}
	return nil, false
}
