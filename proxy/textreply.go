package proxy

import (
	"net/http"
	"strconv"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/sse"
)

// openText opens the reply to a completions request. It may be empty: where a text is whole there is nothing to add.
func openText(_ http.Header, a *Ask, out Out) (Reply, error) {
	b := append([]byte(nil), `{"id":`...)
	b = appendQuoted(b, out.ID)
	b = append(b, `,"object":"text_completion","created":`...)
	b = strconv.AppendInt(b, out.Created.Unix(), 10)
	b = append(b, `,"model":`...)
	b = appendQuoted(b, a.Model)
	b = append(b, `,"choices":[`...)
	if a.Stream {
		return &textStream{out: sse.NewWriter(out.W, out.Stall), head: string(b), usage: a.Usage}, nil
	}
	return &textWhole{out: out, head: string(b)}, nil
}

// textEnd is what is known at the end of a completion.
type textEnd struct {
	reason string // empty: the Finish event has not come
	count  chat.Counts
}

// note takes from an event what the end wants.
func (t *textEnd) note(e chat.Event) {
	if e.Kind == chat.Finish {
		t.reason = e.Text
	}
	if e.Meta != nil && e.Meta.Usage != nil {
		t.count = *e.Meta.Usage
	}
}

// appendText appends the one choice of a completion. No reason is null.
func appendText(b []byte, text, reason string) []byte {
	b = append(b, `{"text":`...)
	b = appendQuoted(b, text)
	b = append(b, `,"index":0,"logprobs":null,"finish_reason":`...)
	b = appendOrNull(b, reason)
	return append(b, '}')
}

// textStream writes a completion as chunks. As in a stream of chat chunks, the last one in the buffer stays open, so
// fragments that arrive together leave together.
type textStream struct {
	textEnd
	out   *sse.Writer
	head  string // of each chunk, up to `"choices":[`
	usage bool   // the client wants tokens counted
	open  bool   // the last chunk still lacks its end
	tail  string // the begun character at its end; under four bytes
}

var _ Reply = (*textStream)(nil)

// Event takes the next event. A model's thinking has no place in this form.
func (s *textStream) Event(e chat.Event) error {
	s.note(e)
	if e.Kind != chat.Text {
		return nil
	}
	text := s.tail + e.Text
	n := wholeRunes(text)
	s.tail = strings.Clone(text[n:])
	s.append(text[:n])
	if len(s.out.Buf) > batch {
		return s.Flush()
	}
	return nil
}

// append writes whole characters into the open chunk, or into a new one.
func (s *textStream) append(text string) {
	if text == "" {
		return
	}
	if !s.open {
		s.open = true
		s.out.Buf = append(append(append(s.out.Buf, "data: "...), s.head...), `{"text":"`...)
	}
	s.out.Buf = appendEscaped(s.out.Buf, text)
}

// closeChunk ends the open chunk.
func (s *textStream) closeChunk() {
	if s.open {
		s.open = false
		s.out.Buf = append(s.out.Buf, `","index":0,"logprobs":null,"finish_reason":null}]}`+"\n\n"...)
	}
}

// Flush sends what has gathered.
func (s *textStream) Flush() error {
	s.closeChunk()
	return s.out.Flush()
}

// Ping sends a comment.
func (s *textStream) Ping() error {
	s.closeChunk()
	s.out.Comment("keep-alive")
	return s.out.Flush()
}

// Close ends the stream: with the reason, the counts if they are wanted, and [DONE]; or with an error.
func (s *textStream) Close(err error) error {
	if err == nil && s.reason == "" {
		err = errUnfinished()
	}
	if err != nil && !s.out.Wrote() {
		return err
	}
	s.append(s.tail) // a character that was never completed becomes U+FFFD
	s.closeChunk()
	if err != nil {
		return failStream(s.out, err)
	}
	b := append(append(s.out.Buf, "data: "...), s.head...)
	b = append(appendText(b, "", s.reason), "]}\n\n"...)
	if s.usage {
		b = append(append(b, "data: "...), s.head...)
		b = append(appendCounts(append(b, `],"usage":`...), s.count), "}\n\n"...)
	}
	s.out.Buf = b
	return endStream(s.out)
}

// textWhole collects a completion.
type textWhole struct {
	textEnd
	out  Out
	head string
	text strings.Builder
}

var _ Reply = (*textWhole)(nil)

// Event collects one event.
func (w *textWhole) Event(e chat.Event) error {
	w.note(e)
	if e.Kind == chat.Text {
		w.text.WriteString(e.Text)
	}
	return nil
}

// Flush does nothing: a whole reply has no pieces.
func (w *textWhole) Flush() error { return nil }

// Ping does nothing: the status is not known before the end.
func (w *textWhole) Ping() error { return nil }

// Close writes the reply, or returns err for the caller to answer.
func (w *textWhole) Close(err error) error {
	if err == nil && w.reason == "" {
		err = errUnfinished()
	}
	if err != nil {
		return err
	}
	b := appendText([]byte(w.head), w.text.String(), w.reason)
	b = appendCounts(append(b, `],"usage":`...), w.count)
	return writeJSON(w.out.W, http.StatusOK, append(b, "}\n"...))
}
