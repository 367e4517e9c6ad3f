package wait

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"toolnorm/internal/fault"
)

// Limit is the limit of one kind of wait: how long at most, and the error when that is exceeded.
// The sentence names the setting, since what is too long differs from machine to machine.
type Limit struct {
	limit time.Duration // not positive: no limit
	code  string        // code of the fault.Timeout
	fault string        // its sentence, with a verb for the limit
}

// FirstByteTimeout is the code of the fault by which the wait for a first record ends. The engine
// recognizes by it a model that may hang.
const FirstByteTimeout = "first_byte_timeout"

// The codes of the other waits' faults.
const (
	loadTimeout = "load_timeout"
	idleTimeout = "idle_timeout"
)

// Loading returns the limit of the wait for a rendered prompt, which may include loading the model.
// Ollama loads the model even for a rendering.
func (p *Pulse) Loading() Limit {
	return Limit{p.limits.Load, loadTimeout,
		"the model server did not load the model within %v (setting load-timeout)"}
}

// First returns the limit of the wait for the first record of a model that is loaded. Ollama queues
// requests to one model in silence (OLLAMA_NUM_PARALLEL is 1), so it is a long one.
func (p *Pulse) First() Limit {
	return Limit{p.limits.FirstByte, FirstByteTimeout,
		"the model server sent nothing for %v (setting first-byte-timeout): it may be busy with other requests, or hang"}
}

// UntilFirst returns the limit of the wait for a first record that may have to wait for the model
// to be loaded, too.
func (p *Pulse) UntilFirst() Limit {
	w := p.First()
	if w.limit > 0 && p.limits.Load > 0 {
		w.limit += p.limits.Load
		w.fault = "the model server sent nothing for %v (settings load-timeout and first-byte-timeout): it may be loading the model, busy with other requests, or hang"
	}
	return w
}

// Withheld returns the limit of the wait for the next record of a server that may hold a call back
// until it is whole. From outside, that cannot be told from a server that reads the prompt, so it
// is as long as the wait for a first record.
func (p *Pulse) Withheld() Limit {
	w := p.UntilFirst()
	w.code, w.fault = idleTimeout,
		"the model server sent nothing for %v in the middle of its reply (settings load-timeout and first-byte-timeout, since it may hold a call back)"
	return w
}

// Later returns the limit of the wait for the next record of a server that sends each token: two
// minutes are far more than any server takes for a token.
func (p *Pulse) Later() Limit {
	return Limit{p.limits.Idle, idleTimeout,
		"the model server stopped in the middle of its reply and sent nothing for %v (setting idle-timeout)"}
}

// ModelLoading is the code for a server that is still loading its model: a llama-server says 503
// until then. The wait may be as long as a load, not as long as a busy server.
const ModelLoading = "model_loading"

// Timeouts are the limits of the waits for a silent model server. None of them limits a reply that
// keeps coming. A zero field means the default; a negative one means no limit (Beat: no
// heartbeats).
type Timeouts struct {
	// until the server has loaded the model and rendered the prompt; default 6 minutes (Ollama
	// itself gives up after 5)
	Load time.Duration
	// from then until the first record: queueing and reading the prompt; default 10 minutes
	FirstByte time.Duration
	// between two records of the raw text; default 2 minutes. A reply whose calls the server
	// withholds gets FirstByte instead
	Idle time.Duration
	// for a place at a server that says it is busy; default 1 minute, negative: the client is told
	// at once
	Queue time.Duration
	// how many requests may wait so for one server; default 64, negative: none
	Places int
	Beat   time.Duration // silence towards the client that a heartbeat ends; default 8 seconds
}

// orDefaults returns t with its zero fields filled. A heartbeat commits a stream: what fails after
// it is an event in the stream and not an HTTP status any more, so the first one is not sent at
// once. Hops between a client and this program cut connections that are silent for a minute, some
// sooner, so it is not sent late either.
func (t Timeouts) orDefaults() Timeouts {
	return Timeouts{
		Load:      cmp.Or(t.Load, 6*time.Minute),
		FirstByte: cmp.Or(t.FirstByte, 10*time.Minute),
		Idle:      cmp.Or(t.Idle, 2*time.Minute),
		Queue:     cmp.Or(t.Queue, time.Minute),
		Places:    cmp.Or(t.Places, 64),
		Beat:      cmp.Or(t.Beat, 8*time.Second),
	}
}

// After returns what is left of t once d of it has passed, for another attempt at the same request.
// At least a second is left: a server that is up answers within it that it is busy, or begins.
func (t Timeouts) After(d time.Duration) Timeouts {
	t = t.orDefaults()
	for _, limit := range []*time.Duration{&t.Load, &t.FirstByte, &t.Queue} {
		if *limit > 0 {
			*limit = max(*limit-d, time.Second)
		}
	}
	return t
}

// AsFault turns a failed request or read into a fault: the cause of a cancelled context, else an
// unreachable server (gone is the error text, with its address; it is empty if there was a
// connection).
func AsFault(ctx context.Context, gone string, err error) *fault.Error {
	var f *fault.Error
	switch {
	case errors.As(context.Cause(ctx), &f):
		return f
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded),
		errors.Is(err, context.DeadlineExceeded):
		return &fault.Error{Kind: fault.Timeout, Message: "the model server did not answer in time",
			Cause: err}
	case ctx.Err() != nil:
		return &fault.Error{Kind: fault.Canceled, Message: "the client went away", Cause: err}
	// net/http has no error value for it
	case strings.Contains(err.Error(), "response headers exceeded"):
		return &fault.Error{Kind: fault.Unable,
			Message: "what answers as the model server sends a header of more than 256 KiB: is the address right?", Cause: err}
	case gone == "":
		return &fault.Error{Kind: fault.Unavailable,
			Message: "the connection to the model server broke in the middle of the reply",
			Cause:   err}
	}
	return &fault.Error{Kind: fault.Unavailable, Message: gone, Cause: err}
}
