// Package kept keeps what was made of texts that come again, above all of the schemas of tools: a
// conversation sends the same ones with every turn.
//
// Compiling a schema costs far more than comparing its text, and nothing else tells that two are
// the same.
package kept

import (
	"cmp"
	"container/list"
	"sync"
)

// The bounds of a Cache.
const (
	maxTexts = 1024
	maxBytes = 16 << 20 // of text
	longest  = 1 << 20  // a longer text is not kept
)

// Cache keeps a value for each of the texts used last. The zero value is ready; it may be used by
// many at once and must not be copied. Keys are whole texts and no hashes, so that two schemas
// never share a value.
type Cache[V any] struct {
	Most int // texts; 0: 1024

	mu     sync.Mutex
	byText map[string]*list.Element // to an *entry in order
	order  list.List                // the one used last comes first
	bytes  int                      // of all texts
}

// entry is the value of one text, made by whoever comes first.
type entry[V any] struct {
	text string
	once sync.Once
	v    V
}

// Get returns what make makes of text, and calls make only if that is not kept. Other callers wait
// while make runs. It runs outside the lock: a schema of a megabyte must not hold up the others.
func (c *Cache[V]) Get(text []byte, make func(text string) V) V {
	e := c.entry(text)
	e.once.Do(func() { e.v = make(e.text) })
	return e.v
}

// entry finds or makes the entry of a text, and drops those not used for longest when there are too
// many.
func (c *Cache[V]) entry(text []byte) *entry[V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.byText[string(text)]; ok {
		c.order.MoveToFront(at)
		return at.Value.(*entry[V])
	}
	e := &entry[V]{text: string(text)}
	if len(text) > longest {
		return e
	}
	if c.byText == nil {
		c.byText = map[string]*list.Element{}
	}
	c.byText[e.text] = c.order.PushFront(e)
	c.bytes += len(e.text)
	for c.order.Len() > cmp.Or(c.Most, maxTexts) || c.bytes > maxBytes {
		old := c.order.Remove(c.order.Back()).(*entry[V])
		delete(c.byText, old.text)
		c.bytes -= len(old.text)
	}
	return e
}
