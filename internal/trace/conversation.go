package trace

import (
	"hash/maphash"
	"sync"

	"toolnorm/chat"
)

// mostSaid is how many requests are remembered, to recognise those that continue them.
const mostSaid = 4096

// conversations recognises requests that continue an earlier request: their messages begin with all
// messages of that one. System messages are ignored, since agents write the time into them. Only
// hashes of messages are stored, with a seed of this process.
type conversations struct {
	seed maphash.Seed

	mu    sync.Mutex
	known map[uint64]Turn // by the hash of all messages of a request
	order []uint64        // the keys of known; once it is full, the oldest is at next
	next  int
}

// newConversations returns an empty memory of conversations.
func newConversations() *conversations {
	return &conversations{seed: maphash.MakeSeed(), known: map[uint64]Turn{}}
}

// of returns the place that the request with this id has in its conversation, and remembers it for
// the requests that continue this one. A request that repeats an earlier one gets the same place.
// If all messages are system messages, the Turn is empty. Messages are hashed before the lock is
// taken, since histories are long.
func (c *conversations) of(id string, messages []chat.Message) Turn {
	var h maphash.Hash
	h.SetSeed(c.seed)
	var sums []uint64
	for i := range messages {
		if m := &messages[i]; m.Role != chat.System {
			hashMessage(&h, m)
			sums = append(sums, h.Sum64())
		}
	}
	if len(sums) == 0 {
		return Turn{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	place := Turn{id, 1}
	for i := len(sums) - 1; i >= 0; i-- {
		if before, ok := c.known[sums[i]]; ok {
			place = before
			if i < len(sums)-1 {
				place.Number++
			}
			break
		}
	}
	c.remember(sums[len(sums)-1], place)
	return place
}

// hashMessage adds a message to a hash. The length of each text comes before it, so that different
// messages give different bytes.
func hashMessage(h *maphash.Hash, m *chat.Message) {
	texts := []string{string(m.Role), m.Content, m.CallID}
	for _, call := range m.Calls {
		texts = append(texts, call.Name, string(call.Args))
	}
	for _, text := range texts {
		for n := len(text); ; n >>= 7 {
			_ = h.WriteByte(byte(n))
			if n < 1<<7 {
				break
			}
		}
		_, _ = h.WriteString(text)
	}
	_ = h.WriteByte(byte(len(m.Images)))
}

// remember stores the place that a request has in its conversation, under the hash sum of the
// request's messages. If the memory is full, it forgets the oldest place. c.mu must be held.
func (c *conversations) remember(sum uint64, place Turn) {
	if _, ok := c.known[sum]; !ok {
		if len(c.order) < mostSaid {
			c.order = append(c.order, sum)
		} else {
			delete(c.known, c.order[c.next])
			c.order[c.next] = sum
			c.next = (c.next + 1) % mostSaid
		}
	}
	c.known[sum] = place
}
