package mcpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/internal/sse"
)

// record is a stream of a session that a client can resume: its events have ids, and the last of
// them are kept. The tool goes on while no client reads, and its answer waits in the box.
type record struct {
	id, session string
	primed      bool // begins with an event that has only an id
	box         *outbox
	writing     sync.Mutex // held by the one connection that writes the stream

	mu    sync.Mutex
	leave context.CancelCauseFunc // of the connection that took the stream last; nil: none has
	turn  int                     // how many connections have taken it
	next  uint64                  // the number of the next event
	sent  []numbered              // the last events
	bytes int                     // of their frames
}

// numbered is an event that was sent.
type numbered struct {
	n uint64
	frame
}

// maxRecords is the most streams that can be resumed. Further ones are served as plain streams.
const maxRecords = 1000

// maxKept is how many bytes of sent events a record keeps, beside the last one. Together the
// records keep a gigabyte at the very most.
const maxKept = 1 << 20

// errReplaced ends a connection whose stream another connection has resumed: the client uses the
// new one, so the older one is dead or a mistake.
var errReplaced = errors.New("another connection has taken up the stream")

// records holds the streams that can be resumed, by their ids. They are in this process only:
// a client that comes back to another replica gets an ordinary listener.
type records struct {
	mu  sync.Mutex
	all map[string]*record
}

func newRecords() *records { return &records{all: map[string]*record{}} }

// begin makes a stream resumable and returns its record, or nil if there are too many. By
// 2025-11-25 the stream begins with an event that has an id and no data (SEP-1699), by which a
// client can come back even if nothing else has reached it; clients of earlier revisions take empty
// data for broken JSON.
func (r *records) begin(of *session, box *outbox) *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) >= maxRecords {
		return nil
	}
	one := &record{id: rand.Text(), session: of.id,
		primed: of.now().version >= mcp.ProtocolVersion20251125, box: box, next: 1}
	r.all[one.id] = one
	return one
}

// find returns the stream that an event's id belongs to, and the event's number. The stream must be
// the session's own. An id is RECORD-NUMBER; the record is random, so no client can guess
// another's.
func (r *records) find(event, session string) (one *record, after uint64, ok bool) {
	id, number, _ := strings.Cut(event, "-")
	after, err := strconv.ParseUint(number, 10, 64)
	r.mu.Lock()
	defer r.mu.Unlock()
	if one = r.all[id]; one == nil || err != nil || one.session != session {
		return nil, 0, false
	}
	return one, after, true
}

// forget ends a stream that no connection has resumed since the connection with the number turn
// left. Its tool, if it still runs, then gets an error when it sends.
func (r *records) forget(one *record, turn int) {
	// Another connection has resumed it meanwhile; the next grace begins when that one ends.
	if one.turns() != turn {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
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

// take makes a connection the writer of the stream, and tells the previous one to leave. turn is
// the number of the connection. take waits for the previous one, which may hang in a write to a
// dead peer, since two writers would number events twice.
func (o *record) take(leave context.CancelCauseFunc) (turn int) {
	o.mu.Lock()
	if o.leave != nil {
		o.leave(errReplaced)
	}
	o.leave = leave
	o.turn++
	turn = o.turn
	o.mu.Unlock()
	o.writing.Lock()
	return turn
}

// turns returns how many connections have written the stream.
func (o *record) turns() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.turn
}

// event writes a frame with its number, and keeps it. The last event is always kept, whatever its
// size: it is the answer.
func (o *record) event(dst []byte, f frame) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	dst = o.write(dst, numbered{o.next, f})
	o.sent = append(o.sent, numbered{o.next, f})
	o.next++
	o.bytes += len(f.body)
	// The oldest events are dropped first, and the last one never.
	for o.bytes > maxKept && len(o.sent) > 1 {
		o.bytes -= len(o.sent[0].body)
		o.sent = o.sent[1:]
	}
	return dst
}

// write writes a frame with its id, RECORD-NUMBER, by which the client says later how far it has
// come.
func (o *record) write(dst []byte, f numbered) []byte {
	dst = append(dst, "id: "+o.id+"-"...)
	dst = strconv.AppendUint(dst, f.n, 10)
	return plainEvent(append(dst, '\n'), f.frame)
}

// again writes what a client has missed, and reports whether that was the end. A client that has
// received nothing gets an event that has only an id.
func (o *record) again(dst []byte, after uint64) (_ []byte, ended bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	// 2025-11-25 wants "an event ID and an empty data field", so data: is written out.
	if after == 0 && o.next == 1 && o.primed {
		dst = append(dst, "id: "+o.id+"-0\ndata:\n\n"...)
	}
	for _, f := range o.sent {
		if f.n > after {
			dst = o.write(dst, f)
		}
		ended = ended || f.last
	}
	return dst, ended
}

// replay writes a stream from an event on, until its end or that of the connection. From then on it
// can be resumed for Config.StreamGrace, even if all of it was written, since the last bytes may
// have been lost.
func (s *Server) replay(ctx context.Context, out *sse.Writer, o *record, after uint64) {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	turn := o.take(leave)
	var ended bool
	out.Buf, ended = o.again(out.Buf, after)
	err := out.Flush()
	if err == nil && !ended {
		err = s.pour(ctx, out, o.box, o.event)
	}
	o.writing.Unlock()
	s.dropped("resumable", err)
	time.AfterFunc(s.cfg.StreamGrace, func() { s.records.forget(o, turn) })
}
