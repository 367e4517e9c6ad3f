package messages

import (
	"encoding/json"
	"net/http"
	"slices"

	"toolnorm/chat"
	"toolnorm/proxy/form"
)

// whole collects the events of a reply into one message. Its blocks have the order in which the
// model wrote them, as in a stream.
type whole struct {
	form.Whole
	quiet  bool // whether thoughts are not shown
	seal   bool // whether thoughts are put into the signature instead
	blocks []block
}

var _ form.Reply = (*whole)(nil)

// block is a part of the reply: text, a thought, or a call.
type block struct {
	kind chat.Kind // Text, Reasoning or CallStart
	text []byte    // the text, or the arguments of a call
	call chat.Event
	open bool // whether it is a call that has not ended
}

// Event implements form.Reply. It adds an event to the reply, and returns nil.
func (w *whole) Event(e chat.Event) error {
	switch e.Kind {
	case chat.Text, chat.Reasoning:
		if e.Text != "" && !(w.quiet && e.Kind == chat.Reasoning) {
			w.block(e.Kind).text = append(w.block(e.Kind).text, e.Text...)
		}
	case chat.CallStart:
		w.blocks = append(w.blocks, block{kind: chat.CallStart, call: e, open: true})
	case chat.CallArgs:
		if n := len(w.blocks); n > 0 && w.blocks[n-1].open {
			w.blocks[n-1].text = append(w.blocks[n-1].text, e.Text...)
		}
	case chat.CallEnd:
		if n := len(w.blocks); n > 0 {
			w.blocks[n-1].open = false
		}
	}
	return w.Whole.Event(e)
}

// block returns the last block if it is of the given kind. Otherwise it adds a new block and
// returns that.
func (w *whole) block(kind chat.Kind) *block {
	if n := len(w.blocks); n == 0 || w.blocks[n-1].kind != kind {
		w.blocks = append(w.blocks, block{kind: kind})
	}
	return &w.blocks[len(w.blocks)-1]
}

// Close implements form.Reply. It writes the reply, or returns the error of a reply that failed.
// Nothing has been sent before, so every error becomes a status. Calls of a reply that was cut are
// left out, so that no client runs them.
func (w *whole) Close(err error) error {
	if err = w.Ended(err); err != nil {
		return err
	}
	var cut []string
	if form.IsCut(w.Reply.End, w.Reply.Open) {
		w.Reply.End.Text = chat.Length
		for _, b := range w.blocks {
			if b.kind == chat.CallStart {
				cut = append(cut, b.call.Text)
			}
		}
		w.blocks = slices.DeleteFunc(w.blocks, func(b block) bool {
			return b.kind == chat.CallStart
		})
	}
	form.TellHeaders(w.Out.W.Header(), w.Reply.End.Meta, cut...)
	return form.WriteJSON(w.Out.W, http.StatusOK, w.message())
}

// message returns the reply in Anthropic's JSON.
func (w *whole) message() []byte {
	var buf []byte
	e := events{&buf}
	e.message(w.Out.ID, w.Model)
	for i := range w.blocks {
		if i > 0 {
			e.raw(",")
		}
		w.blocks[i].write(e, w.seal)
	}
	reason, sequence := stopReason(w.Reply.End, len(w.Reply.Complete()))
	w.Out.Finished(reason)
	e.raw("],")
	e.stopped(reason, sequence)
	usage := w.Reply.Usage
	usage.Prompt = promptTokens(usage, w.Out)
	e.raw(`,"usage":`)
	e.usage(usage)
	e.raw("}\n")
	return buf
}

// write appends the block as JSON. If seal is true, the text of a thought is put into its signature
// and not shown. The arguments of a call are written as the model wrote them, or as {} if they are
// not JSON.
func (b *block) write(e events, seal bool) {
	switch b.kind {
	case chat.Text:
		e.raw(`{"type":"text","text":`)
		e.quoted(string(b.text))
	case chat.Reasoning:
		shown, sign := string(b.text), signature
		if seal {
			shown, sign = "", form.SealThought(shown)
		}
		e.raw(`{"type":"thinking","thinking":`)
		e.quoted(shown)
		e.raw(`,"signature":"` + sign + `"`)
	default:
		e.raw(`{"type":"tool_use","id":`)
		e.quoted(b.call.ID)
		e.raw(`,"name":`)
		e.quoted(b.call.Text)
		e.raw(`,"input":`)
		if !json.Valid(b.text) {
			b.text = []byte("{}") // a call without arguments
		}
		e.raw(string(b.text))
	}
	e.raw("}")
}
