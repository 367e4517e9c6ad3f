package engine

import (
	"slices"
	"sync"
	"time"

	"toolnorm/adapters"
	"toolnorm/engine/upstream"
	"toolnorm/engine/window"
)

// memory has the lessons about the models of one server, which were learned from requests. The zero
// value is empty.
//
// Lessons are valid as long as the model has the same digest. A model without a digest may be
// replaced unnoticed before the next request. But learning everything anew each time would cost the
// client seconds, since it takes up to four generations to find out how tools are best described to
// a model. So the lessons about such a model are valid for undigestedAge.
type memory struct {
	mu sync.Mutex
	// by name and digest, since the servers of a pool may have two models under one name
	models map[[2]string]lessons

	server  string // the server's name
	notes   *notes // findings that survive a restart; nil: none do
	formats *adapters.Set

	// Work that the first requests to a model share.
	probes   flight[upstream.Facts]
	readings flight[*reading]
	wordings flight[adapters.Wording]
}

// undigestedAge is how long lessons about a model are valid if its server sends no digest. It is
// long enough to be worth their cost, and short enough that a user who replaces a model sees the
// difference without a restart.
const undigestedAge = time.Hour

// lessons are the things that were learned about one model. They only save time: without them a
// request tries again what failed before, or asks again what was already asked. A copy may be read
// without the lock, because the values to which the copies point never change.
type lessons struct {
	until time.Time // without a digest: when the lessons expire

	failed  []string          // strategies that failed while another one did better
	wording *adapters.Wording // the wording that the model understood; nil: not probed yet
	reading *reading          // what its template says; nil: not read yet
	strict  bool              // its template refuses histories that history.Policy.Strict corrects
	gate    gate              // whether it calls tools that it does not need
	meter   window.Meter      // bytes and tokens of its requests
	warned  uint64            // hash of the names of the tools in the last warning about their cost
}

// of returns the lessons about the model with that digest (the hash that identifies it), or empty
// lessons if there are none.
func (m *memory) of(model, digest string) lessons {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.current(model, digest)
}

// learn applies the function change to the lessons about the model with that digest (the hash that
// identifies it), and stores the result.
func (m *memory) learn(model, digest string, change func(*lessons)) {
	m.mu.Lock()
	before := m.current(model, digest)
	l := before
	change(&l)
	if m.models == nil {
		m.models = map[[2]string]lessons{}
	}
	m.models[[2]string{model, digest}] = l
	m.mu.Unlock()
	if m.notes == nil || digest == "" || l.wording == before.wording && l.gate == before.gate &&
		l.reading == before.reading {
		return
	}
	if one, ok := noteOf(l, m.formats); ok {
		one.Server, one.Model, one.Digest = m.server, model, digest
		m.notes.keep(one)
	}
}

// current returns the valid lessons about the model, or new ones if there are none. The caller
// holds the lock.
func (m *memory) current(model, digest string) lessons {
	l, ok := m.models[[2]string{model, digest}]
	if ok && (digest != "" || time.Now().Before(l.until)) {
		return l
	}
	if l, ok = m.notes.find(m.server, model, digest, m.formats); ok {
		if m.models == nil {
			m.models = map[[2]string]lessons{}
		}
		// a format is one pointer for as long as it is in use
		m.models[[2]string{model, digest}] = l
		return l
	}
	return lessons{until: time.Now().Add(undigestedAge)}
}

// avoid records that a strategy, a way to ask the server for a reply, has failed.
func (l *lessons) avoid(strategy string) {
	l.failed = append(slices.Clip(l.failed), strategy) // a copy: others may be reading the old list
}

// avoids reports whether a strategy, a way to ask the server for a reply, has failed with the
// model.
func (l *lessons) avoids(strategy string) bool { return slices.Contains(l.failed, strategy) }
