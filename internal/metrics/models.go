package metrics

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolnorm/engine"
)

// Source reports which models the model servers have, and whether they answer.
type Source interface {
	States(ctx context.Context) []engine.State
	Real(name string) string // returns the model for which an alias stands
}

const (
	mostLabels = 100              // the most models or tools with a label of their own
	askAgain   = 10 * time.Second // the shortest time between two requests for the lists of models
	askWait    = 3 * time.Second  // the longest time that such a request may take
	waiting    = 256              // the most exchanges that wait for such a request
)

// models knows the models that servers have listed. An exchange with an unknown model waits in a
// queue until the servers were asked again, so that the first request to a new model is counted
// under its name.
type models struct {
	source atomic.Pointer[Source]

	labels labels // of models

	mu      sync.Mutex
	known   map[string]string // the server of each model
	asked   time.Time         // when the servers were last asked
	queue   []func()          // functions that count exchanges whose model is not known yet
	working bool              // a goroutine works on the queue
}

// Use sets the source that is asked about the model servers from now on.
func (m *Metrics) Use(s Source) {
	m.models.source.Store(&s)
	m.models.mu.Lock()
	defer m.models.mu.Unlock()
	m.models.asked = time.Time{}
}

// Named finds the labels of a requested model and of the server that has it, and calls the function
// do with both. If the model is known, it calls do before it returns. Otherwise the call waits in a
// queue until the servers were asked for their models; a model that is unknown after that has the
// label Other. If the queue is full, Named calls do with Other before it returns.
func (m *Metrics) Named(model string, do func(name, server string)) { m.models.named(model, do) }

// named calls the function do with the labels of a model and of its server. If the model is unknown
// and the queue is not full, it does so later, after the servers were asked for their models.
func (m *models) named(model string, do func(name, server string)) {
	name, server, ok := m.find(model)
	if ok || model == "" {
		do(name, server)
		return
	}
	later := func() {
		name, server, _ := m.find(model)
		do(name, server)
	}
	m.mu.Lock()
	full := len(m.queue) >= waiting
	if !full {
		m.queue = append(m.queue, later)
		if !m.working {
			m.working = true
			go m.work() // ends when the queue, which is bounded, is empty
		}
	}
	m.mu.Unlock()
	if full {
		later()
	}
}

// find returns the labels of a requested model and its server, and whether a server has listed the
// model; if none has, both labels are Other. A suffix after @ in the requested name is ignored.
func (m *models) find(asked string) (name, server string, ok bool) {
	if from := m.source.Load(); from != nil {
		asked = (*from).Real(asked)
	}
	if strings.HasPrefix(asked, "kb/") { // of the agent, one for each knowledge base
		return "kb", "agent", true
	}
	m.mu.Lock()
	base, _, _ := strings.Cut(asked, "@")
	for _, name = range [...]string{asked, asked + ":latest", base, base + ":latest"} {
		if server, ok = m.known[name]; ok {
			break
		}
	}
	m.mu.Unlock()
	if !ok {
		return Other, Other, false
	}
	return m.labels.of(name), server, true
}

// labels is the set of names that have a label of their own, at most mostLabels.
type labels struct {
	mu   sync.Mutex
	used map[string]bool
}

// of returns the given name, or Other if the set is full and does not contain it.
func (l *labels) of(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used[name] {
		return name
	}
	if len(l.used) >= mostLabels {
		return Other
	}
	if l.used == nil {
		l.used = map[string]bool{}
	}
	l.used[name] = true
	return name
}

// work runs the functions in the queue until it is empty. Before that it asks the servers for their
// models, unless it did so a short time ago. Models that were listed once stay known.
func (m *models) work() {
	for {
		m.mu.Lock()
		all, old := m.queue, time.Since(m.asked) > askAgain
		m.queue = nil
		if m.working = len(all) > 0; !m.working {
			m.mu.Unlock()
			return
		}
		if old {
			m.asked = time.Now()
		}
		m.mu.Unlock()
		if from := m.source.Load(); old && from != nil {
			ctx, cancel := context.WithTimeout(context.Background(), askWait)
			m.learn((*from).States(ctx))
			cancel()
		}
		for _, count := range all {
			count()
		}
	}
}

// mostKnown bounds how many models are remembered, because we do not control what servers list.
const mostKnown = 10_000

// learn records the models that servers list, up to mostKnown in all.
func (m *models) learn(states []engine.State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[string]string{}
	}
	for _, s := range states {
		for _, name := range s.Models {
			if len(m.known) < mostKnown {
				m.known[name] = s.Name
			}
		}
	}
}
