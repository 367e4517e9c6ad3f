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

// Record collects data of one exchange for the log and the trace. It never has a prompt, a reply or
// a key, unless the trace records texts. Only the goroutine of the request writes it, and it is
// read when the request has ended.
type Record struct {
	// The fields that are used for every event come first, next to each other.
	first  time.Duration   // from start to the first event; 0: none came
	kept   *trace.Exchange // nil: the trace does not record the exchange
	pieces bool            // whether kept records the texts, too

	firstCall time.Duration // from start to the first byte of a call; 0: there was none

	Model string
	Meta  chat.Meta   // how the reply was made, from its Finish event
	Count chat.Counts // of tokens

	api    string // the name of the API
	id     string
	start  time.Time
	stream bool
	calls  int
	real   string   // the model's name without the suffix that chooses the form; empty: as Model
	prompt int      // an estimate of the prompt's tokens; 0: not known yet
	notes  []string // what was done to the request, as in form.Out.Notes
	// the finish reason that the client got, which the log shows; empty: that of the reply. For a
	// reply with calls they differ: "tool_calls" and not "stop"
	reason string
}

// noted records a note about a change to the request: a word for the kind of change, such as
// "Trimmed", and a sentence.
func (x *Record) noted(word, text string) {
	x.notes = append(x.notes, strings.ToLower(word)+"="+text)
	if x.kept != nil {
		x.kept.Noted(word, text)
	}
}

// note records the parts of an event that the log and the trace need. Token counts may come twice,
// in a Usage event and at the end. The later ones are used, since they are those of the whole
// reply.
func (x *Record) note(e chat.Event) {
	if x.first == 0 {
		x.first = time.Since(x.start)
	}
	if x.kept != nil {
		x.kept.Count(x.first)
	}
	switch e.Kind {
	case chat.Text, chat.Reasoning, chat.CallArgs:
		// Nearly all events are of these kinds, which matter only if texts are recorded.
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

// trace begins to record the exchange, if there is a log of exchanges. The log calls the function
// stop to end the request. trace is not called for requests that are passed on unread.
func (x *Record) trace(log *trace.Log, path string, stop func()) {
	if log != nil {
		x.kept = log.Begin(x.id, x.api, path, x.start)
		x.pieces = x.kept.Bodies != nil
		log.Show(x.kept, stop)
	}
}

// observer returns an Observer that notes how the reply is made: in the reply's headers, in the
// log, and in the recorded exchange. Headers can be set until the first byte is sent. Later notes
// reach the client as comments in the reply.
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

// keep ends the record of the exchange and adds it to the log of exchanges. It does nothing if the
// exchange is not recorded.
func (x *Record) keep(log *trace.Log, m *meter, err error) {
	if x.kept != nil {
		x.kept.Told(x.reason)
		x.kept.End(statusOf(m, err), cause(err), x.first, time.Since(x.start))
		log.Add(x.kept)
	}
}

// statusOf returns the status with which a request ended. If err is not nil, this is the status of
// the error, even if a status of success was sent before.
func statusOf(m *meter, err error) int {
	if err != nil {
		return fault.From(err).Status()
	}
	return m.status
}

// log writes the exchange's line in the log. Its level is "warn" if the client went away or its
// request was wrong, and "error" only for an internal fault, so that operators can watch for
// errors.
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

// cause returns the error that the log shows for err. The message of a fault.Error is for the
// client, and its field Cause, which may name hosts and files, is only for the log. If err is or
// wraps a fault.Error that has a Cause, cause returns that Cause. Otherwise it returns err itself,
// or nil if err is nil.
func cause(err error) error {
	if err == nil {
		return nil
	}
	if f := fault.From(err); f.Cause != nil {
		return f.Cause
	}
	return err
}

// shortError returns err with a text that is short enough for a log line, because a broken server
// may answer with kilobytes of text. It returns nil if err is nil.
func shortError(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(fault.Short(err.Error()))
}

// meter is a ResponseWriter that records the status and counts the bytes that are sent to a client.
// A stream sends its status of 200 long before it can fail, so the log also looks at the error (see
// statusOf).
type meter struct {
	http.ResponseWriter
	status int // 0: nothing has been written
	bytes  int64
}

// WriteHeader implements http.ResponseWriter and records the status.
func (m *meter) WriteHeader(status int) {
	m.status = status
	m.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer and counts the bytes. If no status was set before, it is 200, as in
// net/http. It returns an error if the client cannot be written to.
func (m *meter) Write(b []byte) (int, error) {
	if m.status == 0 {
		m.status = http.StatusOK
	}
	n, err := m.ResponseWriter.Write(b)
	m.bytes += int64(n)
	return n, err
}

// Unwrap returns the underlying writer, by which http.ResponseController flushes and sets
// deadlines.
func (m *meter) Unwrap() http.ResponseWriter { return m.ResponseWriter }
