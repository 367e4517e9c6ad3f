package engine

import (
	"slices"
	"sync"

	"toolnorm/adapters"
)

// memory is what experience taught about the models of a server: which strategies did not work while another one did, and
// which wording did. The zero value is empty.
type memory struct {
	mu     sync.Mutex
	failed map[string]failed // by model
	worded map[string]worded // by model

	lessons map[string]learned // by model
}

// worded is the wording of a model, as long as it has that digest.
type worded struct {
	digest  string
	wording adapters.Wording
}

// wording is the one that was found for the model of that digest.
func (m *memory) wording(model, digest string) (adapters.Wording, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.worded[model]
	return w.wording, ok && w.digest == digest
}

// setWording remembers the wording that was found. A model without a digest is taken to stay the same.
func (m *memory) setWording(model, digest string, w adapters.Wording) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.worded == nil {
		m.worded = map[string]worded{}
	}
	m.worded[model] = worded{digest, w}
}

// failed are strategies that failed with a model, as long as it has that digest.
type failed struct {
	digest     string
	strategies []string
}

// avoids says whether a strategy has failed with the model of that digest.
func (m *memory) avoids(model, digest, strategy string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.failed[model]
	return f.digest == digest && slices.Contains(f.strategies, strategy)
}

// avoid remembers a strategy that has failed. Of a model without a digest nothing is remembered: it may be another one by
// the next request.
func (m *memory) avoid(model, digest, strategy string) {
	if digest == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.failed[model]
	if f.digest != digest {
		f = failed{digest: digest}
	}
	f.strategies = append(slices.Clip(f.strategies), strategy)
	if m.failed == nil {
		m.failed = map[string]failed{}
	}
	m.failed[model] = f
}
