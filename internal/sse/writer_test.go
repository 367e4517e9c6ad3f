package sse

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

func TestNothingIsSentBeforeTheFirstFlush(t *testing.T) {
	rec := httptest.NewRecorder()
	w := NewWriter(rec, time.Second)
	w.Buf = append(w.Buf, "data: 1\n\n"...)
	w.Comment("keep-alive")
	if w.Wrote() || rec.Body.Len() > 0 || len(rec.Header()) > 0 {
		t.Errorf("sent %q %v before a flush", rec.Body, rec.Header())
	}
	for range 2 { // the second has nothing to send
		must.OK(t, w.Flush())
	}
	if got, want := rec.Body.String(), "data: 1\n\n: keep-alive\n\n"; got != want || !w.Wrote() || !rec.Flushed {
		t.Errorf("sent %q, flushed %v, want %q", got, rec.Flushed, want)
	}
	if got := rec.Header().Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("Content-Type %q", got)
	}
}

// broken is a client that is gone.
type broken struct{ writes int }

var errGone = errors.New("gone")

func (b *broken) Header() http.Header       { return http.Header{} }
func (b *broken) WriteHeader(int)           {}
func (b *broken) Write([]byte) (int, error) { b.writes++; return 0, errGone }

func TestTheFirstErrorStays(t *testing.T) {
	b := &broken{}
	w := NewWriter(b, 0)
	for range 3 {
		w.Comment("keep-alive")
		if err := w.Flush(); !errors.Is(err, errGone) {
			t.Errorf("Flush: %v, want %v", err, errGone)
		}
	}
	if b.writes != 1 {
		t.Errorf("%d writes to a client that is gone, want 1", b.writes)
	}
}

func TestTheDeadlineMovesCoarsely(t *testing.T) {
	d := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	w := NewWriter(d, time.Hour)
	for range 100 {
		w.Comment("x")
		must.OK(t, w.Flush())
	}
	if d.set != 1 {
		t.Errorf("the deadline was set %d times in a moment, want once", d.set)
	}
}

// deadlines counts how often the write deadline is set.
type deadlines struct {
	*httptest.ResponseRecorder
	set int
}

func (d *deadlines) SetWriteDeadline(time.Time) error { d.set++; return nil }
