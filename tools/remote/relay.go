package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/internal/sleep"
	"toolnorm/tools"
)

// relay is a connection to one server that only one client's session uses, as if the client were
// connected directly. The server knows what this client can do, asks it questions, sends it log
// lines, and has resources and tasks for it alone. All other clients share one connection (link),
// on which a server cannot ask questions, so that no client receives messages for another.
type relay struct {
	link    *link
	session string
	lock    chan struct{} // contains a value while the relay connects

	mu      sync.Mutex
	conn    *conn
	tools   []tools.Tool // as the server lists them for this client
	stale   bool         // the list has changed
	calls   []inCall     // the running requests, the latest last
	peer    *tools.Peer  // the client that asked last
	used    time.Time
	watched map[string]bool // resources that the client subscribed to
	asked   int             // number of open questions
	closed  bool
}

// inCall is a running request of the client for which a relay works.
type inCall struct {
	peer  *tools.Peer
	timer *timer
}

// Bounds of relays. If there are too many, further sessions share the link's connection.
const (
	mostRelays = 64
	// after which a relay without subscriptions is closed; the next request opens it again
	idleTime  = 10 * time.Minute
	idleLook  = time.Minute
	mostAsked = 16 // open questions of one server to one client
)

// relayOf returns the connection to a server that only the client of ctx uses, or nil if the client
// uses the one that all clients share. It makes one if the server could ask the client something,
// if the client has set a log level, or if needed is true, as for a subscription. It makes none for
// a client without a session, or if there are too many.
func (s *Set) relayOf(ctx context.Context, l *link, needed bool) *relay {
	p := tools.PeerOf(ctx)
	if p == nil || p.Session == "" || p.Modern {
		return nil
	}
	s.relayMu.Lock()
	defer s.relayMu.Unlock()
	key := relayKey{p.Session, l}
	if r := s.relays[key]; r != nil {
		return r
	}
	needed = needed || s.levels[p.Session] != nil || asksBack(p.Can)
	if !needed || len(s.relays) >= mostRelays || s.ctx.Err() != nil || l.ctx.Err() != nil {
		return nil
	}
	if s.relays == nil {
		s.relays = map[relayKey]*relay{}
		s.running.Go(s.sweep) // ends with Close
	}
	r := &relay{link: l, session: p.Session, lock: make(chan struct{}, 1), used: time.Now(),
		watched: map[string]bool{}}
	s.relays[key] = r
	return r
}

// relayKey identifies a relay, by the client's session and the server.
type relayKey struct {
	session string
	link    *link
}

// asksBack reports whether a client's capabilities allow a server to ask it anything.
func asksBack(can json.RawMessage) bool {
	var c struct{ Roots, Sampling, Elicitation, Tasks json.RawMessage }
	return json.Unmarshal(can, &c) == nil && (c.Roots != nil || c.Sampling != nil ||
		c.Elicitation != nil || c.Tasks != nil)
}

// Left closes the connections of a session that its client has ended, and forgets the session's log
// level.
func (s *Set) Left(session string) {
	s.drop(func(r *relay) bool { return r.session == session })
	s.relayMu.Lock()
	defer s.relayMu.Unlock()
	delete(s.levels, session)
}

// drop removes the relays that the given function selects, and closes them in goroutines.
func (s *Set) drop(which func(*relay) bool) {
	s.relayMu.Lock()
	defer s.relayMu.Unlock()
	for key, r := range s.relays {
		if which(r) {
			delete(s.relays, key)
			s.running.Go(r.close) // ends with its command
		}
	}
}

// sweep closes relays that have long been idle, and those of servers that are no longer in the
// file. It runs until the Set is closed, and then closes all relays.
func (s *Set) sweep() {
	for sleep.For(s.ctx, idleLook) {
		s.drop(func(r *relay) bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.link.ctx.Err() != nil || len(r.calls) == 0 && len(r.watched) == 0 &&
				time.Since(r.used) > idleTime
		})
	}
	s.drop(func(*relay) bool { return true })
}

// close closes the connection, and makes open fail from then on.
func (r *relay) close() {
	r.mu.Lock()
	c := r.conn
	r.conn, r.closed = nil, true
	r.mu.Unlock()
	if c != nil {
		c.close()
	}
}

// begin records that a request of the client is running. The caller must call the result done when
// the request ends.
func (r *relay) begin(ctx context.Context) (done func()) {
	p := tools.PeerOf(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	call := inCall{p, timerOf(ctx)}
	r.calls, r.peer, r.used = append(r.calls, call), p, time.Now()
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.used = time.Now()
		if i := slices.Index(r.calls, call); i >= 0 {
			r.calls = slices.Delete(r.calls, i, i+1)
		}
	}
}

// open returns the connection, and makes one if there is none. The server gets the client's own
// description, as in a direct connection. open returns an error if the relay is closed, connecting
// fails, or ctx ends.
func (r *relay) open(ctx context.Context) (*conn, error) {
	select {
	case r.lock <- struct{}{}:
		defer func() { <-r.lock }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r.mu.Lock()
	c, closed, p := r.conn, r.closed, r.peer
	r.mu.Unlock()
	switch {
	case closed:
		return nil, errRemoved
	case c != nil && !c.over():
		return c, nil
	}
	me := greeting{hear: r.hear, answer: r.answer, handshake: true}
	if json.Unmarshal(p.Client, &me.who) != nil || json.Unmarshal(p.Can, &me.can) != nil {
		return nil, errors.New("what the client says of itself cannot be read")
	}
	me.who.Name = cmp.Or(me.who.Name, "toolnorm")
	limit := attemptTime
	if r.link.entry.Command != "" {
		limit = startTime
	}
	// as long as for the shared connection (see reached)
	if _, down := r.link.patience(); down != nil {
		limit = callWait
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %v", limit))
	defer cancel()
	c, _, err := r.link.dial(ctx, r.link.transport(), me, &tail{})
	if err != nil && ctx.Err() == nil && !isRefused(err) { // it may speak only 2026-07-28
		me.handshake = false
		c, _, err = r.link.dial(ctx, r.link.transport(), me, &tail{})
	}
	if err != nil {
		return nil, err
	}
	r.setLevel(ctx, c)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		go c.close() // ends with its command
		return nil, errRemoved
	}
	r.conn, r.stale = c, true
	return c, nil
}

// ask sends a request of the client on the relay's own connection, and returns the result and the
// connection. It returns an error if the connection cannot be made or the request fails. It
// implements the interface way.
func (r *relay) ask(ctx context.Context, method string, params json.RawMessage) (
	json.RawMessage, *conn, error) {
	defer r.begin(ctx)()
	c, err := r.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	raw, err := c.ask(ctx, method, params)
	return raw, c, err
}

// lost gives up the connection c, which broke, and closes it in the background, so that the next
// request makes a new one. It implements the interface way.
func (r *relay) lost(c *conn) {
	r.mu.Lock()
	if r.conn == c {
		r.conn = nil
	}
	r.mu.Unlock()
	r.link.set.running.Go(c.close)
}

// hear passes the server's notifications on to this client, except those that cancel the server's
// own requests.
func (r *relay) hear(n mcp.JSONRPCNotification) {
	r.mu.Lock()
	p := r.peer
	if n.Method == string(mcp.MethodNotificationToolsListChanged) {
		r.stale = true
	}
	r.mu.Unlock()
	if n.Method == string(mcp.MethodNotificationCancelled) || p == nil || p.Tell == nil {
		return
	}
	if len(n.Params.Meta) == 0 {
		n.Params.Meta = nil // mcp-go adds one if there is none
	}
	params, err := json.Marshal(n.Params)
	if err != nil || string(params) == "{}" {
		params = nil
	}
	p.Tell(n.Method, params)
}

// answer sends the server's question to the client and returns the answer. It uses the stream of
// the client's latest running request, or else the one on which the client listens. The time limits
// of the running requests are stopped meanwhile. It returns an error if the client cannot be asked,
// fails to answer, or has too many open questions.
func (r *relay) answer(ctx context.Context, method string, params json.RawMessage) (
	json.RawMessage, error) {
	r.mu.Lock()
	p, calls := r.peer, slices.Clone(r.calls)
	many := r.asked >= mostAsked
	if !many {
		r.asked++
	}
	r.mu.Unlock()
	if many {
		return nil, &tools.RPCError{Code: mcp.INTERNAL_ERROR, Message: fmt.Sprintf(
			"%d questions are open already", mostAsked)}
	}
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.asked--
	}()
	if len(calls) > 0 {
		p = calls[len(calls)-1].peer
	}
	if p == nil || p.Ask == nil {
		return nil, &tools.RPCError{Code: mcp.INTERNAL_ERROR, Message: "the client cannot be asked"}
	}
	for _, c := range calls {
		c.timer.ask(1)
		defer c.timer.ask(-1)
	}
	return p.Ask(ctx, method, params)
}

// listed returns the tools that the server lists for this client. They are requested again only
// after a change. It returns an error if the server does not answer.
func (r *relay) listed(ctx context.Context) ([]tools.Tool, error) {
	defer r.begin(ctx)()
	c, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	all, stale := r.tools, r.stale
	r.stale = false
	r.mu.Unlock()
	if !stale {
		return all, nil
	}
	texts, _, err := c.list(ctx)
	if err != nil {
		r.mu.Lock()
		r.stale = true
		r.mu.Unlock()
		if ctx.Err() == nil && (isBroken(err) || neverRan(err)) {
			r.lost(c)
		}
		return nil, err
	}
	all, _ = r.link.read(texts, c.ours)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tools = all
	return all, nil
}
