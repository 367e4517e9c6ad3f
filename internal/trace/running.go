package trace

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"toolnorm/chat"
)

// running is the part of an exchange that exists only while the exchange is being answered. Other
// goroutines may read it during that time.
type running struct {
	mu      sync.Mutex // guards the whole exchange until that is added to the log
	talks   *conversations
	prompts *prompts
	prompt  *prompt       // the first one that the model read; nil: unknown
	asked   *chat.Request // nil: Asked was not called
	stop    func()
	shown   bool     // texts may be shown; otherwise they are only recorded for the keeper
	decided []string // codes of the repairs so far, without duplicates

	first  atomic.Int64 // nanoseconds until the first event; 0: there was none
	pieces atomic.Int64
	ended  atomic.Bool
}

// Row is the visible state of a running request.
type Row struct {
	ID       string    `json:"id"`
	Time     time.Time `json:"time"`
	Replica  string    `json:"replica,omitempty"`
	Form     string    `json:"form"`
	Path     string    `json:"path"`
	Model    string    `json:"model"`
	Format   string    `json:"format,omitempty"`
	Strategy string    `json:"strategy,omitempty"`
	First    Millis    `json:"first_ms"` // until the first event; 0: there was none yet
	Total    Millis    `json:"total_ms"` // so far
	Pieces   int64     `json:"pieces"`   // of the reply so far; about as many as tokens
	Texts    bool      `json:"texts"`    // whether texts can be seen as they arrive
}

// Show lists an exchange as running until it is added to the log. The parameter stop is the
// function by which Stop ends the request.
func (l *Log) Show(e *Exchange, stop func()) {
	e.run.stop = stop
	l.mu.Lock()
	l.running[e.ID] = e
	l.mu.Unlock()
}

// Count counts an event of the reply. The parameter first is the time until the first event. Count
// takes no lock, because it is called for every token.
func (e *Exchange) Count(first time.Duration) {
	if e.run.pieces.Add(1) == 1 {
		e.run.first.Store(int64(first))
	}
}

// Decided records the code of a repair during the reply, so that a running exchange shows it. The
// finished reply itself names all its repairs.
func (e *Exchange) Decided(code string) {
	e.run.mu.Lock()
	defer e.run.mu.Unlock()
	if !slices.Contains(e.run.decided, code) {
		e.run.decided = append(e.run.decided, code)
	}
}

// Stop ends the running request with an id. It returns false if there is none, or if the request
// cannot be stopped.
func (l *Log) Stop(id string) bool {
	e := l.find(id)
	if e == nil || e.run.stop == nil {
		return false
	}
	e.run.stop()
	return true
}

// find returns the running request with that id, or nil.
func (l *Log) find(id string) *Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running[id]
}

// row returns the visible state of a running exchange. e.run.mu must be held.
func (e *Exchange) row() Row {
	return Row{
		ID: e.ID, Time: e.Time, Replica: e.Replica, Form: e.Form, Path: e.Path, Model: e.Model,
		Format: e.Format, Strategy: e.Strategy, Texts: e.run.shown,
		First: millis(time.Duration(e.run.first.Load())), Total: millis(time.Since(e.Time)),
		Pieces: e.run.pieces.Load(),
	}
}

// rows returns the running requests, the newest first. l.mu must be held.
func (l *Log) rows() []Row {
	all := make([]Row, 0, len(l.running))
	for _, e := range l.running {
		e.run.mu.Lock()
		all = append(all, e.row())
		e.run.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b Row) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.ID, b.ID))
	})
	return all
}
