package messages

import (
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
	"toolnorm/proxy/form"
)

const (
	// batch is how many bytes may gather, when the model is faster than the wire, before they are
	// sent.
	batch = 16 << 10
	// silence is the number of hidden thought fragments for each ping: about one ping in two
	// seconds at a local model's pace. Clients give up a silent stream after a minute or more.
	silence = 64
)

// stream writes a reply as events. Fragments that arrive together leave in one delta.
//
// A call's block is in one of three states: open, while its arguments come; whole, when its end was
// seen and its stop is still held back; stopped. Only the end of the reply moves it from whole to
// stopped, and what the model writes after it waits as long: if an error comes, no call has been
// stopped yet, so nothing of a failed reply runs. Claude Code once ran a stopped call of such a
// reply, and asked again for the rest, without end.
type stream struct {
	out   *sse.Writer
	e     events
	reply form.Out
	model string
	stops bool // the client's stop sequences may make the reply empty
	quiet bool // thoughts are not shown
	seal  bool // thoughts are in the signature instead
	tail  form.Tail

	begun bool       // message_start is written
	kind  chat.Kind  // of the open block: Text, Reasoning or CallArgs; None: no block is open
	index int        // of the open block, or the next one
	delta bool       // its last delta still lacks its end
	args  bool       // arguments of the open call were written
	later form.Later // holds back the stop of a call that is whole, and what came after it

	calls  []string // that have begun, by name
	shown  bool
	hidden int // fragments of thought that were not shown
	sealed strings.Builder
	usage  chat.Counts
	end    *chat.Event // the Finish; nil before it
}

var _ form.Reply = (*stream)(nil)

// newStream makes a stream; nothing is written yet.
func newStream(w *sse.Writer, a *form.Ask, out form.Out) *stream {
	return &stream{out: w, e: events{&w.Buf}, reply: out, model: a.Model, stops: len(a.Stop) > 0,
		quiet: quiet(a), seal: a.SealThoughts}
}

// Event appends one event to the batch.
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
	if len(s.out.Buf) > batch {
		return s.Flush()
	}
	return nil
}

// finish ends the reply: what waited after a whole call is written now, since nothing can fail any
// more. If the reply was cut, the call's block stays open, and the calls after it are left out.
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

// take appends what an event says.
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

// begin writes the beginning of the message, unless that was done already.
func (s *stream) begin() {
	if s.begun {
		return
	}
	s.begun = true
	s.e.messageStart(s.reply.ID, s.model, chat.Counts{Prompt: s.promptTokens()})
}

// promptTokens returns the prompt tokens that the server counted, or an estimate if it has not
// counted them yet.
func (s *stream) promptTokens() int {
	if s.usage.Prompt > 0 || s.reply.PromptTokens == nil {
		return s.usage.Prompt
	}
	return s.reply.PromptTokens()
}

// fragment appends text to the open delta, or to a new one, in a block of its kind.
// Text that ends inside a character is kept back by tail, since JSON cannot hold half of one.
func (s *stream) fragment(kind chat.Kind, text string) {
	if s.kind != kind || s.later.Whole {
		if text == "" {
			return
		}
		s.openBlock(kind)
	}
	s.append(s.tail.Join(text))
}

// append writes whole characters into the open block.
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

// openBlock begins a block of text or thinking.
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

// endCall notes that the open call is whole. A call without arguments needs an object all the same:
// clients parse what the deltas hold, and an empty text is not JSON.
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

// settle ends the open delta: a character that was never completed becomes U+FFFD.
func (s *stream) settle() {
	if held := s.tail.Give(); held != "" {
		s.append(held)
	}
	s.closeDelta()
}

// closeDelta ends the open delta. An open delta cannot be sent, so each pause of the model ends it.
func (s *stream) closeDelta() {
	if s.delta {
		s.e.deltaClose()
		s.delta = false
	}
}

// endBlock ends the open block. A call that never ended, or ended in a reply that was cut, keeps
// its block open, since the stop would run it; text after it gets a block of its own.
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

// think handles a fragment of thought: it is shown, sealed, or dropped. If it is not shown, a ping
// is sent now and then: a client that sees nothing for minutes gives up.
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

// signature returns the signature of the open thought.
func (s *stream) signature() string {
	if s.seal {
		return form.SealThought(s.sealed.String())
	}
	return signature
}

// ping appends an event that shows that the stream is alive. It is a comment before the message
// begins, since some clients want message_start before any other event, and when it says what is
// waited for.
func (s *stream) ping(said string) {
	s.closeDelta()
	if s.begun && said == "" {
		s.e.ping()
		return
	}
	s.out.Comment(form.Waiting(said))
}

// Flush sends the batch.
func (s *stream) Flush() error {
	s.closeDelta()
	return s.out.Flush()
}

// Ping keeps the connection open and the client waiting.
func (s *stream) Ping(said string) error {
	s.ping(said)
	return s.out.Flush()
}

// Close ends the stream. An error before the first byte is returned, and the caller answers with a
// status; a later error is written as an event, and the open block is not stopped before it.
func (s *stream) Close(err error) error {
	if err == nil {
		err = s.ended()
	}
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
	s.usage.Prompt = s.promptTokens()
	s.e.messageEnd(reason, sequence, s.usage)
	return s.out.Flush()
}

// ended returns the error of a reply that ended badly. A reply that was cut before its first word,
// or stopped at once, may be empty, and its reason says so. So may a reply with nothing but
// thoughts that the client did not ask for.
func (s *stream) ended() error {
	switch {
	case s.end == nil:
		return form.ErrUnfinished()
	case !s.shown && !s.stops && s.hidden == 0 && s.end.Text != chat.Length:
		return form.ErrEmpty()
	}
	return nil
}
