package engine

import "toolnorm/engine/window"

// learned is what requests taught about a model, as long as it has that digest.
type learned struct {
	digest string
	strict bool         // its template refuses what history.Policy.Strict puts right
	meter  window.Meter // of its tokens
	warned uint64       // the names of the tools whose cost was last warned of, hashed
}

// learned is what is known of the model of that digest.
func (m *memory) learned(model, digest string) learned {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lesson(model, digest)
}

// lesson is the same while the lock is held.
func (m *memory) lesson(model, digest string) learned {
	if l := m.lessons[model]; l.digest == digest {
		return l
	}
	return learned{digest: digest}
}

// learn changes what is known of the model of that digest.
func (m *memory) learn(model, digest string, change func(*learned)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lessons == nil {
		m.lessons = map[string]learned{}
	}
	l := m.lesson(model, digest)
	change(&l)
	m.lessons[model] = l
}
