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

// openReply returns a reply in Ollama's form. In this form a call is always sent whole, so it can
// be corrected before it is sent. A reply without tools is streamed. If prompt is true, the client
// has sent a prompt and not a chat, and the reply's text is in the member response and not in a
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

// records is the common part of the two kinds of replies, whole and stream. It collects text,
// thinking and whole calls until they are written in a record. A record is a JSON object on one
// line. Text may be split over several records, but a call may not.
type records struct {
	form.Whole
	written int // the number of calls that are in a record
	probs   form.Logprobs
	prompt  bool // whether the text is in the member response and not in a message
}

// Event implements form.Reply. It collects an event. The arguments of a call are compacted, since a
// record is one line. It returns an error if they are not JSON.
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

// gathered returns how much was collected and is not in a record yet: the number of bytes of text
// and thinking, plus the number of calls.
func (r *records) gathered() int {
	return r.Reply.Text.Len() + r.Reply.Reasoning.Len() + len(r.unwritten())
}

// appendRecord appends one record: the text, thinking and calls that no record has yet, and the end
// of the reply if last is true. Text and thinking are then dropped. Calls are kept, since their ids
// and order matter until the end; only their number is noted.
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

// appendCalls appends the calls that are in no record yet. Each has an id and an index of its own,
// which older versions of Ollama leave out or repeat.
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

// unwritten returns the complete calls that are in no record yet.
func (r *records) unwritten() []chat.Call { return r.Reply.Complete()[r.written:] }

// appendEnd appends the reason for the end, the token counts, and the times in nanoseconds. Times
// that were not measured are left out. If a call never ended, the reason is "length", since the
// reply was cut, whatever the server says.
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

// stream writes a reply as records, one per line.
type stream struct {
	records
	w    *sse.Writer
	said bool      // whether a record was written
	last chat.Kind // the kind of what was collected: text after a call begins a new record
	tail form.Tail
}

var _ form.Reply = (*stream)(nil)

// Event implements form.Reply. It collects an event. If events of another kind were collected
// before, these are written as a record first. Each call gets its own record, as in Ollama. It
// returns an error if the arguments of a call are not JSON.
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

// settle stops waiting for the rest of an incomplete character, and adds U+FFFD in its place.
func (s *stream) settle() {
	if held := s.tail.Give(); held != "" {
		s.Reply.Add(chat.Event{Kind: s.last, Text: held})
	}
}

// record appends a record of the text and calls that were collected, if there are any.
func (s *stream) record() {
	if s.gathered() > 0 {
		s.said = true
		s.w.Buf = append(s.appendRecord(s.w.Buf, false), '\n')
	}
}

// Flush implements form.Reply. It sends the text and calls that were collected. It returns an error
// if the client cannot be written to.
func (s *stream) Flush() error {
	s.record()
	return s.w.Flush()
}

// Ping implements form.Reply. It sends a record without content, since this form has no comments.
// The record adds nothing to the client's text, and keeps the client waiting. It returns an error
// if the client cannot be written to.
func (s *stream) Ping(string) error {
	s.record()
	s.w.Buf = append(s.appendRecord(s.w.Buf, false), '\n')
	return s.w.Flush()
}

// Close implements form.Reply. It ends the stream with the last record, or with a record for the
// error. An error before the first byte is returned instead.
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

// whole collects a reply into one record, with the text, all calls and the end.
type whole struct{ records }

var _ form.Reply = (*whole)(nil)

// Close implements form.Reply. It writes the reply, or returns the error of a reply that failed.
func (w *whole) Close(err error) error {
	if err = w.Ended(err); err != nil {
		return err
	}
	return form.WriteJSON(w.Out.W, http.StatusOK, append(w.appendRecord(nil, true), '\n'))
}
