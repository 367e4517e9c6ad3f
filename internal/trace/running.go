package trace

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Running is a request that is being answered. Its methods are for the goroutine that answers; who
// looks meanwhile gets a Row.
type Running struct {
	log   *Log
	row   Row // what does not change
	start time.Time
	stop  func()

	first  atomic.Int64 // nanoseconds from start to the first event; 0: none came
	pieces atomic.Int64

	mu               sync.Mutex
	model            string
	format, strategy string
}

// Row is what can be seen of a request that runs.
type Row struct {
	ID       string    `json:"id"`
	Time     time.Time `json:"time"`
	Form     string    `json:"form"`
	Path     string    `json:"path"`
	Model    string    `json:"model"`
	Format   string    `json:"format,omitempty"`
	Strategy string    `json:"strategy,omitempty"`
	First    Millis    `json:"first_ms"` // until the first event; 0: the model has not begun
	Total    Millis    `json:"total_ms"` // so far
	Pieces   int64     `json:"pieces"`   // of the reply so far, which are about its tokens
}

// Run shows a request until its End. stop ends it.
func (l *Log) Run(id, form, path string, at time.Time, stop func()) *Running {
	r := &Running{log: l, row: Row{ID: id, Time: at, Form: form, Path: path}, start: at, stop: stop}
	l.mu.Lock()
	l.running[id] = r
	l.mu.Unlock()
	l.tell()
	return r
}

// End takes the request off the list. It may be called twice.
func (r *Running) End() {
	r.log.mu.Lock()
	delete(r.log.running, r.row.ID)
	r.log.mu.Unlock()
}

// Asked names the model.
func (r *Running) Asked(model string) {
	r.mu.Lock()
	r.model = model
	r.mu.Unlock()
	r.log.tell()
}

// Chosen says how the reply is read.
func (r *Running) Chosen(format, strategy string) {
	r.mu.Lock()
	r.format, r.strategy = format, strategy
	r.mu.Unlock()
}

// Event counts an event of the reply; first is the time until the first one.
func (r *Running) Event(first time.Duration) {
	if r.pieces.Add(1) == 1 {
		r.first.Store(int64(first))
	}
}

// Stop ends a request that runs, and reports whether there is one.
func (l *Log) Stop(id string) bool {
	l.mu.Lock()
	r := l.running[id]
	l.mu.Unlock()
	if r == nil {
		return false
	}
	r.stop()
	return true
}

// rows are the requests that run, the newest first. l.mu is held.
func (l *Log) rows() []Row {
	all := make([]Row, 0, len(l.running))
	for _, r := range l.running {
		row := r.row
		r.mu.Lock()
		row.Model, row.Format, row.Strategy = r.model, r.format, r.strategy
		r.mu.Unlock()
		row.First, row.Total, row.Pieces = millis(time.Duration(r.first.Load())), millis(time.Since(r.start)), r.pieces.Load()
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b Row) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.ID, b.ID)) })
	return all
}
