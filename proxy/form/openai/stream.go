package openai

import (
	"strconv"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
	"toolnorm/proxy/form"
)

// stream writes a reply as chat completion chunks. A chunk is a prefix that is the same in the
// whole stream, a delta, and a constant end:
//
//	data: {"id":…,"choices":[{"index":0,"delta":{   "content":"…"   },"finish_reason":null}]}
//
// The last chunk in the buffer stays open until the buffer is sent or a fragment of another kind
// comes, so fragments that arrive together are sent together. The strictest clients determine what
// every chunk has and in which order things come. The members id, created and model never change
// within a stream. There is no line event: and no member that OpenAI does not have: the Vercel SDK
// fails even on `"error": null`. Calls are not mixed, since one ends before the next begins.
type stream struct {
	out    *sse.Writer
	prefix string // up to and including `"delta":{`
	head   string // up to and including `"choices":[`, for the chunk with token counts
	usage  bool   // whether the client wants token counts
	older  bool   // whether it is the completions API, in which a choice has a text and no delta

	run   run  // the run to which the last fragment belongs
	open  bool // whether the last chunk in the buffer has no end yet
	tail  form.Tail
	role  bool // whether the role was written
	calls calls
	count chat.Counts
	end   *chat.Event // the Finish event; nil before it
	empty bool        // whether nothing was written before the Finish event
	stops bool        // whether the client's stop sequences may make the reply empty
	probs logprobs
	reply form.Out
	nth   nth

	text     string   // the field of a text, up to and including its opening quote
	thoughts []string // the fields for what the model thinks
	said     int      // the offset of the text in the open chunk
}

// nth says which of several replies to the same request is being written.
type nth struct {
	index, last int         // the index of the choice, and of the last one
	first       chat.Counts // the token counts of the replies before this one
}

// run identifies a series of text fragments that can be sent in one chunk: the kind of the
// fragments and, for a call, its index. Fragments of two calls must not share a chunk.
type run struct {
	kind  chat.Kind
	index int
}

// calls counts the calls of a reply that have begun and ended. The finish reason depends on them.
type calls struct {
	begun, ended int
	args         bool // whether the last call has arguments so far
}

// newStream returns a stream for a reply. It writes nothing yet. The constant parts of a chunk are
// built here, only once, since a fast model needs a chunk for each token.
func newStream(w *sse.Writer, a *form.Ask, out form.Out) *stream {
	head := "data: " + headOf("chat.completion.chunk", a, out)
	return &stream{
		out: w, head: head, prefix: head + `{"index":0,"delta":{`, text: `"content":"`,
		usage: a.Usage, stops: len(a.Stop) > 0, empty: true,
		probs: logprobs{form.Logprobs{Wanted: a.Logprobs}}, reply: out,
		thoughts: out.ThoughtFields(), nth: nth{last: max(a.Choices, 1) - 1},
	}
}

var _ form.Reply = (*stream)(nil)
var _ form.Several = (*stream)(nil)

// Next implements form.Several. It is called between two replies to the same request, and begins
// another choice. All choices have the same prompt, so its tokens are counted only once.
func (s *stream) Next() {
	s.nth.index++
	s.prefix = s.head + `{"index":` + strconv.Itoa(s.nth.index) + `,"delta":{`
	s.nth.first = s.nth.first.Another(s.count)
	s.role, s.calls, s.count, s.end = false, calls{}, chat.Counts{}, nil
}

// headOf returns the beginning of a reply's JSON object, up to its choices. The parameter object is
// the type that the JSON object names, which differs between chats and completions.
func headOf(object string, a *form.Ask, out form.Out) string {
	b := append([]byte(nil), `{"id":`...)
	b = chat.AppendQuoted(b, out.ID)
	b = append(append(append(b, `,"object":"`...), object...), `","created":`...)
	b = strconv.AppendInt(b, out.Created.Unix(), 10)
	b = append(b, `,"model":`...)
	b = chat.AppendQuoted(b, a.Model)
	return string(append(b, `,"choices":[`...))
}

// Event implements form.Reply. It appends an event to the buffer. The buffer is sent by Flush, when
// the model pauses, or when it is large. It returns an error if the client cannot be written to.
func (s *stream) Event(e chat.Event) error {
	if s.older && e.Kind != chat.Text && e.Kind != chat.Usage && e.Kind != chat.Finish {
		return nil // the completions API has no place for thinking and calls
	}
	switch e.Kind {
	case chat.Text, chat.Reasoning:
		s.probs.Note(e.Meta)
		s.fragment(run{e.Kind, 0}, e.Text)
	case chat.CallStart:
		s.start(e)
	case chat.CallArgs:
		s.calls.args = s.calls.args || e.Text != ""
		s.fragment(run{chat.CallArgs, e.Index}, e.Text)
	case chat.CallEnd:
		// A call without arguments needs an object all the same: on "" Void drops it, and the SDKs
		// of OpenAI, Vercel and LangChain fail.
		if !s.calls.args {
			s.fragment(run{chat.CallArgs, e.Index}, "{}")
		}
		s.calls.ended++
		s.endRun()
	case chat.Usage:
		s.counts(e.Meta)
	case chat.Finish:
		s.counts(e.Meta)
		return s.finish(e)
	}
	if len(s.out.Buf) > form.Batch {
		return s.Flush()
	}
	return nil
}

// Flush implements form.Reply. It ends the open chunk and sends the buffer. An open chunk cannot be
// sent, so each pause of the model ends it. It returns an error if the client cannot be written to.
func (s *stream) Flush() error {
	s.closeChunk()
	return s.out.Flush()
}

// Ping implements form.Reply. It sends a comment, so that the connection stays open and the client
// goes on waiting. The comment is not "ping", because the editor plug-in Continue stops reading
// lines at ": ping". It returns an error if the client cannot be written to.
func (s *stream) Ping(said string) error {
	s.closeChunk()
	s.out.Comment(form.Waiting(said))
	return s.out.Flush()
}

// Close implements form.Reply. It ends the stream. An error before the first byte is returned, so
// that the caller answers with a status; a later error is written as an event. An empty reply is an
// error, too, unless the client sets stop sequences.
func (s *stream) Close(err error) error {
	last := []byte("[DONE]")
	if err = form.Ended(err, s.end, s.empty && !s.stops); err != nil {
		if !s.out.Wrote() {
			return err
		}
		s.endRun()
		// The SDKs of OpenAI, Vercel and LangChain raise this event as an error. No [DONE] follows,
		// because it would mark the stream as successful.
		last = fault.OpenAI(err)
	}
	s.out.Buf = append(append(append(s.out.Buf, "data: "...), last...), "\n\n"...)
	return s.out.Flush()
}

// start opens the first chunk of a call, with its index, id, type and name, but without arguments.
// Id, type and name are in the first fragment and in no other. Goose wants id, name and index
// together, openai-node wants the type, and the editor Void joins repeated names into one long
// name.
func (s *stream) start(e chat.Event) {
	s.endRun()
	s.calls.begun++
	s.calls.args = false
	s.run = run{chat.CallArgs, e.Index}
	s.openChunk(`"content":null,`, e.Index)
	b := append(s.out.Buf, `"id":`...)
	b = chat.AppendQuoted(b, e.ID)
	b = append(b, `,"type":"function","function":{"name":`...)
	b = chat.AppendQuoted(b, e.Text)
	s.out.Buf = append(b, `,"arguments":"`...)
}

// fragment appends text of the run r to the chunk that is being written. If that chunk has text of
// another run, for example of another call, fragment begins a new chunk. If the text ends inside a
// character, the bytes of that character wait in s.tail, since JSON cannot contain them.
func (s *stream) fragment(r run, text string) {
	if s.run != r {
		s.endRun()
		s.run = r
	}
	if text = s.tail.Join(text); text != "" {
		s.append(text)
	}
}

// append writes text, which has only whole characters, into a chunk of the current run.
func (s *stream) append(text string) {
	if !s.open {
		switch s.run.kind {
		case chat.Text:
			s.openChunk("", -1)
			s.out.Buf = append(s.out.Buf, s.text...)
		case chat.Reasoning:
			s.openChunk(`"content":null,`, -1)
			s.out.Buf = append(append(append(s.out.Buf, '"'), s.thoughts[0]...), `":"`...)
			s.said = len(s.out.Buf)
		default:
			s.openChunk("", s.run.index)
			s.out.Buf = append(s.out.Buf, `"function":{"arguments":"`...)
		}
	}
	s.out.Buf = chat.AppendEscaped(s.out.Buf, text)
}

// openChunk begins a chunk, up to the fields of its delta. If call is not negative, it is the index
// of a call, and openChunk also begins the fields of that call. In the first chunk of a stream it
// also writes the role, without which openai-node and LangChain fail, and then the JSON in the
// parameter content. That is `"content":null,` if the chunk has no text. A chunk with a call never
// has text, since the editor plug-in Continue loses a call that comes together with text.
func (s *stream) openChunk(content string, call int) {
	s.open, s.empty = true, false
	b := append(s.out.Buf, s.prefix...)
	if !s.role {
		s.role = true
		b = append(b, `"role":"assistant",`...)
		b = append(b, content...)
	}
	if call >= 0 {
		b = append(b, `"tool_calls":[{"index":`...)
		b = strconv.AppendInt(b, int64(call), 10)
		b = append(b, ',')
	}
	s.out.Buf = b
}

// closeChunk ends the open chunk, if there is one. finish_reason is null and not absent, because
// the Vercel SDK fails without it.
func (s *stream) closeChunk() {
	if !s.open {
		return
	}
	s.open = false
	if s.older {
		s.out.Buf = append(s.out.Buf, `","index":0,"logprobs":null,"finish_reason":null}]}`+
			"\n\n"...)
		return
	}
	if s.run.kind == chat.CallArgs {
		s.out.Buf = append(s.out.Buf, `"}}]},"finish_reason":null}]}`+"\n\n"...)
		return
	}
	if s.run.kind == chat.Reasoning {
		s.repeat()
	}
	s.out.Buf = append(s.probs.appendMember(append(s.out.Buf, `"}`...)), `,"finish_reason":null}]}`+
		"\n\n"...)
}

// repeat writes the thought in the open chunk once more under each further name that clients may
// read. DeepSeek, vLLM and llama-server send thoughts as reasoning_content; Ollama and OpenRouter
// send them as reasoning. A client reads only one of these fields, or the first that it finds.
func (s *stream) repeat() {
	end := len(s.out.Buf)
	for _, field := range s.thoughts[1:] {
		s.out.Buf = append(append(append(s.out.Buf, `","`...), field...), `":"`...)
		s.out.Buf = append(s.out.Buf, s.out.Buf[s.said:end]...)
	}
}

// endRun ends the current series of fragments. If an incomplete character was kept back, it becomes
// U+FFFD. This happens in a reply that was cut between two tokens of one character.
func (s *stream) endRun() {
	if held := s.tail.Give(); held != "" {
		s.append(held)
	}
	s.closeChunk()
	s.run = run{}
}

// counts stores the token counts. A model server may report them before the end, too, so the last
// report is used.
func (s *stream) counts(m *chat.Meta) {
	if m != nil && m.Usage != nil {
		s.count = *m.Usage
	}
}

// finish writes the last chunk of the choice, whose delta is empty. If the client wants the token
// counts, finish then writes them in a chunk without choices. Goose ends its tool loop at such a
// chunk, so it is only sent if it is wanted. finish always returns nil.
func (s *stream) finish(e chat.Event) error {
	s.endRun()
	s.end = &e
	reason := finishReason(e.Text, s.calls)
	s.reply.Finished(reason)
	// A reply that was cut before its first word, or stopped at once, still needs a chunk with the
	// role and a text.
	if s.empty && (reason == chat.Length || s.stops) {
		s.openChunk("", -1)
		s.out.Buf = append(s.out.Buf, `"content":"`...)
		s.run.kind = chat.Text
		s.closeChunk()
	}
	if s.empty {
		return nil
	}
	var b []byte
	if s.older {
		b = appendText(append(s.out.Buf, s.head...), "", reason)
	} else {
		form.TellComments(s.out, s.reply.Notes, e.Meta)
		s.probs.Note(e.Meta)
		b = append(append(s.out.Buf, s.prefix...), '}')
		b = append(s.probs.appendMember(b), `,"finish_reason":`...)
		b = append(chat.AppendQuoted(b, reason), '}')
	}
	b = append(b, "]}\n\n"...)
	if s.usage && s.nth.index == s.nth.last {
		b = append(b, s.head...)
		b = append(b, `],"usage":`...)
		b = appendCounts(b, s.nth.first.Another(s.count))
		b = append(b, "}\n\n"...)
	}
	s.out.Buf = b
	return nil
}

// finishReason returns OpenAI's reason for the end. It is "length" if the last call was cut,
// whatever the model server says, and "tool_calls" if a call has ended. Zed runs calls only after
// "tool_calls", and agents with the Vercel SDK end at "stop". OpenAI itself has been seen to answer
// "stop" with calls, and clients broke.
func finishReason(reason string, c calls) string {
	switch {
	case reason == chat.Length, c.begun > c.ended:
		return chat.Length
	case c.ended > 0:
		return "tool_calls"
	}
	return chat.Stop
}

// appendCounts appends token counts in OpenAI's form. The total is computed here, because not every
// server sends it, and clients do not compute it.
func appendCounts(b []byte, c chat.Counts) []byte {
	b = append(b, `{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(c.Prompt), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(c.Completion), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(c.Prompt+c.Completion), 10)
	if c.Cached > 0 { // 0 may mean that the server does not report it
		b = append(b, `,"prompt_tokens_details":{"cached_tokens":`...)
		b = append(strconv.AppendInt(b, int64(c.Cached), 10), '}')
	}
	return append(b, '}')
}
