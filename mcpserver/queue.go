package mcpserver

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// conn is a session that has one stream of its own, on which all its answers go: legacy SSE, or
// stdio. It is the session and the output queue of the 2024-11-05 engine in one.
type conn struct {
	*session
	ctx context.Context // ends with the stream, and ends what runs for it
	box *outbox
	// messages that were taken and are not finished; bounded by Config.MaxWaiting
	pending atomic.Int32

	// The dispatcher's own:
	backlog []message // that wait for a place, in the order in which they came
	running int       // requests of it that workers answer now
	parked  bool      // in queue.parked
}

// atOnceOfOne is how many requests of one conn are answered at the same time; its further requests
// wait in its backlog, which leaves the rest of the places to other conns.
const atOnceOfOne = 8

// errBusy says that a conn has as many messages as it may. The client gets a 503, or on stdio an
// error, at once: a handler that waited for a tool would hold up every message behind this one.
var errBusy = errors.New("too many requests are waiting")

// queue takes the messages of all conns and hands them to workers, fairly: a conn whose tools are
// slow keeps no other waiting. One dispatcher goroutine owns everything that is not atomic, so no
// lock is needed; each worker is a goroutine for one message.
type queue struct {
	e        *engine
	most     int          // requests answered at once, of all conns: Config.MaxCalls
	longest  int32        // messages of one conn that wait or are answered: Config.MaxWaiting
	input    chan work    // what came in
	finished chan *conn   // conns of which a worker has ended
	pending  atomic.Int64 // messages that were taken and are not finished

	// The dispatcher's own:
	running int
	parked  []*conn // conns with a backlog, in the order in which they get the next place
}

// work is a message of a conn.
type work struct {
	c *conn
	m message
}

// newQueue makes the queue. Its channels have room for as many as are answered at once, so that
// workers seldom wait.
func newQueue(e *engine) *queue {
	return &queue{
		e: e, most: e.cfg.MaxCalls, longest: int32(e.cfg.MaxWaiting),
		input: make(chan work, e.cfg.MaxCalls), finished: make(chan *conn, e.cfg.MaxCalls),
	}
}

// submit takes a message. Answers to requests of ours never wait, and cancellations are never
// refused: a tool that waits for its answer holds a place, and a cancellation frees one, so either
// behind a full queue would be a deadlock.
func (q *queue) submit(c *conn, m message) error {
	if m.isAnswer() {
		q.e.handle(m.within(c), q.caller(c, m), m)
		return nil
	}
	// The message is counted before it is taken, so that Close never misses one.
	q.pending.Add(1)
	if c.pending.Add(1) <= q.longest || isCancel(m) {
		// The dispatcher waits for no tool, so this waits for microseconds. Refusing a message
		// within its bounds, only because the dispatcher was not scheduled yet, would be a 503
		// without a reason.
		select {
		case q.input <- work{c, m}:
			return nil
		case <-c.ctx.Done():
		case <-q.e.ctx.Done():
		}
	}
	q.done(c, 1)
	return errBusy
}

// within returns the context that a message is answered in.
func (m message) within(c *conn) context.Context {
	if m.ctx == nil {
		return c.ctx
	}
	return m.ctx
}

// done counts finished messages.
func (q *queue) done(c *conn, n int) {
	c.pending.Add(-int32(n))
	q.pending.Add(-int64(n))
}

// run runs the dispatcher. It ends when the engine stops. It never waits for a tool, only for the
// next message or the next end.
func (q *queue) run() {
	for {
		select {
		case <-q.e.ctx.Done():
			return
		case w := <-q.input:
			q.take(w.c, w.m)
		case c := <-q.finished:
			c.running--
			q.running--
			q.park(c)
		}
		q.start()
	}
}

// take answers what takes no time, in the order in which it came, and parks the rest. initialize is
// answered right away, so that a session has begun before its next message is looked at.
func (q *queue) take(c *conn, m message) {
	switch {
	case isCancel(m):
		q.withdraw(c, cancelled(m))
	case m.isRequest() && q.e.quick(q.caller(c, m), m):
		q.reply(c, m, c.box.put)
	default:
		c.backlog = append(c.backlog, m)
		q.park(c)
		return
	}
	q.done(c, 1)
}

// withdraw cancels a request. If it has not begun, it is taken out of the queue and never runs.
func (q *queue) withdraw(c *conn, id string) {
	at := slices.IndexFunc(c.backlog, func(m message) bool {
		return m.isRequest() && string(m.id) == id
	})
	if at < 0 {
		q.e.running.cancel(c.id, id)
		return
	}
	c.backlog = slices.Delete(c.backlog, at, at+1)
	q.done(c, 1)
}

// park puts a conn in line for a place, once. Conns wait in line rather than messages, so that ten
// messages of one conn count as one.
func (q *queue) park(c *conn) {
	if !c.parked && len(c.backlog) > 0 {
		c.parked = true
		q.parked = append(q.parked, c)
	}
}

// start gives the free places to the conns in line: each gets one, and then goes to the end of the
// line. A conn that has gone is cleared here; its requests that run end with its context.
func (q *queue) start() {
	for n := len(q.parked); n > 0 && q.running < q.most; n-- {
		c := q.parked[0]
		q.parked = q.parked[1:]
		c.parked = false
		switch {
		case c.ctx.Err() != nil:
			q.done(c, len(c.backlog))
			c.backlog = nil
			continue
		case len(c.backlog) == 0, c.running >= atOnceOfOne:
			continue // parked again with its next request, or when one is done
		}
		m := c.backlog[0]
		c.backlog = c.backlog[1:]
		c.running++
		q.running++
		q.e.beside.Go(func() { q.work(c, m) }) // ends with the request, which ends with its conn
		// The conn goes to the end of the line: each gets one place per round.
		if q.park(c); c.parked {
			n++
		}
	}
}

// work answers one message.
func (q *queue) work(c *conn, m message) {
	q.reply(c, m, func(f frame) error { return c.box.send(c.ctx, f) })
	q.done(c, 1)
	select {
	case q.finished <- c:
	case <-q.e.ctx.Done():
	}
}

// reply answers a message on the conn's stream. A conn that has no room for the answer is given up:
// it has lost an answer, so its client would wait for ever. Workers wait for room, the dispatcher
// does not.
func (q *queue) reply(c *conn, m message, put func(frame) error) {
	result, rpcErr := q.e.handle(m.within(c), q.caller(c, m), m)
	f := frame{id: m.id, body: result}
	switch {
	case rpcErr != nil:
		f = frame{body: rpcErr.frame(m.id)}
	case result == nil:
		return
	}
	if err := put(f); err != nil {
		c.box.end(err)
	}
}

// idle reports whether nothing is waiting or being answered.
func (q *queue) idle() bool { return q.pending.Load() == 0 }

// caller returns the conn as the sender of a message. On stdio a message may be of revision
// 2026-07-28, and then it says everything itself; only its id can be cancelled like any other.
func (q *queue) caller(c *conn, m message) *caller {
	said := m.said.Meta
	if said.Version == nil || said.Capabilities == nil {
		return &caller{session: c.session, meta: said, out: c.box.send}
	}
	one := said.session(c.principal)
	// Its own id would be empty, and notifications/cancelled on this stream could not find the
	// request.
	one.id = c.id
	return &caller{session: one, modern: true, meta: said, out: c.box.send, stream: c.box}
}

// quick reports whether a request is answered in the dispatcher or the handler itself, in order,
// and takes none of the places. Requests that may have to ask other servers are not quick.
func (e *engine) quick(c *caller, m message) bool {
	_, alone := e.cfg.Gateway.(none)
	switch mcp.MCPMethod(m.method) {
	case mcp.MethodSetLogLevel, mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
		return alone
	case mcp.MethodToolsList:
		return alone || !c.asksBack()
	}
	return isQuick(m.method)
}

// isQuick reports whether a request is answered from memory, without the code of a tool, prompt or
// resource.
func isQuick(method string) bool {
	switch mcp.MCPMethod(method) {
	case mcp.MethodInitialize, mcp.MethodServerDiscover, mcp.MethodPing, mcp.MethodToolsList,
		mcp.MethodSetLogLevel,
		mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
		return true
	}
	return false
}
