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
func (m *memory) learned(model, digest string) (l learned) {
	m.learn(model, digest, func(known *learned) { l = *known })
	return l
}

// learn looks at what is known of the model of that digest, and may change it.
func (m *memory) learn(model, digest string, change func(*learned)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lessons == nil {
		m.lessons = map[string]learned{}
	}
	l := m.lessons[model]
	if l.digest != digest {
		l = learned{digest: digest}
	}
	change(&l)
	m.lessons[model] = l
}
