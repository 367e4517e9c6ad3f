package engine

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"toolnorm/engine/window"
)

const (
	loadedAge  = 5 * time.Second // how old the list of what is loaded may be
	loadedWait = time.Second     // how long a server may take for it: some do not answer while they load a model
)

// size asks for a context that is long enough, unless the settings or the client ask for one.
func (o *ollama) size(ctx context.Context, t *turn, need int) int {
	trained := t.facts.window
	if !t.sized {
		if n := contextOption(t.options); n > 0 {
			if trained > 0 {
				n = min(n, trained)
			}
			return n
		}
	}
	loaded := cmp.Or(o.loaded(ctx, t.model), t.facts.context)
	n := window.Limits{Trained: trained, Loaded: loaded, Most: t.most()}.Choose(need)
	o.mu.Lock()
	o.contexts[fullName(t.model)] = n
	o.mu.Unlock()
	t.options, t.sized = with(t.options, "num_ctx", n), true
	return n
}

// loaded is the context that a model is loaded with, as far as the server says and this program knows; 0: it is not loaded.
func (o *ollama) loaded(ctx context.Context, model string) int {
	model = fullName(model)
	o.mu.Lock()
	n, fresh := o.contexts[model], time.Since(o.looked) < loadedAge
	o.mu.Unlock()
	if fresh {
		return n
	}
	ctx, cancel := context.WithTimeout(ctx, loadedWait)
	defer cancel()
	list, err := o.client.Running(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.looked = time.Now()
	if err == nil { // old servers do not say
		o.contexts = make(map[string]int, len(list.Models))
		for _, m := range list.Models {
			o.contexts[strings.ToLower(m.Name)] = m.ContextLength
		}
	}
	return o.contexts[model]
}

// wantedContext is the context that a model's own parameters ask for, 0 when they do not.
func wantedContext(show *api.ShowResponse) (n int) {
	for line := range strings.Lines(show.Parameters) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			n, _ = strconv.Atoi(f[1]) // what is no number asks for none
		}
	}
	return n
}
