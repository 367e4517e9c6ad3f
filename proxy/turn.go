package proxy

import (
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/chat"
	"toolnorm/internal/fault"
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
}

// note takes from an event what the log wants.
func (t *turn) note(e chat.Event) {
	if t.first == 0 {
		t.first = time.Since(t.start)
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

// log writes the line.
func (t *turn) log(log zerolog.Logger, m *meter, err error) {
	level, status := zerolog.InfoLevel, m.status
	if err != nil {
		level = zerolog.WarnLevel
		f := fault.From(err)
		status = f.Status()
		if f.Kind == fault.Internal {
			level = zerolog.ErrorLevel
		}
	}
	log.WithLevel(level).
		Str("id", t.id).Str("model", t.model).Bool("stream", t.stream).
		Str("format", t.meta.Format).Str("strategy", t.meta.Strategy).
		Int("calls", t.calls).Strs("repairs", t.meta.Repairs).
		Int("prompt_tokens", t.count.Prompt).Int("completion_tokens", t.count.Completion).
		Dur("ttft_ms", t.first).Dur("total_ms", time.Since(t.start)).
		Int("status", status).Int64("bytes", m.bytes).Err(cause(err)).
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
