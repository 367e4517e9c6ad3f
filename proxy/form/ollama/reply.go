package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
	"toolnorm/proxy/form"
)

// open opens a reply in Ollama's form. There a call always comes whole, so it can be corrected
// before it is sent. A reply without tools is streamed.
func open(_ http.Header, a *form.Ask, out form.Out) (form.Reply, error) {
	return openReply(a, out, false), nil
}

// openReply opens a reply. If prompt is true, the text is in the member response and not in a
// message.
func openReply(a *form.Ask, out form.Out, prompt bool) form.Reply {
	if !a.Stream || len(a.Tools) > 0 {
		a.Hold = adapters.HoldCall
	}
	base := records{Whole: form.Whole{Out: out, Model: a.Model, MayBeEmpty: len(a.Stop) > 0},
		probs: form.Logprobs{Wanted: a.Logprobs}, prompt: prompt}
	if !a.Stream {
		return &whole{base}
	}
	w := sse.NewWriter(out.W, out.Stall)
	w.Type = "application/x-ndjson"
	return &stream{records: base, w: w}
}

// records is the common part of a whole reply and a stream: it gathers text, thinking and whole
// calls until they are written in a record. A record is a JSON object on one line. Text may be
// split over several records, but a call may not.
type records struct {
	form.Whole
	written int // calls
	probs   form.Logprobs
	prompt  bool // the text is the member response, and not a message's
}

// Event gathers one event. Arguments become one line, since a record is one line.
func (r *records) Event(e chat.Event) error {
	if e.Kind == chat.Text || e.Kind == chat.Finish {
		r.probs.Note(e.Meta)
	}
	if !r.Reply.Add(e) {
		return nil
	}
	last := &r.Reply.Calls[len(r.Reply.Calls)-1]
	var args bytes.Buffer
	if err := json.Compact(&args, last.Args); err != nil {
		return fmt.Errorf("arguments of %s: %w", last.Name, err)
	}
	last.Args = args.Bytes()
	return nil
}

// gathered returns how much has not been written to a record yet: bytes of text, and calls.
func (r *records) gathered() int {
	return r.Reply.Text.Len() + r.Reply.Reasoning.Len() + len(r.unwritten())
}

// appendRecord appends a record of what has gathered, and its end if it is the last one. Text and
// thinking are then forgotten. Calls are kept and only counted as written, since their ids and
// order matter until the end.
func (r *records) appendRecord(b []byte, last bool) []byte {
	b = chat.AppendQuoted(append(b, `{"model":`...), r.Model)
	b = append(b, `,"created_at":"`...)
	b = time.Now().UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, map[bool]string{false: `","message":{"role":"assistant","content":`,
		true: `","response":`}[r.prompt]...)
	b = chat.AppendQuoted(b, r.Reply.Text.String())
	if r.Reply.Reasoning.Len() > 0 {
		b = chat.AppendQuoted(append(b, `,"thinking":`...), r.Reply.Reasoning.String())
	}
	b = r.appendCalls(b)
	r.Reply.Text.Reset()
	r.Reply.Reasoning.Reset()
	if !r.prompt {
		b = append(b, '}')
	}
	if r.probs.Any() {
		b = r.probs.Append(append(b, `,"logprobs":`...))
	}
	if last {
		return r.appendEnd(append(b, `,"done":true,"done_reason":`...))
	}
	return append(b, `,"done":false}`...)
}

// appendCalls appends the calls that no record has yet.
// Each call has an id and an index of its own, which older versions of Ollama leave out or repeat.
func (r *records) appendCalls(b []byte) []byte {
	calls := r.unwritten()
	for i, c := range calls {
		b = append(b, []string{`,"tool_calls":[`, `,`}[min(i, 1)]...)
		b = chat.AppendQuoted(append(b, `{"id":`...), c.ID)
		b = strconv.AppendInt(append(b, `,"function":{"index":`...), int64(r.written), 10)
		b = chat.AppendQuoted(append(b, `,"name":`...), c.Name)
		b = append(append(append(b, `,"arguments":`...), c.Args...), "}}"...)
		r.written++
	}
	if len(calls) > 0 {
		b = append(b, ']')
	}
	return b
}

// unwritten lists the complete calls that no record has yet.
func (r *records) unwritten() []chat.Call { return r.Reply.Complete()[r.written:] }

// appendEnd appends the reason, the counts and the times, in nanoseconds. Times that were not
// measured are left out. A call that never ended was cut, whatever the server says, so the reason
// is "length".
func (r *records) appendEnd(b []byte) []byte {
	reason := r.Reply.End.Text
	if r.Reply.Open {
		reason = chat.Length
	}
	b = chat.AppendQuoted(b, reason)
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"total_duration", int64(time.Since(r.Out.Created))},
		{"load_duration", int64(r.Reply.Times.Load)},
		{"prompt_eval_count", int64(r.Reply.Usage.Prompt)},
		{"prompt_eval_cached_count", int64(r.Reply.Usage.Cached)},
		{"prompt_eval_duration", int64(r.Reply.Times.Prompt)},
		{"eval_count", int64(r.Reply.Usage.Completion)},
		{"eval_duration", int64(r.Reply.Times.Completion)},
	} {
		if f.value > 0 {
			b = append(append(append(b, `,"`...), f.name...), `":`...)
			b = strconv.AppendInt(b, f.value, 10)
		}
	}
	return append(b, '}')
}

// stream writes a reply as records, one a line.
type stream struct {
	records
	w    *sse.Writer
	said bool      // something was written
	last chat.Kind // kind of what has gathered: text after a call begins another record
	tail form.Tail
}

var _ form.Reply = (*stream)(nil)

// Event gathers one event. If what has gathered before is of another kind, it is written as a
// record first. Each call gets its own record, as in Ollama.
func (s *stream) Event(e chat.Event) error {
	if e.Kind == chat.CallStart || e.Kind != s.last && e.Kind != chat.CallArgs &&
		e.Kind != chat.CallEnd {
		s.settle()
		s.record()
		s.last = e.Kind
	}
	if e.Kind == chat.Text || e.Kind == chat.Reasoning {
		e.Text = s.tail.Join(e.Text)
	}
	return s.records.Event(e)
}

// settle gives up waiting for the rest of a character. It comes out as U+FFFD.
func (s *stream) settle() {
	if held := s.tail.Give(); held != "" {
		s.Reply.Add(chat.Event{Kind: s.last, Text: held})
	}
}

// record appends a record of what has gathered, if anything has.
func (s *stream) record() {
	if s.gathered() > 0 {
		s.said = true
		s.w.Buf = append(s.appendRecord(s.w.Buf, false), '\n')
	}
}

// Flush sends what has gathered.
func (s *stream) Flush() error {
	s.record()
	return s.w.Flush()
}

// Ping sends a record without content, since this form has no comments. It adds nothing to the
// client's text, and keeps the client waiting.
func (s *stream) Ping(string) error {
	s.record()
	s.w.Buf = append(s.appendRecord(s.w.Buf, false), '\n')
	return s.w.Flush()
}

// Close ends the stream with the last record, or with a record that holds the error.
func (s *stream) Close(err error) error {
	s.settle()
	s.record()
	s.MayBeEmpty = s.MayBeEmpty || s.said // what was written has been taken out of the collector
	if err = s.Ended(err); err != nil {
		if !s.w.Wrote() {
			return err
		}
		s.w.Buf = append(append(s.w.Buf, fault.Ollama(err)...), '\n')
		return s.w.Flush()
	}
	s.w.Buf = append(s.appendRecord(s.w.Buf, true), '\n')
	return s.w.Flush()
}

// whole collects a reply into one record, with all calls, the text and the end.
type whole struct{ records }

var _ form.Reply = (*whole)(nil)

// Close writes the reply, or returns err for the caller to answer.
func (w *whole) Close(err error) error {
	if err = w.Ended(err); err != nil {
		return err
	}
	return form.WriteJSON(w.Out.W, http.StatusOK, append(w.appendRecord(nil, true), '\n'))
}
