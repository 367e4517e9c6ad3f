package messages

import (
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
	"toolnorm/proxy/form"
)

// silence is the number of hidden thought fragments for each ping, which is about one ping in two
// seconds for a local model. Clients give up on a silent stream after a minute or more.
const silence = 64

// stream writes a reply as events. Fragments that arrive together are sent in one delta.
//
// The block of a call has three states. It is open while its arguments arrive. It is whole when the
// call has ended but its stop event is still held back. It is stopped only when the reply has
// ended, and text after the call is held back until then. So if an error comes, no call has been
// stopped, and no client runs a call of a failed reply. Claude Code once ran a stopped call of such
// a reply, and asked again for the rest, without end.
type stream struct {
	out   *sse.Writer
	e     events
	reply form.Out
	model string
	stops bool // whether the client's stop sequences may make the reply empty
	quiet bool // whether thoughts are not shown
	seal  bool // whether thoughts are put into the signature instead
	tail  form.Tail

	begun bool       // whether message_start was written
	kind  chat.Kind  // of the open block: Text, Reasoning or CallArgs; None: no block is open
	index int        // of the open block, or the next one
	delta bool       // whether the last delta of the block has no end yet
	args  bool       // whether arguments of the open call were written
	later form.Later // holds back the stop of a whole call, and everything after the call

	calls []string // names of the calls that have begun
	// whether a block was written
	shown  bool
	hidden int // fragments of thought that were not shown
	sealed strings.Builder
	usage  chat.Counts
	end    *chat.Event // the Finish event; nil before it
}

var _ form.Reply = (*stream)(nil)

// newStream returns a stream for a reply. It writes nothing yet.
func newStream(w *sse.Writer, a *form.Ask, out form.Out) *stream {
	return &stream{out: w, e: events{&w.Buf}, reply: out, model: a.Model, stops: len(a.Stop) > 0,
		quiet: quiet(a), seal: a.SealThoughts}
}

// Event implements form.Reply. It appends an event to the buffer, which it sends when it is large.
// It returns an error if the client cannot be written to.
func (s *stream) Event(e chat.Event) error {
	if e.Meta != nil && e.Meta.Usage != nil {
		s.usage = *e.Meta.Usage
	}
	switch {
	case e.Kind == chat.Finish:
		s.finish(e)
	default:
		switch n := s.later.Wait(e); {
		case n == 0:
			s.take(e)
		case n%silence == 0:
			s.ping("")
		}
	}
	if len(s.out.Buf) > form.Batch {
		return s.Flush()
	}
	return nil
}

// finish ends the reply, and writes what was held back until then, since nothing can fail any more.
// If the reply was cut, the block of an unfinished call gets no stop event, so that no client runs
// it, and later calls are not written.
func (s *stream) finish(e chat.Event) {
	s.end = &e
	rest, whole := s.later.End(s.end, s.kind == chat.CallArgs && !s.later.Whole)
	if !whole {
		s.later.Cut = append(slices.Clone(s.calls), s.later.Cut...)
	}
	for _, e := range rest {
		s.take(e)
	}
}

// take appends an event to the buffer.
func (s *stream) take(e chat.Event) {
	switch e.Kind {
	case chat.Text:
		s.fragment(chat.Text, e.Text)
	case chat.Reasoning:
		s.think(e.Text)
	case chat.CallStart:
		s.endBlock()
		s.begin()
		s.e.callStart(s.index, e.ID, e.Text)
		s.kind, s.args, s.shown, s.calls = chat.CallArgs, false, true, append(s.calls, e.Text)
	case chat.CallArgs:
		if e.Text != "" {
			s.args = true
			s.fragment(chat.CallArgs, e.Text)
		}
	case chat.CallEnd:
		s.endCall()
	}
}

// begin writes the beginning of the message, unless it was written before.
func (s *stream) begin() {
	if s.begun {
		return
	}
	s.begun = true
	s.e.messageStart(s.reply.ID, s.model, chat.Counts{Prompt: promptTokens(s.usage, s.reply)})
}

// fragment appends text to the open delta, or to a new one, in a block of the given kind. If the
// text ends inside a character, the bytes of that character are kept back in s.tail, since JSON
// cannot contain them.
func (s *stream) fragment(kind chat.Kind, text string) {
	if s.kind != kind || s.later.Whole {
		if text == "" {
			return
		}
		s.openBlock(kind)
	}
	s.append(s.tail.Join(text))
}

// append writes text, which has only whole characters, into the open block.
func (s *stream) append(text string) {
	if text == "" {
		return
	}
	if !s.delta {
		s.e.deltaOpen(s.index, s.kind)
		s.delta = true
	}
	s.out.Buf = chat.AppendEscaped(s.out.Buf, text)
}

// openBlock ends the open block and begins one of text or thinking.
func (s *stream) openBlock(kind chat.Kind) {
	s.endBlock()
	s.begin()
	block := textBlock
	if kind == chat.Reasoning {
		block = thinkingBlock
	}
	s.e.blockStart(s.index, block)
	s.kind, s.shown = kind, true
}

// endCall records that the open call is whole. A call without arguments gets an empty object,
// because clients parse the text of the deltas, and an empty text is not JSON.
func (s *stream) endCall() {
	if s.kind != chat.CallArgs {
		return
	}
	if !s.args {
		s.append("{}")
	}
	s.settle()
	s.later.Whole = true
}

// settle ends the open delta. If an incomplete character was kept back, it becomes U+FFFD.
func (s *stream) settle() {
	if held := s.tail.Give(); held != "" {
		s.append(held)
	}
	s.closeDelta()
}

// closeDelta ends the open delta, if there is one. An open delta cannot be sent, so each pause of
// the model ends it.
func (s *stream) closeDelta() {
	if s.delta {
		s.e.deltaClose()
		s.delta = false
	}
}

// endBlock ends the open block, if there is one. If the block is a call that is not whole, it
// writes no stop event, because a client would run the call. Text after the call gets a block of
// its own.
func (s *stream) endBlock() {
	if s.kind == chat.None {
		return
	}
	s.settle()
	if s.kind == chat.Reasoning {
		s.e.signed(s.index, s.signature())
	}
	if s.kind != chat.CallArgs || s.later.Whole {
		s.e.blockStop(s.index)
	}
	s.kind, s.later.Whole = chat.None, false
	s.index++
}

// think shows a fragment of the model's thoughts, puts it into the signature, or drops it, as the
// client has asked. If the fragment is not shown, it sends a ping now and then, because a client
// that sees nothing for minutes gives up.
func (s *stream) think(text string) {
	if !s.quiet && !s.seal {
		s.fragment(chat.Reasoning, text)
		return
	}
	if s.hidden++; s.hidden%silence == 0 {
		s.ping("")
	}
	if s.quiet || text == "" {
		return
	}
	if s.kind != chat.Reasoning {
		s.openBlock(chat.Reasoning)
		s.sealed.Reset()
	}
	s.sealed.WriteString(text)
}

// signature returns the signature of the open thinking block.
func (s *stream) signature() string {
	if s.seal {
		return form.SealThought(s.sealed.String())
	}
	return signature
}

// ping appends an event that shows that the stream is alive. If the text said is not empty, or if
// the message has not begun, it appends a comment instead. Some clients want message_start before
// any other event, and a comment is not an event.
func (s *stream) ping(said string) {
	s.closeDelta()
	if s.begun && said == "" {
		s.e.ping()
		return
	}
	s.out.Comment(form.Waiting(said))
}

// Flush implements form.Reply. It sends the buffer, and returns an error if the client cannot be
// written to.
func (s *stream) Flush() error {
	s.closeDelta()
	return s.out.Flush()
}

// Ping implements form.Reply. It sends a ping, so that the connection stays open and the client
// goes on waiting. It returns an error if the client cannot be written to.
func (s *stream) Ping(said string) error {
	s.ping(said)
	return s.out.Flush()
}

// Close implements form.Reply. It ends the stream. An error before the first byte is returned, so
// that the caller answers with a status. A later error is written as an event, and the open block
// gets no stop event before it.
func (s *stream) Close(err error) error {
	// Thoughts that the client did not ask for are a reply, too.
	err = form.Ended(err, s.end, !s.shown && !s.stops && s.hidden == 0)
	if err != nil {
		if !s.out.Wrote() {
			return err
		}
		s.settle()
		s.out.Buf = append(append(append(s.out.Buf, "event: error\ndata: "...),
			fault.Anthropic(err, s.reply.ID)...), "\n\n"...)
		return s.out.Flush()
	}
	s.endBlock()
	s.begin()
	reason, sequence := stopReason(s.end, len(s.calls))
	s.reply.Finished(reason)
	form.TellComments(s.out, s.reply.Notes, s.end.Meta, s.later.Cut...)
	s.usage.Prompt = promptTokens(s.usage, s.reply)
	s.e.messageEnd(reason, sequence, s.usage)
	return s.out.Flush()
}
