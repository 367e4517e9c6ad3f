package mcpserver

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/internal/sse"
)

// record is a stream of a session that a client can resume: its events have ids, and the last of
// them are stored. The tool goes on while no client reads, and its answer waits in the outbox.
type record struct {
	id, session string
	primed      bool // whether the stream begins with an event that has only an id
	box         *outbox
	writing     chan struct{} // has a value while a connection writes the stream

	mu    sync.Mutex
	leave context.CancelCauseFunc // ends the connection that took the stream last; nil: none has
	// the name that the connection has at another replica; empty: it is a connection of this one
	reader string
	takers int         // the number of connections that write the stream or wait for it
	grace  *time.Timer // until the stream is forgotten; nil: it has not been released yet
	next   uint64      // the number of the next event
	sent   []numbered  // the last events
	bytes  int         // of their frames
}

// numbered is an event that was sent, with its number.
type numbered struct {
	n uint64
	frame
}

// maxRecords is the most streams that can be resumed. Further ones become plain streams.
const maxRecords = 1000

// maxKept is how many bytes of sent events a record stores, in addition to the last event. Together
// all records store a gigabyte at most.
const maxKept = 1 << 20

// errReplaced ends a connection whose stream another connection has resumed. The client uses the
// new one, so the older one is dead or a mistake.
var errReplaced = errors.New("another connection has taken up the stream")

// records holds the streams of this process that can be resumed, by their ids. An id contains the
// name of the replica, so other replicas know where to ask for it.
type records struct {
	mu  sync.Mutex
	all map[string]*record
}

// newRecords returns records without any streams.
func newRecords() *records { return &records{all: map[string]*record{}} }

// begin makes a stream resumable and returns its record. It returns nil if there are too many
// records. Since 2025-11-25 the stream begins with an event that has an id and no data (SEP-1699).
// With that id a client can resume even if nothing else has reached it. Clients of earlier
// revisions take empty data for broken JSON, so they do not get that event.
func (r *records) begin(of *session, box *outbox, id string) *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) >= maxRecords {
		return nil
	}
	one := &record{
		id: id, session: of.id, primed: of.now().version >= mcp.ProtocolVersion20251125, box: box,
		writing: make(chan struct{}, 1), next: 1,
	}
	r.all[one.id] = one
	return one
}

// find returns the stream to which an event's id belongs, and the event's number. The parameter
// session is the hash of the session's id (see nameOf). It returns false if the event's id has no
// number, if the stream is unknown, or if the stream belongs to another session. The id of an event
// is RECORD-NUMBER. The part RECORD is random, so no client can guess the id of another client's
// event.
func (r *records) find(event, session string) (one *record, after uint64, ok bool) {
	id, after, ok := readEvent(event)
	r.mu.Lock()
	defer r.mu.Unlock()
	if one = r.all[id]; one == nil || !ok || nameOf(one.session) != session {
		return nil, 0, false
	}
	return one, after, true
}

// readEvent returns the two parts of an event's id: the id of the stream, and the number of the
// event. It returns false if there is no number.
func readEvent(event string) (id string, n uint64, ok bool) {
	dash := max(strings.LastIndexByte(event, '-'), 0)
	n, err := strconv.ParseUint(strings.TrimPrefix(event[dash:], "-"), 10, 64)
	return event[:dash], n, err == nil
}

// forget ends a stream that no connection has resumed in time. If its tool is still running, the
// tool then gets an error when it sends something.
func (r *records) forget(one *record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one.mu.Lock()
	defer one.mu.Unlock()
	// Another connection has resumed it meanwhile; the next grace begins when that one ends.
	if one.takers > 0 {
		return
	}
	delete(r.all, one.id)
	one.box.end(errClosed)
}

// end ends all streams of a session.
func (r *records) end(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, one := range r.all {
		if one.session == session {
			delete(r.all, id)
			one.box.end(errClosed)
		}
	}
}

// take makes a connection the only writer of a stream. It tells the previous writer to stop, by
// calling that writer's leave, and waits until it has stopped, even if it hangs in a write to a
// dead peer. Two writers would number events twice. take returns an error if ctx ends first. The
// caller must call release in any case.
//
// Another replica, whose name is reader, takes the stream anew each time it asks for events. The
// argument again is true if it has asked before. If someone else has taken the stream in the
// meantime, take returns errReplaced, because the client then uses the newer connection.
func (o *record) take(ctx context.Context, leave context.CancelCauseFunc, reader string,
	again bool) error {
	o.mu.Lock()
	o.takers++
	if again && o.reader != reader {
		o.mu.Unlock()
		return errReplaced
	}
	if o.leave != nil {
		o.leave(errReplaced)
	}
	o.leave, o.reader = leave, reader
	o.mu.Unlock()
	select {
	case o.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// release ends a connection's use of a stream. The parameter wrote is true if take let the
// connection write the stream. Within the grace period from now on, the client can resume the
// stream. It can do so even if the whole stream was written, because the last bytes may have been
// lost.
func (r *records) release(o *record, wrote bool, grace time.Duration) {
	if wrote {
		<-o.writing
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.takers--
	if o.grace != nil {
		o.grace.Stop()
	}
	o.grace = time.AfterFunc(grace, func() { r.forget(o) })
}

// event appends a frame as an event with the next number, and stores it.
func (o *record) event(dst []byte, f frame) []byte {
	return o.write(dst, o.number(f))
}

// number gives a frame the next number of the stream, stores it as an event, and returns that
// event. When the stored events have too many bytes, the oldest ones are dropped, but never the
// last one, which may be the answer.
func (o *record) number(f frame) numbered {
	o.mu.Lock()
	defer o.mu.Unlock()
	one := numbered{o.next, f}
	o.sent = append(o.sent, one)
	o.next++
	o.bytes += len(f.body)
	// The oldest events are dropped first, and the last one never.
	for o.bytes > maxKept && len(o.sent) > 1 {
		o.bytes -= len(o.sent[0].body)
		o.sent = o.sent[1:]
	}
	return one
}

// write appends an event with its id. The client names that id later to say how much it has
// received.
func (o *record) write(dst []byte, f numbered) []byte {
	return namedEvent(dst, eventID(o.id, f.n), f.frame)
}

// eventID returns the id of an event of a stream, RECORD-NUMBER.
func eventID(record string, n uint64) string { return record + "-" + strconv.FormatUint(n, 10) }

// namedEvent appends a frame as an event with this id.
func namedEvent(dst []byte, id string, f frame) []byte {
	return plainEvent(append(dst, "id: "+id+"\n"...), f)
}

// since returns the stored events whose numbers are greater than a given number. It also reports
// whether the last event of the stream is among the stored ones.
func (o *record) since(after uint64) (all []numbered, ended bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, f := range o.sent {
		if f.n > after {
			all = append(all, f)
		}
		ended = ended || f.last
	}
	return all, ended
}

// again appends to dst the events that the client has missed, those whose numbers are greater than
// after. It reports whether the last of them ends the stream. If there are none and the client has
// received nothing yet, it gets an event that has only an id, with which it can resume.
func (o *record) again(dst []byte, after uint64) (_ []byte, ended bool) {
	missed, ended := o.since(after)
	// 2025-11-25 wants "an event ID and an empty data field", so data: is written out.
	if after == 0 && len(missed) == 0 && o.primed {
		dst = append(dst, "id: "+eventID(o.id, 0)+"\ndata:\n\n"...)
	}
	for _, f := range missed {
		dst = o.write(dst, f)
	}
	return dst, ended
}

// unread returns the events of a stream whose answer no client has got: those that were sent, and
// those that wait to be sent. The result is empty if the answer was sent, or if a connection is
// writing the stream and so will send the answer.
func (o *record) unread() (b batch) {
	select {
	case o.writing <- struct{}{}:
		defer func() { <-o.writing }()
	default:
		return batch{}
	}
	sent, ended := o.since(0)
	if ended {
		return batch{}
	}
	n := uint64(1)
	for _, f := range sent {
		b.add(f)
		n = f.n + 1
	}
	for _, f := range o.box.waiting() {
		b.add(numbered{n, f})
		n++
	}
	return b
}

// replay writes a stream, beginning after the event with this number, until the stream or the
// connection ends.
func (s *Server) replay(ctx context.Context, out *sse.Writer, o *record, after uint64) {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	err := o.take(ctx, leave, "", false)
	defer s.records.release(o, err == nil, s.cfg.StreamGrace)
	if err != nil {
		return
	}
	var ended bool
	out.Buf, ended = o.again(out.Buf, after)
	err = out.Flush()
	if err == nil && !ended {
		err = s.pour(ctx, out, o.box, o.event)
	}
	s.dropped("resumable", err)
}
