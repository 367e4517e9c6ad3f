package ollama

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// repeatLimit is how often Ollama lets a model write the same token in a row. It gives up at the
// 31st, ignoring white space around tokens. Versions 0.17 and 0.24 then end the stream silently,
// without an error or a final record, and 0.34 says "token repeat limit reached".
const repeatLimit = 30

// stream reads the records of /api/chat or /api/generate. It implements chat.Source, and does not
// keep the reply.
type stream struct {
	upstream.Stream
	tap   *tap   // nil: the reply as the server has parsed it is passed on
	plain []byte // the text of the last plain record

	calls int             // number of calls begun so far
	probs *upstream.Probs // nil: probabilities are not wanted
	last  []byte          // the last token, trimmed
	// how often it came in a row; from repeatLimit on, the server may end the stream without a
	// final record
	repeat int
}

var _ chat.Source = (*stream)(nil)

// read queues the events of the next record. An error ends the stream after these events, and is
// io.EOF for a proper end. Half a record at the end means that the reply was cut, but the last line
// may lack its newline.
func (s *stream) read() error {
	line, whole, err := s.Scratch.Next()
	if err != nil {
		return s.ended(err)
	}
	// Nearly every record of a raw reply is one of these. For tokens the whole record is needed.
	if s.tap == nil && s.probs == nil && s.plainText(line) {
		return nil
	}
	v, err := s.Scratch.Parse(line)
	switch {
	case err != nil && !whole:
		return s.ended(upstream.ErrCut)
	case err != nil:
		return fault.New(fault.Unavailable, "the model server sent a record that is no JSON: %w",
			err)
	}
	return s.record(v, line)
}

// plainText queues the text of a record that has no other content, and of such records after it
// that have already arrived, as one event. It never waits. It returns false for a record with other
// content.
//
// A server that is faster than this program fills the buffer with some thirty records. They become
// one event, so the cost of an event is paid once, not thirty times. A single token is still an
// event of its own.
func (s *stream) plainText(line []byte) bool {
	text, ok := quickText(s.plain[:0], line)
	if !ok {
		return false
	}
	for known := 0; ok; {
		s.plain = text
		s.repetition(text[known:])
		known = len(text)
		line = s.Scratch.Ahead()
		if text, ok = quickText(text, bytes.TrimSuffix(line, []byte("\n"))); ok {
			s.Scratch.Skip(len(line))
		}
	}
	if len(s.plain) > 0 {
		s.Queue = append(s.Queue, chat.Event{Kind: chat.Text, Text: s.Text.Of(s.plain)})
	}
	return true
}

// record queues the events of one record. The parameter line is the record's text, and v is the
// parsed record. An error record may come at any point, because after the first record the status
// 200 has already been sent. After the final record the returned error is io.EOF.
func (s *stream) record(v *fastjson.Value, line []byte) error {
	// {"error":"an error was encountered while running the model: CUDA error"}
	if e := upstream.ErrorIn(v); e != nil {
		return s.failed(e)
	}
	m := v.Get("message") // of /api/chat; /api/generate has its members at the top
	if m == nil {
		m = v
	}
	read := s.message
	if s.tap != nil {
		read = s.tapped
	}
	if err := read(v, m, line); err != nil {
		return err
	}
	if v.GetBool("done") {
		return s.finish(v)
	}
	return nil
}

// message queues the thinking, text and calls that the server has read from the model's text, in
// this order if a record has several. A call comes whole in one record, with empty content. It
// returns an error for a call that cannot be read.
func (s *stream) message(v, m *fastjson.Value, line []byte) error {
	s.add(chat.Reasoning, m.GetStringBytes("thinking"))
	text := m.GetStringBytes("content")
	if text == nil {
		// A record of /api/generate.
		text = v.GetStringBytes("response")
	}
	s.add(chat.Text, text)
	if s.probs != nil {
		s.tokens(v, m)
	}
	if len(m.GetArray("tool_calls")) > 0 {
		return s.addCalls(line)
	}
	return nil
}

// tokens reads the tokens of the record v, whose message is m. It attaches them to the text that
// was queued for the same record. The server holds text back while it may begin a tag, so a record
// may have tokens and no text. The tokens of thinking are left out, because OpenAI's logprobs are
// only those of the content.
func (s *stream) tokens(v, m *fastjson.Value) {
	text := len(m.GetStringBytes("content")) > 0 || len(v.GetStringBytes("response")) > 0
	if text || len(m.GetStringBytes("thinking")) == 0 {
		for _, t := range v.GetArray("logprobs") {
			s.probs.Tokens = append(s.probs.Tokens, upstream.Token(t))
		}
	}
	if text {
		s.Queue[len(s.Queue)-1].Meta = s.probs.Take()
	}
}

// add queues an event with a piece of text, unless the text is empty.
func (s *stream) add(k chat.Kind, text []byte) {
	if len(text) == 0 {
		return
	}
	s.Queue = append(s.Queue, chat.Event{Kind: k, Text: s.Text.Of(text)})
	s.repetition(text)
}

// repetition counts how often the same token came in a row, ignoring white space around it, as the
// server does.
func (s *stream) repetition(token []byte) {
	if len(token) == 0 {
		return
	}
	if token = bytes.TrimSpace(token); !bytes.Equal(token, s.last) {
		s.last, s.repeat = append(s.last[:0], token...), 0
	}
	s.repeat++
}

// finish queues the counts and the end of a complete reply. It always returns io.EOF. A done_reason
// is "stop", "length", "load" or "unload", but never "tool_calls", so whether there were calls is
// found out from the text. If the server only loaded a model, all counts are 0, and no counts are
// queued.
func (s *stream) finish(v *fastjson.Value) error {
	n := chat.Counts{Prompt: v.GetInt("prompt_eval_count"),
		Completion: v.GetInt("eval_count")}.FromCache(v.GetInt("prompt_eval_cached_count"))
	if n != (chat.Counts{}) {
		s.Queue = append(s.Queue,
			chat.Event{Kind: chat.Usage, Meta: &chat.Meta{Usage: &n, Times: times(v)}})
	}
	reason := chat.Stop
	if string(v.GetStringBytes("done_reason")) == "length" {
		reason = chat.Length
	}
	end := chat.Event{Kind: chat.Finish, Text: reason}
	if s.probs != nil {
		end.Meta = s.probs.Take()
	}
	s.Queue = append(s.Queue, end)
	return io.EOF
}

// times returns the times of a final record, which Ollama writes in nanoseconds.
func times(v *fastjson.Value) *chat.Times {
	of := func(key string) time.Duration { return time.Duration(v.GetInt64(key)) }
	return &chat.Times{Load: of("load_duration"), Prompt: of("prompt_eval_duration"),
		Completion: of("eval_duration")}
}

// failed ends the stream after an error record, and returns io.EOF or the server's error. If tokens
// were shown before, the server's own parser has usually failed at a call that it does not
// understand. This program may still read the call from the tokens, so the stream ends with
// Abandoned and io.EOF. The final record with the counts is missing in this case. If this program
// made the prompt, failed does the same, and also sends the number of tokens that came. It returns
// io.EOF, too, for a reply that repeats itself (see repeated). In all other cases it returns the
// server's error.
func (s *stream) failed(e *fastjson.Value) error {
	text := upstream.Sentence(e.MarshalTo(nil))
	switch {
	case strings.Contains(text, "token repeat limit"):
		return s.repeated()
	case s.tap != nil && (s.tap.seen || s.tap.ours):
		if s.tap.ours {
			s.Queue = append(s.Queue,
				chat.Event{Kind: chat.Usage,
					Meta: &chat.Meta{Usage: &chat.Counts{Completion: s.tap.count,
						Estimated: true}}})
		}
		s.Queue = append(s.Queue, chat.Event{Kind: chat.Finish, Text: chat.Abandoned,
			Meta: &chat.Meta{Cause: text}})
		return io.EOF
	}
	return upstream.Explain(0, text)
}

// repeated ends a reply that the server gave up because the model repeated itself. The Finish event
// has the reason Length and the cause RepeatAbort, so that a client keeps the text, and does not
// take the end for success or retry the request. repeated always returns io.EOF.
func (s *stream) repeated() error {
	s.Queue = append(s.Queue, chat.Event{Kind: chat.Finish, Text: chat.Length,
		Meta: &chat.Meta{Cause: chat.RepeatAbort}})
	return io.EOF
}

// ended returns the error of a stream that has no final record. If its last thirty tokens were
// equal, the server stopped because the model repeated itself. In that case ended ends the reply
// with the reason Length and returns io.EOF. Otherwise the error says that the reply broke off,
// because it is not known how much is missing.
func (s *stream) ended(err error) error {
	if s.Ctx.Err() == nil && err == io.EOF && s.repeat >= repeatLimit {
		return s.repeated()
	}
	return upstream.Cut(s.Ctx, err)
}

// callRecord is the part of a record that has the server's own calls:
//
//	{"message":{"content":"","tool_calls":[{"id":"call_ab12cd34","function":{"index":0,"name":"f","arguments":{"n":1.0}}}]},"done":false}
//
// They are rare and come whole, so reading the record a second time, for the spelling of the
// arguments, costs little. Index is not read, because several of Ollama's parsers wrote 0 for every
// call until April 2026 (ollama/ollama#15467). Ids are missing before 0.12.10.
type callRecord struct {
	Message struct {
		Calls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
}

// addCalls queues the calls that the server has found itself, with their arguments spelled as on
// the wire. The calls are numbered here, in the order in which they come. It returns an error for a
// call that cannot be read, because leaving it out would end the reply as if there had been no
// call.
func (s *stream) addCalls(line []byte) error {
	var r callRecord
	if err := json.Unmarshal(line, &r); err != nil {
		return fault.New(fault.Unavailable, "the model server sent a call that cannot be read: %w",
			err)
	}
	for _, c := range r.Message.Calls {
		args, err := object(c.Function.Arguments)
		if err != nil {
			return fault.New(fault.Unavailable,
				"the model server sent a call of %q whose arguments are no object", c.Function.Name)
		}
		s.Queue = append(s.Queue,
			chat.Event{Kind: chat.CallStart, Index: s.calls, ID: c.ID, Text: c.Function.Name},
			chat.Event{Kind: chat.CallArgs, Index: s.calls, Text: args},
			chat.Event{Kind: chat.CallEnd, Index: s.calls})
		s.calls++
	}
	return nil
}

// object returns the text of an arguments member, which may be an object, an object inside a
// string, or missing, which means {}. Ollama writes objects, and the other two come from servers
// that imitate it. Anything else is an error.
func object(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "{}", nil
	}
	if raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", err
		}
		raw = json.RawMessage(s)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return "", err
	}
	return string(raw), nil
}

// quickText appends to dst the text of a record of /api/generate that has no other content:
//
//	{"model":"qwen3","created_at":"2026-11-21T07:44:28.59Z","response":"\u003ctok","done":false}
//
// Nearly all of a reply's records are like this. Reading them by their quotes costs a fourth of
// parsing them. For a record that differs in any way ok is false, and the record must be parsed.
func quickText(dst, line []byte) (text []byte, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte("{"))
	if !ok {
		return nil, false
	}
	for seen := false; ; {
		if string(rest) == `"done":false}` {
			return dst, seen
		}
		switch {
		case !seen && bytes.HasPrefix(rest, []byte(`"response":"`)):
			seen = true
			dst, rest, ok = upstream.AppendUnquoted(dst, rest[len(`"response":"`):])
		case bytes.HasPrefix(rest, []byte(`"model":"`)):
			rest, ok = beyondString(rest[len(`"model":"`):])
		case bytes.HasPrefix(rest, []byte(`"created_at":"`)):
			rest, ok = beyondString(rest[len(`"created_at":"`):])
		default:
			return nil, false
		}
		if !ok || len(rest) == 0 || rest[0] != ',' {
			return nil, false
		}
		rest = rest[1:]
	}
}

// beyondString returns the text after a string whose opening quote was already read. It returns
// false for a string with escapes, which the parser must read, and for one without an end. Names
// and times of models have no escapes.
func beyondString(rest []byte) ([]byte, bool) {
	end := bytes.IndexByte(rest, '"')
	if end < 0 || bytes.IndexByte(rest[:end], '\\') >= 0 {
		return nil, false
	}
	return rest[end+1:], true
}
