package openai

import (
	"io"
	"time"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// tailTime is how long a reply that has said why it ended is waited for to end, in case the token counts follow: with
// stream_options.include_usage they come in an event of their own, with empty choices, behind the finish_reason. A server that
// keeps the connection open instead costs its client no more than this.
const tailTime = 2 * time.Second

// deltas reads the events of an OpenAI-compatible server. It is a chat.Source.
//
// What servers send, each with data: in front:
//
//	{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}
//	{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
//	{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}
//	[DONE]
type deltas struct {
	upstream.Stream
	events sseReader
	whole  bool                               // the answer is one JSON document
	record func(*fastjson.Value) error        // queues what an event holds
	fault  func(*fastjson.Value) *fault.Error // of an error object
	calls  nativeCalls
	probs  upstream.Probs
	ending *chat.Event // the Finish event, once the server has said why it ended
	usage  chat.Counts
}

var _ chat.Source = (*deltas)(nil)

// read queues what the next event holds. Its error is what ends the stream behind that; nil: nothing ends it.
func (d *deltas) read() error {
	if d.whole {
		return d.document()
	}
	v, done, err := d.events.next()
	if err != nil || done {
		return d.ended(err)
	}
	return d.record(v)
}

// document reads a server that answers at once although a stream was asked for. A whole reply has the same members
// as an event, with "message" in place of "delta", so one reader serves both.
func (d *deltas) document() error {
	body, err := io.ReadAll(io.LimitReader(d.In, upstream.MaxRecord+1))
	// A document that is longer would be cut by the limit, and be no JSON for that reason.
	if err == nil && len(body) > upstream.MaxRecord {
		err = upstream.ErrLong
	}
	if err != nil {
		return d.ended(err)
	}
	v, err := d.Scratch.Parse(body)
	if err != nil {
		return fault.New(fault.Unavailable, "the model server's reply is no JSON: %w", err)
	}
	if err := d.record(v); err != nil {
		return err
	}
	return d.ended(nil)
}

// add queues text of a kind, if there is any, behind the calls that are still under way. Many deltas hold ""
// beside something else.
func (d *deltas) add(k chat.Kind, text []byte) {
	if len(text) > 0 {
		d.Queue = d.calls.add(d.Queue, chat.Event{Kind: k, Text: d.Text.Of(text)})
	}
}

// finish notes why the reply ended. Token counts may follow, so the event waits for the stream's end: [DONE], a
// closed connection, or tailTime without a byte.
func (d *deltas) finish(reason, cause string) {
	d.ending = &chat.Event{Kind: chat.Finish, Text: reason, Meta: &chat.Meta{Cause: cause}}
	d.In.Shorten(tailTime)
}

// ended is the end of the stream: err is why it could not be read on, nil for a good end. It is a fault unless the
// server had said why the reply ended; then nothing that comes behind can matter. Calls that waited leave here,
// whole or as far as they had begun, in front of the counts and the reason.
func (d *deltas) ended(err error) error {
	if d.ending == nil {
		return d.cut(err)
	}
	if d.Queue, err = d.calls.end(d.Queue, d.ending.Text == chat.Length); err != nil {
		return err
	}
	d.ending.Meta.Repairs, d.ending.Meta.Logprobs = d.calls.repairs, d.probs.Tokens
	if d.usage != (chat.Counts{}) {
		usage := d.usage
		d.Queue = append(d.Queue, chat.Event{Kind: chat.Usage, Meta: &chat.Meta{Usage: &usage}})
	}
	d.Queue = append(d.Queue, *d.ending)
	return io.EOF
}

// cut is the fault of a reply that ended without a reason, even one that ended in good order by [DONE]: only a
// reason says that the model had finished, and the last call may be half of one.
func (d *deltas) cut(err error) error {
	if d.Ctx.Err() == nil && err == nil {
		return fault.New(fault.Unavailable, "the model server ended its reply without a finish_reason, so nobody knows whether it is complete")
	}
	return upstream.Cut(d.Ctx, err)
}
