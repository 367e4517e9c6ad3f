package engine

import (
	"slices"
	"sync"
)

// memory is which strategies did not work with the models of a server while another one did. The zero value is empty.
type memory struct {
	mu     sync.Mutex
	failed map[string]failed // by model
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
