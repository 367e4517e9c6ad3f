// Package trace records the last requests to models and their replies, for people who want to know
// why a model misbehaves. It records no keys and no headers, and texts only if the settings say so.
//
// The log says that a request failed, while the trace shows why a call became text: what the model
// wrote, how it was decoded, what was repaired, and what was sent. The trace is in memory and lost
// with the process, except for exchanges that a Keeper stores.
//
//	log.go           the last exchanges
//	exchange.go      one exchange; bodies.go: its texts; conversation.go: which one it continues
//	reread.go        why a turn's prompt was read again by the model's server
//	running.go       those that are being answered; watch.go: to follow them
//	sum.go           an exchange in numbers, for counters
//	view.go          the page /debug; visible.go: texts on it
package trace

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// Log holds the last exchanges, and counts the repairs in all of them. It is safe for concurrent
// use. It is a ring, so its memory is bounded: with texts, 256 KiB for each exchange.
type Log struct {
	bodies bool
	// until this time, in nanoseconds, texts are recorded as well; 0: not set
	until  atomic.Int64
	keeper Keeper // nil: exchanges are not stored elsewhere
	start  time.Time
	// the name of this replica; empty: there is only one
	replica string

	mu     sync.Mutex
	ring   []*Exchange // in the order in which they ended; next is the index of the oldest
	next   int
	seen   int
	counts map[string]int

	running map[string]*Exchange // by id
	talks   *conversations
	prompts *prompts
}

// New returns a Log of the last n exchanges, or of the last one if n is smaller than 1. If bodies
// is true, it also records texts, up to 256 KiB for each exchange.
func New(n int, bodies bool) *Log {
	return &Log{bodies: bodies, start: time.Now(), ring: make([]*Exchange, max(n, 1)),
		counts: map[string]int{}, running: map[string]*Exchange{}, talks: newConversations(),
		prompts: newPrompts()}
}

// Keeper stores exchanges for longer than the log does.
type Keeper interface {
	// whether it may want texts, which must then be recorded while the reply comes
	Collects() bool
	Wants(e *Exchange) bool // whether it wants the texts of this finished exchange
	Keep(e *Exchange)       // Keep stores e. It must not block and must not change e.
}

// KeepIn makes the log pass finished exchanges on to k, with the texts that k wants. The log then
// has these texts, too. KeepIn must be called before the first request.
func (l *Log) KeepIn(k Keeper) { l.keeper = k }

// Name sets the name of this replica for its exchanges. It must be called before the first request.
func (l *Log) Name(replica string) { l.replica = replica }

// Begin returns the record of a new exchange. The log contains it only after Add; to list it while
// the request runs, call Show.
func (l *Log) Begin(id, form, path string, at time.Time) *Exchange {
	e := &Exchange{ID: id, Time: at, Replica: l.replica,
		Question: Question{Form: form, Path: path}, Calls: []Call{}, Repairs: []string{},
		run: &running{talks: l.talks, prompts: l.prompts}}
	e.run.shown = l.bodies || at.UnixNano() < l.until.Load()
	if e.run.shown || l.keeper != nil && l.keeper.Collects() {
		e.Bodies = newBodies(at, e.run)
	}
	return e
}

// Add puts a finished exchange in the place of the oldest. The exchange must not be changed any
// more. Its repairs are counted, and the counts remain after it was dropped.
func (l *Log) Add(e *Exchange) {
	if e.Bodies != nil && !e.run.shown && !l.keeper.Wants(e) {
		e.run.mu.Lock() // a Watch may be reading it
		e.Bodies = nil
		e.run.mu.Unlock()
	}
	l.put(e)
	if l.keeper != nil {
		l.keeper.Keep(e)
	}
}

// KeepTexts makes the log record the texts of requests that arrive before the given time, as if it
// had been made with bodies.
func (l *Log) KeepTexts(until time.Time) {
	l.until.Store(until.UnixNano())
}

// put replaces the oldest exchange in the ring with e, which has ended, and counts its repairs.
func (l *Log) put(e *Exchange) {
	e.run.ended.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, e.ID)
	l.ring[l.next] = e
	l.next = (l.next + 1) % len(l.ring)
	l.seen++
	for _, code := range e.Repairs {
		l.counts[code]++
	}
}

// Find returns the exchange with an id, or nil if the log does not contain it. The caller must not
// change the result. The few exchanges are searched one by one, because a map would have to be kept
// consistent with the ring.
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

// Conversation returns the exchanges of a conversation that the log contains, the oldest first,
// without texts. The result is empty, not nil, if there are none.
func (l *Log) Conversation(id string) []Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := []Exchange{}
	for i := range l.ring {
		if e := l.ring[(l.next+i)%len(l.ring)]; e != nil && id != "" && e.Conversation == id {
			all = append(all, e.short())
		}
	}
	return all
}

// short returns a copy without texts. It shares slices with e, which does not change any more.
func (e *Exchange) short() Exchange {
	short := *e
	short.Bodies = nil
	return short
}

// List is everything that a Log contains, except for texts.
type List struct {
	Seen   int  `json:"seen"`   // exchanges since the start
	Keeps  int  `json:"keeps"`  // the largest number that the log holds
	Bodies bool `json:"bodies"` // whether texts are recorded
	// for each code of a repair, in how many exchanges since the start it occurred
	Counts    map[string]int `json:"counts"`
	Exchanges []Exchange     `json:"exchanges"` // the newest first
	Running   []Row          `json:"running"`   // the newest first
	// when the log was made; after another start it has other exchanges
	Start time.Time `json:"start"`

	// the time set by KeepTexts; zero: it has passed or was not set
	Until time.Time `json:"texts_until,omitzero"`
}

// List returns the current contents of the log.
func (l *Log) List() List { return l.After(0) }

// Read returns, for each model in the log, the format and the strategy that its last successful
// exchange used, for example "hermes, raw".
func (l *Log) Read() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	read := map[string]string{}
	for i := range l.ring { // the oldest first
		e := l.ring[(l.next+i)%len(l.ring)]
		if e != nil && e.Error == "" && e.Format != "" && e.Strategy != "" {
			read[e.Model] = e.Format + ", " + e.Strategy
		}
	}
	return read
}

// After returns what the log contains now, without the finished exchanges that an earlier call has
// returned. The parameter seen is the field Seen of that call's result; if it is 0, all finished
// exchanges are returned.
func (l *Log) After(seen int) List {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := List{Seen: l.seen, Keeps: len(l.ring), Bodies: l.bodies, Counts: maps.Clone(l.counts),
		Exchanges: []Exchange{}, Running: l.rows(), Start: l.start}
	if until := time.Unix(0, l.until.Load()); time.Now().Before(until) {
		list.Until = until
	}
	for i := range min(len(l.ring), max(l.seen-seen, 0)) {
		e := l.ring[(l.next+len(l.ring)-1-i)%len(l.ring)]
		if e == nil {
			break
		}
		list.Exchanges = append(list.Exchanges, e.short())
	}
	return list
}
