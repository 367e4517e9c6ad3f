package wait

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"toolnorm/internal/fault"
)

// Limit is the limit of one kind of wait. It says how long the wait may last, and which error the
// client gets if it lasts longer. The error names the setting, since what is too long differs from
// machine to machine.
type Limit struct {
	limit time.Duration // not positive: no limit
	code  string        // code of the fault.Timeout
	fault string        // its message, with a verb for the limit
}

// FirstByteTimeout is the code of the error of a wait for a first record. By this code the engine
// recognizes a model that may hang.
const FirstByteTimeout = "first_byte_timeout"

// The codes of the errors of other waits.
const (
	loadTimeout = "load_timeout"
	idleTimeout = "idle_timeout"
)

// Loading returns the limit of the wait for a rendered prompt. This wait may include loading the
// model, because Ollama loads the model even for a rendering.
func (p *Pulse) Loading() Limit {
	return Limit{p.limits.Load, loadTimeout,
		"the model server did not load the model within %v (setting load-timeout)"}
}

// First returns the limit of the wait for the first record of a model that is loaded. It is a long
// one, because Ollama queues requests to one model in silence (OLLAMA_NUM_PARALLEL is 1).
func (p *Pulse) First() Limit {
	return Limit{p.limits.FirstByte, FirstByteTimeout,
		"the model server sent nothing for %v (setting first-byte-timeout): it may be busy with other requests, or hang"}
}

// UntilFirst returns the limit of the wait for a first record if the model may have to be loaded,
// too.
func (p *Pulse) UntilFirst() Limit {
	w := p.First()
	if w.limit > 0 && p.limits.Load > 0 {
		w.limit += p.limits.Load
		w.fault = "the model server sent nothing for %v (settings load-timeout and first-byte-timeout): it may be loading the model, busy with other requests, or hang"
	}
	return w
}

// Withheld returns the limit of the wait for the next record of a server that may hold a call back
// until the call is whole. Such silence looks the same as that of a server that reads a prompt, so
// the limit is as long as for a first record.
func (p *Pulse) Withheld() Limit {
	w := p.UntilFirst()
	w.code, w.fault = idleTimeout,
		"the model server sent nothing for %v in the middle of its reply (settings load-timeout and first-byte-timeout, since it may hold a call back)"
	return w
}

// Later returns the limit of the wait for the next record of a server that sends each token. The
// default of two minutes is far more than any server takes for a token.
func (p *Pulse) Later() Limit {
	return Limit{p.limits.Idle, idleTimeout,
		"the model server stopped in the middle of its reply and sent nothing for %v (setting idle-timeout)"}
}

// ModelLoading is the code for a server that is still loading its model. For example, a
// llama-server says 503 until then. The wait may be as long as for loading, and not only as long as
// for a busy server.
const ModelLoading = "model_loading"

// Timeouts are the limits of the waits for a silent model server. None of them limits a reply that
// keeps coming. A zero field means the default, and a negative duration means no limit. With Queue
// or Places negative, requests do not wait for a busy server. With Beat negative, no keep-alives
// are sent.
type Timeouts struct {
	// until the server has loaded the model and rendered the prompt; default 6 minutes (Ollama
	// itself gives up after 5)
	Load time.Duration
	// from then until the first record: queueing and reading the prompt; default 10 minutes
	FirstByte time.Duration
	// between two records of the raw text; default 2 minutes. A reply whose calls the server
	// withholds gets FirstByte instead
	Idle time.Duration
	// for a place at a server that says it is busy; default 1 minute, negative: the client gets the
	// error at once
	Queue time.Duration
	// how many requests may wait in this way for one server; default 64, negative: none
	Places int
	// how long the client may receive nothing before a keep-alive; default 8 seconds
	Beat time.Duration
}

// orDefaults returns t with defaults in place of zero fields. The default of Beat is not short,
// because after a keep-alive an error can no longer be an HTTP status, but only an event in the
// stream. It is not long either, because proxies between a client and this program cut connections
// that are silent for a minute, some sooner.
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

// After returns t reduced by the duration d that has passed, for another attempt at the same
// request. At least a second is left, because within a second a server that is up begins its reply,
// or answers that it is busy.
func (t Timeouts) After(d time.Duration) Timeouts {
	t = t.orDefaults()
	for _, limit := range []*time.Duration{&t.Load, &t.FirstByte, &t.Queue} {
		if *limit > 0 {
			*limit = max(*limit-d, time.Second)
		}
	}
	return t
}

// AsFault returns the fault for a failed request or read. If the context was cancelled with a fault
// as its cause, it returns that fault. Otherwise the fault says that the time is over, that the
// client has left, that the connection broke, or that the server cannot be reached. The parameter
// gone is the message for a server that cannot be reached, with its address, or empty if there was
// a connection.
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
