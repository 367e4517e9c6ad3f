package proxy

import (
	"net/http"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
)

// nativeStream writes a reply as records, one a line.
type nativeStream struct {
	native
	w    *sse.Writer
	last chat.Kind // of what has gathered: text behind a call is another record
	tail string    // a character that is not complete; under four bytes
}

var _ Reply = (*nativeStream)(nil)

// Event gathers one event, behind a record of what came before it in another kind.
func (s *nativeStream) Event(e chat.Event) error {
	if e.Kind == chat.CallStart || e.Kind != s.last && e.Kind != chat.CallArgs && e.Kind != chat.CallEnd {
		s.settle()
		s.record()
		s.last = e.Kind
	}
	if e.Kind == chat.Text || e.Kind == chat.Reasoning {
		e.Text = s.tail + e.Text
		n := wholeRunes(e.Text)
		e.Text, s.tail = e.Text[:n], strings.Clone(e.Text[n:])
	}
	return s.native.Event(e)
}

// settle gives up waiting for the rest of a character.
func (s *nativeStream) settle() {
	if s.tail != "" {
		_ = s.native.Event(chat.Event{Kind: s.last, Text: s.tail}) // gathering cannot fail
		s.tail = ""
	}
}

// record appends a record of what has gathered, if anything has.
func (s *nativeStream) record() {
	if s.gathered() > 0 {
		s.said = true
		s.w.Buf = append(s.appendRecord(s.w.Buf, false), '\n')
	}
}

// Flush sends what has gathered.
func (s *nativeStream) Flush() error {
	s.record()
	return s.w.Flush()
}

// Ping sends a record that says nothing: this form has no comments.
func (s *nativeStream) Ping() error {
	s.record()
	s.w.Buf = append(s.appendRecord(s.w.Buf, false), '\n')
	return s.w.Flush()
}

// Close ends the stream with the last record, or with one that tells the error.
func (s *nativeStream) Close(err error) error {
	s.settle()
	s.record()
	if err = s.finished(err); err != nil {
		if !s.w.Wrote() {
			return err
		}
		s.w.Buf = append(append(s.w.Buf, fault.Ollama(err)...), '\n')
		return s.w.Flush()
	}
	s.w.Buf = append(s.appendRecord(s.w.Buf, true), '\n')
	return s.w.Flush()
}

// nativeWhole collects a reply into one record.
type nativeWhole struct {
	native
}

var _ Reply = (*nativeWhole)(nil)

// Flush does nothing: a whole reply has no pieces.
func (w *nativeWhole) Flush() error { return nil }

// Ping does nothing: the status is not known before the end.
func (w *nativeWhole) Ping() error { return nil }

// Close writes the reply, or returns err for the caller to answer.
func (w *nativeWhole) Close(err error) error {
	w.said = w.gathered() > 0
	if err = w.finished(err); err != nil {
		return err
	}
	return writeJSON(w.out.W, http.StatusOK, append(w.appendRecord(nil, true), '\n'))
}
