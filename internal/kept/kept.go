// Package kept caches values that are made from texts, above all from the schemas of tools. A
// conversation sends the same schemas with every turn.
//
// Compiling a schema costs far more than comparing its text, and nothing else shows that two
// schemas are the same.
package kept

import (
	"cmp"
	"container/list"
	"sync"
)

// The bounds of a Cache.
const (
	maxTexts = 1024
	maxBytes = 16 << 20 // bytes of text
	longest  = 1 << 20  // bytes; a longer text is not cached
)

// Cache maps each of the most recently used texts to a value. The zero value is ready for use. A
// Cache may be used by several goroutines at once and must not be copied. The keys are whole texts
// instead of hashes, so that two schemas never share a value.
type Cache[V any] struct {
	Most int // the largest number of texts; 0 means 1024

	mu     sync.Mutex
	byText map[string]*list.Element // to an *entry in order
	order  list.List                // the most recently used one comes first
	bytes  int                      // of all texts
}

// entry is the cached value of one text. It is made once, by the first caller that needs it.
type entry[V any] struct {
	text string
	once sync.Once
	v    V
}

// Get returns the cached value of text, or calls the function make and caches its result. A text of
// more than a megabyte is not cached. While the function runs, other callers with the same text
// wait, and those with other texts do not, because it runs without the lock: a schema of a megabyte
// must not delay the others.
func (c *Cache[V]) Get(text []byte, make func(text string) V) V {
	e := c.entry(text)
	e.once.Do(func() { e.v = make(e.text) })
	return e.v
}

// entry returns the entry of a text and makes it if there is none. If the cache is then over its
// bounds, the least recently used entries are dropped.
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
