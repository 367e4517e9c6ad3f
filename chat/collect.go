package chat

import (
	"encoding/json"
	"strings"
)

// Collector assembles a complete reply from its events. The zero value is an empty reply. A
// Collector must not be copied once it has text.
type Collector struct {
	Text, Reasoning strings.Builder
	Calls           []Call // in order; while Open, the last one has not ended
	Open            bool   // a call has begun, and must not be used before it ends
	End             *Event // the Finish event; nil until it arrives
	Usage           Counts
	Times           Times
}

// Add adds the next event to the reply. It reports whether this event completed the last call in
// c.Calls.
func (c *Collector) Add(e Event) (completed bool) {
	switch e.Kind {
	case Text:
		c.Text.WriteString(e.Text)
	case Reasoning:
		c.Reasoning.WriteString(e.Text)
	case CallStart:
		c.Calls = append(c.Complete(), Call{ID: e.ID, Name: e.Text, Args: json.RawMessage{}})
		c.Open = true
	case CallArgs:
		if c.Open {
			last := &c.Calls[len(c.Calls)-1]
			last.Args = append(last.Args, e.Text...)
		}
	case CallEnd:
		completed = c.Open
		c.endCall()
	case Finish:
		end := e // taking e's own address would put every event on the heap
		c.End = &end
	}
	if e.Meta != nil {
		c.note(e.Meta)
	}
	return completed
}

// endCall completes the open call, if any. A call without arguments gets an empty object.
func (c *Collector) endCall() {
	if !c.Open {
		return
	}
	c.Open = false
	if last := &c.Calls[len(c.Calls)-1]; len(last.Args) == 0 {
		last.Args = json.RawMessage("{}")
	}
}

// note records the counts and times of a reply, if m has them.
func (c *Collector) note(m *Meta) {
	if m.Usage != nil {
		c.Usage = *m.Usage
	}
	if m.Times != nil {
		c.Times = *m.Times
	}
}

// Complete returns the calls that have ended.
func (c *Collector) Complete() []Call {
	if c.Open {
		return c.Calls[:len(c.Calls)-1]
	}
	return c.Calls
}
