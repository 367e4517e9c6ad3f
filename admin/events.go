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
	// beat is the interval of keep-alives on a silent stream. Proxies close connections that are
	// silent for a minute or less.
	beat = 15 * time.Second
	// stall is how long a write waits for a page that reads nothing.
	stall = 30 * time.Second
	// mostPages is the most streams that may be open at once; a page opens two. Each stream costs a
	// goroutine and a connection, and a browser opens at most six connections.
	mostPages = 128
)

// hub tells the open pages what has changed. It sends kinds of changes, never values. The page then
// asks again for what it shows, so a lost or repeated event does no harm.
type hub struct {
	mu     sync.Mutex
	pages  map[*page]bool
	once   sync.Once
	closed chan struct{}
}

// page is one page that receives events.
type page struct {
	wake chan struct{} // holds one notice, so that a slow page delays no other

	mu    sync.Mutex
	kinds []string // what changed since the last take, each kind once
}

// newHub returns a hub without pages.
func newHub() *hub { return &hub{pages: map[*page]bool{}, closed: make(chan struct{})} }

// close ends all streams.
func (h *hub) close() { h.once.Do(func() { close(h.closed) }) }

// publish sends an event of this kind to all pages.
func (h *hub) publish(kind string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for p := range h.pages {
		p.add(kind)
	}
}

// join adds a page and returns it. It returns nil if mostPages are open already.
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

// count returns how many pages are open.
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

// add records that something of this kind has changed. A kind is recorded once, however often it
// changes before the next take.
func (p *page) add(kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(p.kinds, kind) {
		return
	}
	p.kinds = append(p.kinds, kind)
	select {
	case p.wake <- struct{}{}:
	default: // a notice is waiting already
	}
}

// take returns the kinds of what has changed since its last call, or nil if nothing has.
func (p *page) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	kinds := p.kinds
	p.kinds = nil
	return kinds
}

// Watch tells the pages when the offered tools or the knowledge bases change, until ctx ends. It
// sees changes by the command line and by other replicas, too. One kind of event, "registry",
// covers both an MCP server that comes back and a tool that was added, because both change the
// registry.
func (s *Server) Watch(ctx context.Context) {
	var offered, bases <-chan struct{} // nil: nothing reports changes
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

// stream sends a page an event for each change, with the kind of the change, until the page
// disconnects. It joins the hub before it sends "ready", so that no change is missed in between. It
// returns an error if too many pages are open.
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
