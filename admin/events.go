package admin

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
)

const (
	// beat is how often a silent stream shows that it lives: proxies cut connections
	// that are silent for a minute or less.
	beat = 15 * time.Second
	// stall is how long a page that takes nothing is waited for.
	stall = 30 * time.Second
	// mostPages is the most streams that are open at once, two per page. Each costs a goroutine and
	// a connection; a browser has six.
	mostPages = 128
)

// hub tells the pages that are open what changed. A page is sent kinds, never values: it
// asks again for what it shows, so a lost or doubled event does no harm.
type hub struct {
	mu     sync.Mutex
	pages  map[*page]bool
	once   sync.Once
	closed chan struct{}
}

// page is one that listens.
type page struct {
	wake chan struct{} // holds one notice, so that no page holds up another

	mu    sync.Mutex
	kinds []string // what changed since it was last told, each once
}

// newHub returns a hub without pages.
func newHub() *hub { return &hub{pages: map[*page]bool{}, closed: make(chan struct{})} }

// close ends all streams.
func (h *hub) close() { h.once.Do(func() { close(h.closed) }) }

// publish sends an event of a kind to all pages.
func (h *hub) publish(kind string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for p := range h.pages {
		p.add(kind)
	}
}

// join adds a page; it returns nil if there are too many.
func (h *hub) join() *page {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.pages) >= mostPages {
		return nil
	}
	p := &page{wake: make(chan struct{}, 1)}
	h.pages[p] = true
	return p
}

// count returns how many pages listen.
func (h *hub) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.pages)
}

// leave removes a page.
func (h *hub) leave(p *page) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pages, p)
}

// add notes a kind for a page, once however often it changed.
func (p *page) add(kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(p.kinds, kind) {
		return
	}
	p.kinds = append(p.kinds, kind)
	select {
	case p.wake <- struct{}{}:
	default: // told already
	}
}

// take returns what changed since the last time.
func (p *page) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	kinds := p.kinds
	p.kinds = nil
	return kinds
}

// Watch reports to the pages changes of the tools that are offered and of the knowledge bases, also
// those made elsewhere (by the command line, another replica), until ctx ends. A server that comes
// back changes the registry as well as one that was added, so one kind of event tells of both.
func (s *Server) Watch(ctx context.Context) {
	var offered, bases <-chan struct{} // nil: there is nothing to hear of
	if s.config.Registry != nil {
		changed, stop := s.config.Registry.Watch()
		defer stop()
		offered = changed
	}
	if s.config.KB != nil && s.config.KB.Store != nil {
		warn := func(err error) {
			s.config.Log.Warn().Err(err).Msg("knowledge bases: changes by others are not seen")
		}
		changed, err := s.config.KB.Store.Listen(ctx, warn)
		if err != nil {
			warn(err)
		}
		bases = changed
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-offered:
			s.Publish("registry")
		case _, open := <-bases:
			if !open {
				bases = nil // it ends with ctx
				continue
			}
			s.Publish("knowledge")
		}
	}
}

// stream sends a page what changes, until it leaves. It joins before it says "ready",
// so nothing is missed in between.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) error {
	p := s.events.join()
	if p == nil {
		return fault.New(fault.Busy, "%d pages listen already", mostPages)
	}
	defer s.events.leave(p)
	out := sse.NewWriter(w, stall)
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for kinds := []string{"ready"}; ; kinds = p.take() {
		for _, kind := range kinds {
			out.Buf = append(out.Buf, "event: "+kind+"\ndata: {\"kind\":\""+kind+"\"}\n\n"...)
		}
		if err := out.Flush(); err != nil {
			return nil // the page is gone
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-s.events.closed:
			return nil
		case <-tick.C:
			out.Comment("keep-alive")
		case <-p.wake:
		}
	}
}
