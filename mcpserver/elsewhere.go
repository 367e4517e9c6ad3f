package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"toolnorm/internal/sse"
)

// Shared is what the replicas of the program have in common: stored data, and a way to send each
// other questions and notices. A shared.Desk with a shared.Store implements it.
type Shared interface {
	Put(kind, id, owner string, body []byte, life time.Duration) error
	Get(kind, id, owner string) ([]byte, bool, error)

	// of this replica, without . and -
	Name() string
	Ask(ctx context.Context, to, about string, question, answer any) error
	Tell(to, about string, v any) error
	TellAll(about string, v any) error
	// f gets the questions and the notices about this subject; its result is the answer
	Hear(about string, f func(ctx context.Context, question json.RawMessage) any)
}

// The subjects of questions and notices between replicas.
const (
	aboutEvents = "mcp events" // asks for the events of a stream; the answer is a batch
	aboutAnswer = "mcp answer" // passes on a client's answer to the question of a tool
	aboutCancel = "mcp cancel" // says that a client has cancelled a request
	aboutEnd    = "mcp end"    // says that a client has ended its session
	aboutTask   = "mcp task"   // asks for a task; the answer is a reply
)

const (
	streamKind = "mcp stream" // the kind under which the rests of streams are stored in Shared
	// how long another replica may take to answer, in addition to the time for which it waits for
	// an event
	answerWait  = 5 * time.Second
	longestName = 128 // bytes of a request's id; a longer id is not put into the stream's id
	longestID   = 512 // bytes of a stream's id
)

// elsewhere finds streams that other replicas write. The id of an event names the replica that
// writes its stream. When a client reconnects to another replica, that replica asks the writer for
// the missed events, again and again until the end. The writer waits for the next event before it
// answers. Nothing is stored while the client is connected. If a call ends while no client reads
// its stream, the rest of the stream is stored where every replica finds it.
type elsewhere struct {
	shared  Shared // nil: there are no other replicas
	cfg     Config
	ctx     context.Context // of the engine
	records *records
}

// newElsewhere returns an elsewhere, which finds streams at other replicas. It also lets the other
// replicas ask this one for the events of its streams, from now on.
func newElsewhere(cfg Config, e *engine, r *records) *elsewhere {
	one := &elsewhere{shared: cfg.Shared, cfg: cfg, ctx: e.ctx, records: r}
	if cfg.Shared != nil {
		hear(cfg.Shared, aboutEvents, func(w eventsAsked) any { return one.next(w) })
	}
	return one
}

// hear registers the function f for questions that other replicas ask about the subject "about".
// Each question is decoded as a T, and the result of f is the answer. A question of another type,
// perhaps of another version of the program, is answered with nil.
func hear[T any](shared Shared, about string, f func(question T) any) {
	shared.Hear(about, func(_ context.Context, question json.RawMessage) any {
		var q T
		if json.Unmarshal(question, &q) != nil {
			return nil // of a program that we do not know
		}
		return f(q)
	})
}

// eventsAsked is the question by which a replica asks another one for the events of a stream.
type eventsAsked struct {
	Event   string `json:"event"`           // the last one that the client has
	Session string `json:"session"`         // as nameOf returns it
	Reader  string `json:"reader"`          // identifies the connection to the client
	Again   bool   `json:"again,omitempty"` // whether this reader has asked before
}

// batch is a part of a stream. An empty batch means that the tool is still running.
type batch struct {
	Events []carried `json:"events,omitempty"`
	Over   bool      `json:"over,omitempty"` // nothing follows
	// there is no such stream, or it has ended without its answer
	Lost bool `json:"lost,omitempty"`
}

// carried is an event that is sent to another replica.
type carried struct {
	N       uint64          `json:"n"`
	Message json.RawMessage `json:"m"`
}

// add appends an event. A last frame without a body only marks the end of the stream.
func (b *batch) add(f numbered) {
	if f.body != nil {
		b.Events = append(b.Events, carried{f.n, f.append(nil)})
	}
	b.Over = b.Over || f.last
}

// streamID returns a new id for the stream of a request. If there are other replicas, the id
// contains the name of this replica, which writes the stream, and the id of the request. With these
// a client can get an answer even when this replica is gone.
func (e *elsewhere) streamID(request json.RawMessage) string {
	id := rand.Text()
	if e.shared == nil {
		return id
	}
	if len(request) > longestName {
		request = nil
	}
	return id + "." + e.shared.Name() + "." + base64.RawURLEncoding.EncodeToString(request)
}

// readStreamID returns the name of the replica that writes a stream, and the id of the client's
// request, which is nil if it was too long. It returns false for an id without these parts.
func readStreamID(id string) (writer string, request json.RawMessage, ok bool) {
	parts := strings.Split(id, ".")
	if len(parts) != 3 || len(id) > longestID {
		return "", nil, false
	}
	request, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !json.Valid(request) {
		request = nil
	}
	return parts[1], request, err == nil
}

// follow writes a stream of another replica to the client, beginning after this event, until the
// stream or the connection ends. It returns false if the event belongs to no such stream. If the
// other replica is gone and the rest of the stream is not stored, the client gets an error as the
// answer to its request.
func (e *elsewhere) follow(ctx context.Context, out *sse.Writer, event, session string) bool {
	id, _, ok := readEvent(event)
	_, request, known := readStreamID(id)
	if !ok || !known || e.shared == nil {
		return false
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.ctx, cancel)()
	ask := eventsAsked{Event: event, Session: session, Reader: rand.Text()}
	for out.Comment("listening"); out.Flush() == nil && ctx.Err() == nil; ask.Again = true {
		b, err := e.fetch(ctx, ask)
		if err != nil { // it may come back
			e.cfg.Log.Warn().Err(err).Msg("cannot take up an MCP stream of another replica")
			break
		}
		for _, one := range b.Events {
			ask.Event = eventID(id, one.N)
			out.Buf = namedEvent(out.Buf, ask.Event, frame{body: one.Message})
		}
		switch {
		case b.Lost:
			gone := fail(codeInternal,
				"the replica that ran this call has stopped before it answered; the tool may have done its work all the same")
			out.Buf = plainEvent(out.Buf, frame{body: gone.frame(request)})
		case len(b.Events) == 0:
			out.Comment("keep-alive")
		}
		if b.Over || b.Lost {
			_ = out.Flush() // the client may have gone as well
			break
		}
	}
	return true
}

// fetch returns the next events of a stream. They come from the stored rest of the stream, or else
// from the replica that writes it. It returns an error if the database cannot be asked.
func (e *elsewhere) fetch(ctx context.Context, ask eventsAsked) (b batch, err error) {
	b, ok, err := e.left(ask)
	if ok || err != nil {
		return b, err
	}
	if b, err = e.question(ctx, ask); err != nil || !b.Lost {
		return b, err
	}
	// The call may have ended while its replica was asked.
	if left, ok, err := e.left(ask); ok || err != nil {
		return left, err
	}
	return b, nil
}

// left returns the stored events of an ended stream that come after the event ask.Event. It returns
// false if none are stored, and an error if the database cannot be read.
func (e *elsewhere) left(ask eventsAsked) (b batch, ok bool, err error) {
	id, after, _ := readEvent(ask.Event)
	body, ok, err := e.shared.Get(streamKind, nameOf(id), ask.Session)
	if !ok || err != nil {
		return batch{}, false, err
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return batch{}, false, err
	}
	for len(b.Events) > 0 && b.Events[0].N <= after {
		b.Events = b.Events[1:]
	}
	return b, true, nil
}

// question asks the replica that writes a stream for the next events, and returns them. If that
// replica does not answer in time, it has stopped, and the field Lost of the batch is true. Lost is
// also true if the writer has this replica's name, since the stream is then from before its last
// start. question returns an error if it cannot ask.
func (e *elsewhere) question(ctx context.Context, ask eventsAsked) (b batch, err error) {
	id, _, _ := readEvent(ask.Event)
	writer, _, _ := readStreamID(id)
	if writer == e.shared.Name() {
		return batch{Lost: true}, nil
	}
	late, cancel := context.WithTimeout(ctx, e.hold()+answerWait)
	defer cancel()
	switch err = e.shared.Ask(late, writer, aboutEvents, ask, &b); {
	case err == nil:
		return b, nil
	case ctx.Err() != nil:
		return batch{Over: true}, nil
	case late.Err() != nil:
		return batch{Lost: true}, nil
	}
	return batch{}, err
}

// hold returns how long this replica waits for an event of a stream before it answers another
// replica that there is none. That is a third of Config.Beat. So the other replica can send its
// client a comment in time, which keeps the client's stream alive.
func (e *elsewhere) hold() time.Duration { return e.cfg.Beat / 3 }

// next answers another replica that wants the events of a stream after ask.Event. If there are none
// yet, it waits a while for one; meanwhile the other replica is the stream's reader. In the result,
// Lost is true if this replica does not know the stream, and Over is true if another reader has
// taken it.
func (e *elsewhere) next(ask eventsAsked) (b batch) {
	o, after, ok := e.records.find(ask.Event, ask.Session)
	if !ok {
		return batch{Lost: true}
	}
	ctx, cancel := context.WithTimeout(e.ctx, e.hold())
	defer cancel()
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	err := o.take(ctx, leave, ask.Reader, ask.Again)
	defer e.records.release(o, err == nil, e.cfg.StreamGrace)
	if err != nil {
		return batch{Over: errors.Is(err, errReplaced)}
	}
	missed, _ := o.since(after)
	for _, f := range missed {
		b.add(f)
	}
	for len(b.Events) == 0 && !b.Over {
		for _, f := range o.box.take() {
			b.add(o.number(f))
		}
		switch {
		case len(b.Events) > 0 || b.Over:
		case o.box.ended() != nil:
			return batch{Lost: true}
		default:
			select {
			case <-o.box.more:
			case <-ctx.Done():
				return batch{Over: errors.Is(context.Cause(ctx), errReplaced),
					Lost: e.ctx.Err() != nil}
			}
		}
	}
	return b
}

// leaveBehind stores the rest of a stream where all replicas find it, if its call has ended and no
// client has read the answer. The client may come back to another replica when this one is gone. If
// the rest cannot be stored, leaveBehind logs that.
func (e *elsewhere) leaveBehind(o *record) {
	if o == nil || e.shared == nil {
		return
	}
	b := o.unread()
	if !b.Over {
		return
	}
	if err := e.shared.Put(streamKind, nameOf(o.id), nameOf(o.session), encode(b),
		e.cfg.StreamGrace); err != nil {
		e.cfg.Log.Warn().Err(err).Msg(
			"cannot keep the answer to an MCP call for other replicas: its client finds it at this one alone")
	}
}
