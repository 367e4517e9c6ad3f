package responses

import (
	"container/list"
	"encoding/json"
	"sync"
	"time"

	"toolnorm/chat"
)

// Limits of what is kept for clients that continue a reply by its id, or read it again. store is
// true by default, so most kept replies are never asked for.
const (
	keepFor   = time.Hour
	mostKept  = 1000     // replies
	mostBytes = 64 << 20 // of all of them together
)

// keptReply is a reply that is kept.
type keptReply struct {
	id, owner string
	object    json.RawMessage // the response, as it was sent
	// the conversation with it: what was said before, and what the reply said
	items  []json.RawMessage
	output int // how many of them are the reply's
	bytes  int
	until  time.Time
}

// Shared keeps replies for all replicas of the program, by kind, id and owner. shared.Store
// implements it.
type Shared interface {
	Put(kind, id, owner string, body []byte, life time.Duration) error
	Get(kind, id, owner string) ([]byte, bool, error)
	Remove(kind, id, owner string) (bool, error)
}

// sharedKind is the kind under which replies are in Shared.
const sharedKind = "reply"

// Replies keeps the last replies. Without Shared they are kept in memory: a process knows only its
// own replies, and forgets them when it ends. The zero value is empty and ready to use. A
// conversation of n turns by previous_response_id keeps its items only once in memory: each turn's
// list shares the texts of the turn before.
type Replies struct {
	Shared Shared // nil: they are kept in memory
	// is called with each failure of Shared; nil: failures are ignored
	Failed func(what string, err error)

	mu    sync.Mutex
	byID  map[string]*list.Element // to a *keptReply in order
	order list.List                // the oldest comes first
	bytes int

	shares map[string]share // of each owner who has replies
	now    func() time.Time // nil: the clock
}

// time returns the current time. Tests set another time, since an hour is long.
func (s *Replies) time() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}

// keep keeps a reply. If there are too many, it drops the oldest reply of the owner with the
// largest share, so that no owner loses replies because another has many. Texts that a reply shares
// with earlier ones are counted each time, so the limit holds for the worst case.
func (s *Replies) keep(k *keptReply) {
	if s.Shared != nil {
		body, err := chat.JSON(sharedReply{k.object, k.items, k.output})
		if err == nil {
			err = s.Shared.Put(sharedKind, k.id, k.owner, body, keepFor)
		}
		s.failed("a reply is not kept for previous_response_id", err)
		return
	}
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
	for oldest := s.order.Front(); oldest != nil &&
		!s.time().Before(oldest.Value.(*keptReply).until); oldest = s.order.Front() {
		s.drop(oldest)
	}
	for s.order.Len() > mostKept || s.bytes > mostBytes {
		s.drop(s.oldestOf(s.greediest()))
	}
}

// sharedReply is the form in which a reply is stored in Shared.
type sharedReply struct {
	Object json.RawMessage   `json:"object"`
	Items  []json.RawMessage `json:"conversation"`
	Output int               `json:"output"`
}

// failed reports an error of Shared to Failed, unless err is nil.
func (s *Replies) failed(what string, err error) {
	if err != nil && s.Failed != nil {
		s.Failed(what, err)
	}
}

// share counts the replies of one owner.
type share struct{ replies, bytes int }

// size returns the part of the limits that a share takes.
func (h share) size() float64 {
	return max(float64(h.replies)/mostKept, float64(h.bytes)/mostBytes)
}

// count adds a reply to its owner's share, or removes it. s.mu is held.
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

// greediest returns the owner with the largest share. s.mu is held.
func (s *Replies) greediest() (owner string) {
	most := -1.0
	for name, h := range s.shares {
		if size := h.size(); size > most {
			owner, most = name, size
		}
	}
	return owner
}

// oldestOf finds the oldest reply of an owner, who must have a reply. s.mu is held.
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

// find finds a reply of the owner. Other owners' replies are treated as if they did not exist.
func (s *Replies) find(id, owner string) (*keptReply, bool) {
	if s.Shared != nil {
		body, ok, err := s.Shared.Get(sharedKind, id, owner)
		var r sharedReply
		if err == nil && ok {
			err = json.Unmarshal(body, &r)
		}
		s.failed("a kept reply cannot be read", err)
		return &keptReply{id: id, owner: owner, object: r.Object, items: r.Items, output: r.Output},
			ok && err == nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.byID[id]
	if !ok {
		return nil, false
	}
	k := at.Value.(*keptReply)
	return k, k.owner == owner && s.time().Before(k.until)
}

// remove forgets a reply of the owner, and reports whether there was one.
func (s *Replies) remove(id, owner string) bool {
	if s.Shared != nil {
		ok, err := s.Shared.Remove(sharedKind, id, owner)
		s.failed("a kept reply cannot be removed", err)
		return ok
	}
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

// item finds an item of a reply by its id, the newest first. An item's id contains the id of its
// reply, so only one reply is searched.
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
