// Package trace keeps what the last requests to a model were and what became of them, for the person who wonders why a
// model misbehaves. It keeps no keys and no headers, and what was said only when it is told to.
//
// The log says that a request failed; the trace shows why a call became text: what the model wrote before
// anything was made of it, how it was read, what was repaired, and what left. It is memory alone, gone with
// the process.
package trace

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// Log keeps the last exchanges, and counts what was repaired in all of them. It is safe for concurrent use.
// A ring, so that memory is bounded whatever comes: with texts by 256 KiB an exchange.
type Log struct {
	bodies bool
	until  atomic.Int64 // nanoseconds of the time to which what is said is kept as well; 0: none is set
	added  func()       // called when a request has come or ended; nil: nobody asked
	start  time.Time

	mu     sync.Mutex
	ring   []*Exchange // in the order in which they ended, from next on
	next   int
	seen   int
	counts map[string]int

	running map[string]*Running // by id
}

// New makes a Log of the last n exchanges, at least one. With bodies it keeps what was said as well, up to 256 KiB an
// exchange.
func New(n int, bodies bool) *Log {
	return &Log{bodies: bodies, start: time.Now(), ring: make([]*Exchange, max(n, 1)), counts: map[string]int{}, running: map[string]*Running{}}
}

// OnAdd has f called whenever a request has come, or an exchange was added, so that a page that shows them can ask again. It must be said before
// the first request; f must not wait.
func (l *Log) OnAdd(f func()) { l.added = f }

// Begin makes the record of an exchange. The Log has it once it was added.
// A request that still runs is shown by Run.
func (l *Log) Begin(id, form, path string, at time.Time) *Exchange {
	e := &Exchange{ID: id, Form: form, Path: path, Time: at, Calls: []Call{}, Repairs: []string{}}
	if l.bodies || at.UnixNano() < l.until.Load() {
		e.Bodies = newBodies(at)
	}
	return e
}

// Add puts an exchange that has ended in the place of the oldest. It must not be changed any more.
// Repairs are counted here, once an exchange, and outlive it in the ring.
func (l *Log) Add(e *Exchange) {
	l.put(e)
	l.tell()
}

// KeepTexts has what is said kept of the requests that come until then, as if it was started so.
func (l *Log) KeepTexts(until time.Time) {
	l.until.Store(until.UnixNano())
	l.tell()
}

// tell calls who asked for it.
func (l *Log) tell() {
	if l.added != nil {
		l.added()
	}
}

// put is Add under the lock.
func (l *Log) put(e *Exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ring[l.next] = e
	l.next = (l.next + 1) % len(l.ring)
	l.seen++
	for _, code := range e.Repairs {
		l.counts[code]++
	}
}

// Find gives the exchange of that id, nil when it is not kept. It must not be changed.
// The few that there are can be looked through; a map beside the ring would have to be kept in step.
func (l *Log) Find(id string) *Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.ring {
		if e != nil && e.ID == id {
			return e
		}
	}
	return nil
}

// List is all that a Log keeps, but for what was said.
type List struct {
	Seen      int            `json:"seen"`      // exchanges since the start
	Keeps     int            `json:"keeps"`     // how many of them are kept at most
	Bodies    bool           `json:"bodies"`    // whether what was said is kept
	Counts    map[string]int `json:"counts"`    // reason code -> in how many exchanges since the start it was met
	Exchanges []Exchange     `json:"exchanges"` // the newest first
	Running   []Row          `json:"running"`   // the newest first
	Start     time.Time      `json:"start"`     // of the log: another one has other exchanges

	Until time.Time `json:"texts_until,omitzero"` // to which what is said is kept, by a switch; zero: it is off
}

// List gives the present state.
func (l *Log) List() List { return l.After(0) }

// After gives the present state without the exchanges that somebody has who has seen so many of them.
// The exchanges are copies, and their slices are shared with what never changes any more.
func (l *Log) After(seen int) List {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := List{Seen: l.seen, Keeps: len(l.ring), Bodies: l.bodies, Counts: maps.Clone(l.counts), Exchanges: []Exchange{}, Running: l.rows(), Start: l.start}
	if until := time.Unix(0, l.until.Load()); time.Now().Before(until) {
		list.Until = until
	}
	for i := range min(len(l.ring), max(l.seen-seen, 0)) {
		e := l.ring[(l.next+len(l.ring)-1-i)%len(l.ring)]
		if e == nil {
			break
		}
		short := *e
		short.Bodies = nil
		list.Exchanges = append(list.Exchanges, short)
	}
	return list
}
