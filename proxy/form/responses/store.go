package responses

import (
	"container/list"
	"encoding/json"
	"sync"
	"time"

	"toolnorm/chat"
)

// Limits of what is stored for clients that continue a reply by its id, or read it again. store is
// true by default, so most stored replies are never asked for.
const (
	keepFor   = time.Hour
	mostKept  = 1000     // replies
	mostBytes = 64 << 20 // of all replies together
)

// keptReply is a stored reply.
type keptReply struct {
	id, owner string
	object    json.RawMessage // the response, as it was sent
	// the conversation including the reply
	items  []json.RawMessage
	output int // how many of the last items are the reply's
	bytes  int
	until  time.Time
}

// Shared stores replies for all replicas of the program, by kind, id and owner. shared.Store
// implements it.
type Shared interface {
	Put(kind, id, owner string, body []byte, life time.Duration) error
	Get(kind, id, owner string) ([]byte, bool, error)
	Remove(kind, id, owner string) (bool, error)
}

// sharedKind is the kind of replies in Shared.
const sharedKind = "reply"

// Replies stores the last replies. If Shared is nil, they are in memory, so a process knows only
// its own replies, and forgets them when it ends. The zero value is empty and ready to use. A reply
// that continues another by previous_response_id shares the texts of the earlier items with it, so
// these are in memory only once.
type Replies struct {
	Shared Shared // nil: replies are stored in memory
	// is called with each error of Shared; nil: errors are ignored
	Failed func(what string, err error)

	mu    sync.Mutex
	byID  map[string]*list.Element // to the elements of order, which are of type *keptReply
	order list.List                // the oldest first
	bytes int

	shares map[string]share // of each owner who has replies
	now    func() time.Time // nil: the clock
}

// time returns the current time. Tests set another clock, so that they need not wait for an hour.
func (s *Replies) time() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}

// keep stores a reply. If there are too many, it drops the oldest reply of the owner with the
// largest share, so that no owner loses replies because another has many. A text that several
// replies share is counted for each, so the limits are for the worst case. If the shared store
// fails, its error is passed to the function s.Failed.
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

// sharedReply is a stored reply as it is encoded in Shared, the store of all replicas.
type sharedReply struct {
	Object json.RawMessage   `json:"object"`
	Items  []json.RawMessage `json:"conversation"`
	Output int               `json:"output"`
}

// failed passes an error of the shared store to the function s.Failed, unless err is nil. The
// parameter what says what was tried.
func (s *Replies) failed(what string, err error) {
	if err != nil && s.Failed != nil {
		s.Failed(what, err)
	}
}

// share is how many replies one owner has, and their size.
type share struct{ replies, bytes int }

// size returns how full an owner's share of the store is: the number of its replies divided by
// mostKept, or their bytes divided by mostBytes, whichever is larger.
func (h share) size() float64 {
	return max(float64(h.replies)/mostKept, float64(h.bytes)/mostBytes)
}

// count includes a reply in its owner's share of the store if n is 1, and excludes it if n is -1.
// s.mu must be held.
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

// greediest returns the owner whose stored replies come nearest to the limits, or "" if there are
// no replies. s.mu must be held.
func (s *Replies) greediest() (owner string) {
	most := -1.0
	for name, h := range s.shares {
		if size := h.size(); size > most {
			owner, most = name, size
		}
	}
	return owner
}

// oldestOf returns the oldest reply of an owner, who must have one. s.mu must be held.
func (s *Replies) oldestOf(owner string) *list.Element {
	at := s.order.Front()
	for at.Value.(*keptReply).owner != owner {
		at = at.Next()
	}
	return at
}

// drop removes a reply from memory. s.mu must be held.
func (s *Replies) drop(at *list.Element) {
	k := s.order.Remove(at).(*keptReply)
	delete(s.byID, k.id)
	s.bytes -= k.bytes
	s.count(k, -1)
}

// find returns a stored reply. It returns false if there is none, if it has expired, or if it
// belongs to another owner. If the shared store fails, its error is passed to the function
// s.Failed.
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

// remove deletes a reply of the owner, and reports whether there was one. If the shared store
// fails, its error is passed to the function s.Failed.
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

// item returns the item of a stored reply with this id. It returns false if the owner has no such
// reply or the reply no such item. An item's id contains the id of its reply, so only one reply is
// searched.
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
