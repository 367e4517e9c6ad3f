package exchange

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"
	otel "go.opentelemetry.io/otel/trace"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/trace"
	"toolnorm/proxy/form"
)

// Record collects what the log line and the trace say of one exchange: never a prompt, a reply or a
// key, unless the trace is told to keep what was said. It is filled by one goroutine, that of the
// request, and read when the request has ended.
type Record struct {
	// The fields that every event needs come first, next to each other.
	first  time.Duration   // from start to the first event; 0: none came
	kept   *trace.Exchange // nil: the exchange is not kept
	pieces bool            // of kept: what was said is kept, too

	firstCall time.Duration // from start to the first byte of a call; 0: none came

	Model string
	Meta  chat.Meta   // how the reply came about, from its Finish event
	Count chat.Counts // of tokens

	api    string // its name
	id     string
	start  time.Time
	stream bool
	calls  int
	real   string   // the model's name without the suffix that chooses the form; empty: as Model
	prompt int      // about how many tokens the prompt has; 0: not known yet
	notes  []string // what was done to the request, as in form.Out.Notes
	reason string   // the finish reason that the client was given; empty: the reply's own
}

// noted records what was done to the request.
func (x *Record) noted(word, text string) {
	x.notes = append(x.notes, strings.ToLower(word)+"="+text)
	if x.kept != nil {
		x.kept.Noted(word, text)
	}
}

// told returns the notes on what was done to the request so far.
func (x *Record) told() []string { return x.notes }

// promptTokens returns the engine's estimate of the prompt's tokens, or 0 if there is none yet.
func (x *Record) promptTokens() int { return x.prompt }

// finished records the finish reason that the client gets. The reason of a reply with calls
// is "stop" for the engine and "tool_calls" for the client; the log shows the client's.
func (x *Record) finished(reason string) { x.reason = reason }

// note records what the log and the trace need of an event. Counts may come twice, in a Usage event
// and with the end: the later counts are those of the whole reply.
func (x *Record) note(e chat.Event) {
	if x.first == 0 {
		x.first = time.Since(x.start)
	}
	if x.kept != nil {
		x.kept.Count(x.first)
	}
	switch e.Kind {
	case chat.Text, chat.Reasoning, chat.CallArgs:
		// Nearly all events are of these kinds, and they matter only if what was said is kept.
		if !x.pieces {
			return
		}
	}
	if x.kept != nil {
		x.kept.Event(&e)
	}
	switch e.Kind {
	case chat.CallStart:
		if x.firstCall == 0 {
			x.firstCall = time.Since(x.start)
		}
	case chat.CallEnd:
		x.calls++
	case chat.Usage, chat.Finish:
		if e.Meta == nil {
			return
		}
		if e.Kind == chat.Finish {
			x.Meta = *e.Meta
		}
		if e.Meta.Usage != nil {
			x.Count = *e.Meta.Usage
		}
	}
}

// trace begins to keep the exchange. It is not called for requests that are passed on, since those
// are not read here.
func (x *Record) trace(log *trace.Log, path string, stop func()) {
	if log != nil {
		x.kept = log.Begin(x.id, x.api, path, x.start)
		x.pieces = x.kept.Bodies != nil
		log.Show(x.kept, stop)
	}
}

// observer returns an Observer that notes how the reply is made: in its headers, in the log and in
// the exchange that is kept. Headers can be set until the first byte is sent; later notes reach the
// client as comments of its form.
func (x *Record) observer(h http.Header, client string, a *form.Ask,
	reply form.Reply) *chat.Observer {
	o := &chat.Observer{
		// A flush that fails fails again at the next event, and the client's context ends with it.
		Pulse: &chat.Pulse{Idle: func() { _ = reply.Flush() }, Beat: reply.Ping, Client: client},
		OnPlan: func(format, strategy string) {
			form.SetHeader(h, "Toolnorm-Format", format)
			form.SetHeader(h, "Toolnorm-Strategy", strategy)
			x.Meta.Format, x.Meta.Strategy = format, strategy
			if x.kept != nil {
				x.kept.Chosen(format, strategy)
			}
		},
		OnNote: func(word, text string) {
			form.SetHeader(h, "Toolnorm-"+word, text)
			x.noted(word, text)
		},
	}
	if x.kept != nil {
		x.kept.Asked(&a.Request, a.Stream)
		o.OnRepair, o.OnRendered = x.kept.Decided, x.kept.Prompted
		if x.pieces {
			o.OnGeneration = x.kept.Bodies.Heard
		}
	}
	return o
}

// keep adds the finished exchange to the log of exchanges, if there is one.
func (x *Record) keep(log *trace.Log, m *meter, err error) {
	if x.kept != nil {
		x.kept.Told(x.reason)
		x.kept.End(statusOf(m, err), cause(err), x.first, time.Since(x.start))
		log.Add(x.kept)
	}
}

// statusOf returns the status with which a request ended. An error counts even if it came after a
// status of success was sent.
func statusOf(m *meter, err error) int {
	if err != nil {
		return fault.From(err).Status()
	}
	return m.status
}

// log writes the line of the exchange. It is a warning if the client went away or its request was
// wrong, and an error only if the fault is ours, so that operators can watch for errors.
func (x *Record) log(ctx context.Context, log zerolog.Logger, m *meter, err error) {
	level := zerolog.InfoLevel
	if err != nil {
		level = zerolog.WarnLevel
		if fault.From(err).Kind == fault.Internal {
			level = zerolog.ErrorLevel
		}
	}
	line := log.WithLevel(level)
	if of := otel.SpanContextFromContext(ctx); of.HasTraceID() {
		line = line.Str("trace_id", of.TraceID().String())
	}
	line.Str("id", x.id).Str("model", x.Model).Bool("stream", x.stream).
		Str("format", x.Meta.Format).Str("strategy", x.Meta.Strategy).
		Int("calls", x.calls).Strs("repairs", x.Meta.Repairs).Strs("notes", x.notes).
		Int("prompt_tokens", x.Count.Prompt).Int("completion_tokens", x.Count.Completion).
		Dur("ttft_ms", x.first).Dur("total_ms", time.Since(x.start)).
		Int("status", statusOf(m, err)).Int64("bytes", m.bytes).Err(shortError(cause(err))).
		Msg(x.api)
}

// cause returns the part of err that the operator should read: the cause of its fault if there is
// one, else err itself; nil if err is nil. The message for the client says what to do; its cause
// may name hosts and files, and is for the log alone.
func cause(err error) error {
	if err == nil {
		return nil
	}
	if f := fault.From(err); f.Cause != nil {
		return f.Cause
	}
	return err
}

// shortError returns an error whose text is short enough for a line. A broken server may answer
// with kilobytes of text.
func shortError(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(fault.Short(err.Error()))
}

// meter counts what is written to a client. The status of a stream is 200 long before it can fail,
// so the log looks at the error as well: see statusOf.
type meter struct {
	http.ResponseWriter
	status int // 0: nothing was written
	bytes  int64
}

// WriteHeader records the status and writes it.
func (m *meter) WriteHeader(status int) {
	m.status = status
	m.ResponseWriter.WriteHeader(status)
}

// Write counts bytes. If a handler never sets a status, the status is 200, as in net/http.
func (m *meter) Write(b []byte) (int, error) {
	if m.status == 0 {
		m.status = http.StatusOK
	}
	n, err := m.ResponseWriter.Write(b)
	m.bytes += int64(n)
	return n, err
}

// Unwrap returns the underlying writer, for http.ResponseController, which flushes and sets
// deadlines.
func (m *meter) Unwrap() http.ResponseWriter { return m.ResponseWriter }
