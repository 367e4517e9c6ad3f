// Package valid checks the arguments of a call against the whole JSON Schema of its tool, drafts 4 to 2020-12, and says
// what is wrong in sentences that a model can act on.
//
// A schema is compiled once and kept. Nothing is ever loaded from elsewhere: a reference that leaves the schema is an
// error. What takes too long is refused beforehand, by bounds on size, depth and work.
package valid

import (
	"container/list"
	"encoding/json"
	"fmt"
	"sync"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// The bounds of a Cache.
const (
	maxKept      = 1024     // schemas
	maxKeptBytes = 16 << 20 // of schema text
)

// Cache keeps compiled schemas by their content, the ones used last. The zero value is ready; it may be used by many at
// once and must not be copied.
type Cache struct {
	mu    sync.Mutex
	byKey map[string]*list.Element // the text of a schema, to an *entry in order
	order list.List                // the one used last comes first
	bytes int                      // of all texts
}

// entry is one schema, compiled by whoever comes first. That it is none is kept as well.
type entry struct {
	text string
	once sync.Once
	v    *Validator
	err  error
}

// Get gives the validator of a tool's schema, compiled at the first use. A schema that is empty or null takes any object.
// An error is a *SchemaError.
func (c *Cache) Get(schema json.RawMessage) (*Validator, error) {
	e := c.entry(schema)
	e.once.Do(func() { e.v, e.err = compile([]byte(e.text)) })
	return e.v, e.err
}

// Tool is Get for a tool; the error is fault.Invalid and names it.
func (c *Cache) Tool(t chat.Tool) (*Validator, error) {
	v, err := c.Get(t.Schema)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the parameters of tool %q are no valid JSON Schema: %w", t.Name, err)
	}
	return v, nil
}

// entry finds or makes the entry of a schema, and drops those not used for longest when there are too many. A schema that
// is too large is not kept.
func (c *Cache) entry(schema json.RawMessage) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.byKey[string(schema)]; ok {
		c.order.MoveToFront(at)
		return at.Value.(*entry)
	}
	e := &entry{text: string(schema)}
	if len(schema) > maxSchema {
		return e
	}
	if c.byKey == nil {
		c.byKey = map[string]*list.Element{}
	}
	c.byKey[e.text] = c.order.PushFront(e)
	c.bytes += len(e.text)
	for c.order.Len() > maxKept || c.bytes > maxKeptBytes {
		old := c.order.Remove(c.order.Back()).(*entry)
		delete(c.byKey, old.text)
		c.bytes -= len(old.text)
	}
	return e
}

// SchemaError says what makes a schema unusable.
type SchemaError struct {
	Place string // a JSON pointer into the schema; empty: the schema itself, or nobody knows
	Text  string // what is wrong there
}

// Error is one line.
func (e *SchemaError) Error() string {
	if e.Place == "" {
		return e.Text
	}
	return fmt.Sprintf("at %s: %s", e.Place, e.Text)
}
