package mcpserver

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// conn is a session that has one stream for all its answers: legacy SSE, or stdio.
type conn struct {
	*session
	ctx context.Context // ends with the stream; everything that runs for the conn ends with it
	box *outbox
	// unfinished messages, at most Config.MaxWaiting
	pending atomic.Int32

	// the messages that wait for a worker, the oldest first
	backlog []message
	running int  // requests that workers are answering
	parked  bool // whether the conn is in queue.parked
}

// atOnceOfOne is how many requests of one conn are answered at the same time. Further ones wait in
// its backlog, which leaves the other places to other conns.
const atOnceOfOne = 8

// errBusy is returned if a conn has as many unfinished messages as it may have. The client gets a
// 503 at once, or on stdio an error. A handler that waited for a tool instead would delay every
// later message.
var errBusy = errors.New("too many requests are waiting")

// queue gives the messages of all conns to workers, fairly, so that a conn whose tools are slow
// delays no other. One dispatcher goroutine owns everything that is not atomic, so no lock is
// needed. Each worker is a goroutine for one message.
type queue struct {
	e        *engine
	most     int          // how many requests of all conns are answered at once: Config.MaxCalls
	longest  int32        // how many unfinished messages one conn may have: Config.MaxWaiting
	input    chan work    // new messages for the dispatcher
	finished chan *conn   // conns of which a worker has finished a message
	pending  atomic.Int64 // unfinished messages of all conns

	// The dispatcher's own:
	running int
	parked  []*conn // conns with a backlog, in the order in which they get the next place
}

// work is a message that a worker has to answer, with the conn that it came from.
type work struct {
	c *conn
	m message
}

// newQueue returns a queue of messages. Its channels have room for MaxCalls messages, as many as
// are answered at the same time, so that workers seldom wait.
func newQueue(e *engine) *queue {
	return &queue{
		e: e, most: e.cfg.MaxCalls, longest: int32(e.cfg.MaxWaiting),
		input: make(chan work, e.cfg.MaxCalls), finished: make(chan *conn, e.cfg.MaxCalls),
	}
}

// submit accepts a message, or returns errBusy if too many messages of the conn wait, or if the
// conn or the engine has ended. Answers to this server's own requests and cancellations are
// accepted even if too many wait. Otherwise a tool that waits for an answer could fill the queue
// and keep the answer out for ever.
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

// within returns the context in which a message is answered: its own, or else that of its conn c.
func (m message) within(c *conn) context.Context {
	if m.ctx == nil {
		return c.ctx
	}
	return m.ctx
}

// done subtracts n finished messages of a conn from the numbers of unfinished ones.
func (q *queue) done(c *conn, n int) {
	c.pending.Add(-int32(n))
	q.pending.Add(-int64(n))
}

// run is the dispatcher. It ends when the engine stops. It never waits for a tool, only for the
// next message and for workers that finish.
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

// take runs a cancellation, or a request that needs no worker, immediately, and puts any other
// message into the backlog of its conn. So initialize is answered before the next message is looked
// at, and that message finds the session.
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

// withdraw cancels the request with this id. If the request has not begun, it is removed from the
// backlog and never runs.
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

// park puts a conn into the line of those that wait for a free worker, unless it is in the line
// already or has no backlog. The line has conns and not messages, so that a conn with ten messages
// takes one place.
func (q *queue) park(c *conn) {
	if !c.parked && len(c.backlog) > 0 {
		c.parked = true
		q.parked = append(q.parked, c)
	}
}

// start lets workers begin messages of the conns in line, as long as fewer messages are being
// answered than may be at the same time. Each conn gets one worker, and then goes to the end of the
// line. The backlog of a conn that has ended is dropped; its running requests end with its context.
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

// work answers one message in a goroutine of its own, and then tells the dispatcher that a worker
// is free again.
func (q *queue) work(c *conn, m message) {
	q.reply(c, m, func(f frame) error { return c.box.send(c.ctx, f) })
	q.done(c, 1)
	select {
	case q.finished <- c:
	case <-q.e.ctx.Done():
	}
}

// reply handles a message and sends the answer, if there is one, by calling put. A worker's put
// waits for room on the stream, the dispatcher's does not. If put fails, reply ends the stream,
// because its client would otherwise wait for ever for the lost answer.
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

// idle reports whether no message is waiting or being answered.
func (q *queue) idle() bool { return q.pending.Load() == 0 }

// caller returns the sender of a message that came on the conn, in most cases the conn's session.
// On stdio, a message may be of revision 2026-07-28. Its sender is what the message says about
// itself, but gets the conn's id, so that the request can be cancelled.
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

// quick reports whether a request is answered immediately and in order, by the dispatcher or the
// HTTP handler itself, without a worker. Such a request is answered from memory, without running
// code of a tool, prompt or resource. Requests that may have to ask other servers are not quick.
func (e *engine) quick(c *caller, m message) bool {
	_, alone := e.cfg.Gateway.(none)
	switch mcp.MCPMethod(m.method) {
	case mcp.MethodInitialize, mcp.MethodServerDiscover, mcp.MethodPing:
		return true
	case mcp.MethodToolsList:
		return alone || !c.asksBack()
	}
	return alone && sets(m)
}
