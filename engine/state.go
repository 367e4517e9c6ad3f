package engine

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// State is the state of a model server.
type State struct {
	Name     string   // "ollama", "demo", or the name of an Upstream
	At       string   // the address of a server of a pool; empty: it is the only one of its name
	Up       bool     // it answers with a list of models
	Waiting  int      // requests that wait because it is busy
	Running  int      // requests that it answers for this program; only set for a server of a pool
	Models   []string // by the names that clients use
	Loaded   []string // models in its memory, if At is set and the server lists them
	Unlike   []string // models with another digest than on the servers before it, if At is set
	digestOf map[string]string
}

// Label returns a name that no other server has.
func (s State) Label() string {
	if s.At == "" {
		return s.Name
	}
	return s.Name + " " + s.At
}

// States asks all servers at once for their models, and returns their states. A server that does
// not answer before ctx ends is not Up.
func (e *Engine) States(ctx context.Context) []State {
	servers := e.single()
	all := make([]State, len(servers))
	var asked sync.WaitGroup
	for i, m := range servers {
		asked.Go(func() { all[i] = e.state(ctx, m) })
	}
	asked.Wait()
	for i := range all {
		for j := range i {
			if all[i].Name != all[j].Name {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(all[i].digestOf)) {
				if d := all[j].digestOf[name]; d != "" && d != all[i].digestOf[name] &&
					!slices.Contains(all[i].Unlike, name) {
					all[i].Unlike = append(all[i].Unlike, name)
				}
			}
		}
	}
	return all
}

// state returns the state of one server. Up is false if the server cannot be reached.
func (e *Engine) state(ctx context.Context, m *member) State {
	s := State{Name: m.name, At: m.at}
	known, err := m.known(ctx)
	if err != nil {
		return s
	}
	list, err := known.Models(ctx)
	s.Up, s.Waiting = err == nil, known.Waiting()
	for _, info := range list {
		s.Models = append(s.Models, e.prefix(m)+info.ID)
	}
	if m.at == "" || err != nil {
		return s
	}
	p := e.poolOf(m)
	p.mu.Lock()
	s.Running = m.running
	p.mu.Unlock()
	s.digestOf, _ = m.installed(ctx)
	if n, ok := known.backend.(native); ok {
		if loaded, err := n.Running(ctx); err == nil {
			for _, one := range loaded.Models {
				s.Loaded = append(s.Loaded, e.prefix(m)+one.Name)
			}
		}
	}
	return s
}

// poolOf returns the pool to which the server m belongs.
func (e *Engine) poolOf(m *member) *pool {
	i := slices.IndexFunc(e.servers, func(s *server) bool {
		return s.pool != nil && slices.Contains(s.pool.members, m)
	})
	return e.servers[i].pool
}
