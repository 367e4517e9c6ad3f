// Package trace keeps a record of the last requests to models and their replies, for people who
// want to know why a model misbehaves. It keeps no keys and no headers, and texts only if it is
// told to.
//
// The log says that a request failed; the trace shows why a call became text: what the model wrote,
// how it was read, what was repaired, and what was sent. It is only in memory and lost with the
// process, except for what a Keeper keeps.
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

// Log keeps the last exchanges, and counts what was repaired in all of them. It is safe for
// concurrent use. It is a ring, so that its memory is bounded: with texts by 256 KiB for each
// exchange.
type Log struct {
	bodies bool
	// the time until which texts are kept as well, in nanoseconds; 0: none is set
	until  atomic.Int64
	keeper Keeper // nil: exchanges are not kept longer
	start  time.Time
	// of the program whose exchanges these are; empty: it is alone
	replica string

	mu     sync.Mutex
	ring   []*Exchange // in the order in which they ended, from next on
	next   int
	seen   int
	counts map[string]int

	running map[string]*Exchange // by id
	talks   *conversations
	prompts *prompts
}

// New makes a Log of the last n exchanges, at least one. With bodies it also keeps texts, up to 256
// KiB for each exchange.
func New(n int, bodies bool) *Log {
	return &Log{bodies: bodies, start: time.Now(), ring: make([]*Exchange, max(n, 1)),
		counts: map[string]int{}, running: map[string]*Exchange{}, talks: newConversations(),
		prompts: newPrompts()}
}

// Keeper keeps exchanges longer than the log does.
type Keeper interface {
	// whether it wants any texts, which then have to be collected while the reply comes
	Collects() bool
	Wants(e *Exchange) bool // whether it wants the texts of an exchange that has ended
	Keep(e *Exchange)       // Keep must not wait, and must not change e
}

// KeepIn makes k keep exchanges as well, with the texts that it wants. The log then has these texts
// too. It must be called before the first request.
func (l *Log) KeepIn(k Keeper) { l.keeper = k }

// Name says which replica of the program this is, for its exchanges. It must be called before the
// first request.
func (l *Log) Name(replica string) { l.replica = replica }

// Begin makes the record of an exchange. The log contains it only after Add. Show lists a request
// that still runs.
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

// Add puts an exchange that has ended in the place of the oldest. The exchange must not be changed
// any more. Its repairs are counted here, each once, and the counts outlive it.
func (l *Log) Add(e *Exchange) {
	if e.Bodies != nil && !e.run.shown && !l.keeper.Wants(e) {
		e.run.mu.Lock() // somebody may look
		e.Bodies = nil
		e.run.mu.Unlock()
	}
	l.put(e)
	if l.keeper != nil {
		l.keeper.Keep(e)
	}
}

// KeepTexts makes the log keep the texts of requests that come until that time, as if it had been
// made with bodies.
func (l *Log) KeepTexts(until time.Time) {
	l.until.Store(until.UnixNano())
}

// put does what Add does, under the lock.
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

// Find returns the exchange of that id, or nil when it is not kept. It must not be changed. The few
// exchanges are searched in order; a map would have to be kept consistent with the ring.
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

// Conversation returns the kept exchanges of a conversation, the oldest first, without texts.
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

// List is everything that a Log keeps, except for texts.
type List struct {
	Seen   int  `json:"seen"`   // exchanges since the start
	Keeps  int  `json:"keeps"`  // how many of them are kept at most
	Bodies bool `json:"bodies"` // whether texts are kept
	// reason code -> in how many exchanges since the start it occurred
	Counts    map[string]int `json:"counts"`
	Exchanges []Exchange     `json:"exchanges"` // the newest first
	Running   []Row          `json:"running"`   // the newest first
	// of the log: with another start it has other exchanges
	Start time.Time `json:"start"`

	// until when texts are kept, by a switch; zero: it is off
	Until time.Time `json:"texts_until,omitzero"`
}

// List returns the present state.
func (l *Log) List() List { return l.After(0) }

// Read returns the format and the strategy by which each model in the kept exchanges was last read,
// as "hermes, raw".
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

// After returns the present state without the first exchanges, for a caller that has seen that
// many.
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
