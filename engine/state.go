package engine

import (
	"context"
	"sync"
)

// State is what a model server is found to be.
type State struct {
	Name    string   // "ollama", "demo", or the name of an Upstream
	Up      bool     // it answers with a list of models
	Waiting int      // requests that wait for it, since it is busy
	Models  []string // by the names that clients call them
}

// States asks every server at once for its models. One that does not answer before ctx ends is not up.
func (e *Engine) States(ctx context.Context) []State {
	all := make([]State, len(e.servers))
	var asked sync.WaitGroup
	for i, s := range e.servers {
		asked.Go(func() {
			all[i] = State{Name: s.name}
			known, err := s.known(ctx)
			if err != nil {
				return
			}
			list, err := known.Models(ctx)
			all[i].Up, all[i].Waiting = err == nil, known.Waiting()
			for _, m := range list {
				if i > 0 {
					m.ID = s.name + "/" + m.ID
				}
				all[i].Models = append(all[i].Models, m.ID)
			}
		})
	}
	asked.Wait()
	return all
}
