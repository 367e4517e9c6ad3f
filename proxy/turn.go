package proxy

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/trace"
)

// turn is what the log says of one request: never a prompt, a reply or a key.
type turn struct {
	question string // its form
	start    time.Time
	first    time.Duration // from start to the first event; 0: none came
	id       string
	model    string
	stream   bool
	calls    int
	meta     chat.Meta
	count    chat.Counts
	notes    []string        // what was done to the request, as in Out.Notes
	reason   string          // that the client was told for the end; empty: that of the reply
	kept     *trace.Exchange // nil: nothing is kept of it
}

// noted takes note of what was done to the request.
func (t *turn) noted(word, text string) {
	t.notes = append(t.notes, strings.ToLower(word)+"="+text)
	if t.kept != nil {
		t.kept.Noted(word, text)
	}
}

// told is what was done to the request so far.
func (t *turn) told() []string { return t.notes }

// finished takes note of the reason that the client is told for the end.
func (t *turn) finished(reason string) { t.reason = reason }

// note takes from an event what the log wants.
func (t *turn) note(e chat.Event) {
	if t.first == 0 {
		t.first = time.Since(t.start)
	}
	if t.kept != nil {
		t.kept.Event(&e)
	}
	switch e.Kind {
	case chat.CallEnd:
		t.calls++
	case chat.Usage, chat.Finish:
		if e.Meta == nil {
			return
		}
		if e.Kind == chat.Finish {
			t.meta = *e.Meta
		}
		if e.Meta.Usage != nil {
			t.count = *e.Meta.Usage
		}
	}
}

// trace begins to keep the exchange.
func (t *turn) trace(log *trace.Log, path string) {
	if log != nil {
		t.kept = log.Begin(t.id, t.question, path, t.start)
	}
}

// observer notes how the reply comes about in its headers, in the log and in the exchange that is kept.
func (t *turn) observer(h http.Header, a *Ask, reply Reply) *chat.Observer {
	o := &chat.Observer{
		// A flush that fails fails again at the next event, and the client's context ends with it.
		Pulse: &chat.Pulse{Idle: func() { _ = reply.Flush() }, Beat: reply.Ping},
		OnPlan: func(format, strategy string) {
			setSafe(h, "Toolnorm-Format", format)
			setSafe(h, "Toolnorm-Strategy", strategy)
			t.meta.Format, t.meta.Strategy = format, strategy
			if t.kept != nil {
				t.kept.Chosen(format, strategy)
			}
		},
		OnNote: func(word, text string) {
			setSafe(h, "Toolnorm-"+word, text)
			t.noted(word, text)
		},
	}
	if t.kept != nil {
		t.kept.Asked(&a.Request, a.Stream)
		if t.kept.Bodies != nil {
			o.OnGeneration = t.kept.Bodies.Heard
		}
	}
	return o
}

// keep ends the exchange.
func (t *turn) keep(log *trace.Log, m *meter, err error) {
	if t.kept != nil {
		if t.reason != "" && t.kept.Finish != "" {
			t.kept.Finish = t.reason
		}
		t.kept.End(statusOf(m, err), cause(err), t.first, time.Since(t.start))
		log.Add(t.kept)
	}
}

// statusOf is how a request ended: an error counts also when it came behind a status that was good.
func statusOf(m *meter, err error) int {
	if err != nil {
		return fault.From(err).Status()
	}
	return m.status
}

// log writes the line.
func (t *turn) log(log zerolog.Logger, m *meter, err error) {
	level := zerolog.InfoLevel
	if err != nil {
		level = zerolog.WarnLevel
		if fault.From(err).Kind == fault.Internal {
			level = zerolog.ErrorLevel
		}
	}
	log.WithLevel(level).
		Str("id", t.id).Str("model", t.model).Bool("stream", t.stream).
		Str("format", t.meta.Format).Str("strategy", t.meta.Strategy).
		Int("calls", t.calls).Strs("repairs", t.meta.Repairs).Strs("notes", t.notes).
		Int("prompt_tokens", t.count.Prompt).Int("completion_tokens", t.count.Completion).
		Dur("ttft_ms", t.first).Dur("total_ms", time.Since(t.start)).
		Int("status", statusOf(m, err)).Int64("bytes", m.bytes).Err(shortened(cause(err))).
		Msg(t.question)
}

// cause is what the operator should read of err: the innermost sentence we know, or nil.
func cause(err error) error {
	if err == nil {
		return nil
	}
	if f := fault.From(err); f.Cause != nil {
		return f.Cause
	}
	return err
}

// shortened is an error whose text is fit for a line.
func shortened(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(fault.Short(err.Error()))
}

// meter counts what is written to a client.
type meter struct {
	http.ResponseWriter
	status int // 0: nothing was written
	bytes  int64
}

// WriteHeader takes note of the status.
func (m *meter) WriteHeader(status int) {
	m.status = status
	m.ResponseWriter.WriteHeader(status)
}

// Write counts bytes.
func (m *meter) Write(b []byte) (int, error) {
	if m.status == 0 {
		m.status = http.StatusOK
	}
	n, err := m.ResponseWriter.Write(b)
	m.bytes += int64(n)
	return n, err
}

// Unwrap gives http.ResponseController the writer that can flush and hold deadlines.
func (m *meter) Unwrap() http.ResponseWriter { return m.ResponseWriter }
