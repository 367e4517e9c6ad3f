package responses

import (
	"net/http"
	"strconv"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
	"toolnorm/proxy/form"
)

// reply turns events into items, and writes them while they grow if the client reads a stream. One
// type does both, so that a whole reply and a stream never differ. Without a writer nothing is sent
// before the end, and the object at the end is the same.
type reply struct {
	r     *request
	model string // the name that the client used
	out   form.Out
	w     *sse.Writer // nil: the reply is whole
	seq   int         // the number of the next event
	// whether response.created was written; a comment may have been sent before it
	begun bool

	items []*item // of the output
	added int     // the number of items that have begun, including abandoned ones
	open  *item   // the last of items while it grows; nil: none is growing
	tail  form.Tail
	grown []byte // text of the open item that is not in an event yet

	// holds back the end of a whole call, and everything after the call
	later form.Later
	ended bool // whether the reply has ended without a cut, so that calls may be marked as done

	end           *chat.Event
	count         chat.Counts
	thought, said int64 // the number of characters of thoughts, and of everything else
}

var _ form.Reply = (*reply)(nil)

// Event implements form.Reply. It adds an event of the model to the reply, and sends the output of
// a stream when more than form.Batch bytes have collected. Everything after a whole call waits for
// the end of the reply, because a client runs a call as soon as its item is done, even if the reply
// fails later. It returns an error if the client cannot be written to.
func (p *reply) Event(e chat.Event) error {
	if e.Meta != nil && e.Meta.Usage != nil {
		p.count = *e.Meta.Usage
	}
	p.weigh(e)
	if e.Kind == chat.Finish {
		p.finish(e)
		return nil
	}
	if p.later.Wait(e) > 0 {
		return nil
	}
	p.take(e)
	if p.w != nil && len(p.w.Buf)+len(p.grown) > form.Batch {
		return p.Flush()
	}
	return nil
}

// take puts an event into its item. Consecutive text is one item, and so are consecutive thoughts.
// A call ends the open item before it. The events have the order that chat.Model promises: the
// fragments of a call lie between its start and its end. So CallArgs and CallEnd always have an
// open item.
func (p *reply) take(e chat.Event) {
	switch e.Kind {
	case chat.Text, chat.Reasoning:
		if e.Text == "" {
			return
		}
		if s := p.r.shapeOf(e.Kind); p.open == nil || p.open.shape != s {
			p.closeItem()
			p.add(newItem(s, p.out.ID, p.added))
		}
		p.grow(e.Text)
	case chat.CallStart:
		p.closeItem()
		own := p.r.tools.of(e.Text)
		it := newItem(callShapes[own.kind], p.out.ID, p.added)
		it.callID, it.tool = e.ID, own
		p.add(it)
	case chat.CallArgs:
		p.grow(e.Text)
	case chat.CallEnd:
		if p.open.text.Len() == 0 { // clients parse arguments, and "" is not JSON
			p.grow("{}")
		}
		if p.later.Whole = !p.ended; p.ended {
			p.closeItem()
		}
	}
}

// finish ends the output. If the reply was cut, the client gets none of its calls, not even whole
// ones. A comment or a header names these calls.
func (p *reply) finish(e chat.Event) {
	p.end = &e
	rest, whole := p.later.End(p.end, p.open != nil && p.open.isCall() && !p.later.Whole)
	p.out.Finished(map[bool]string{true: chat.Stop, false: chat.Length}[whole])
	if !whole {
		p.abandon()
	}
	p.ended = whole
	p.later.Whole = false
	if p.open != nil && p.open.isCall() {
		p.closeItem()
	}
	for _, e := range rest {
		p.take(e)
	}
	if p.open != nil {
		p.open.cut = !whole
		p.closeItem()
	}
}

// abandon drops the open item if it is a call. Its client has seen the call begin, but gets no done
// event for it, and the object at the end does not list it. A client runs a call only after its
// done event, as a test with Codex showed, so no event that takes the item back is needed.
func (p *reply) abandon() {
	if p.open != nil && p.open.isCall() {
		p.later.Cut = append([]string{p.open.tool.name}, p.later.Cut...)
		p.items = p.items[:len(p.items)-1]
		p.open, p.grown = nil, p.grown[:0]
		p.tail.Give()
	}
}

// grow adds text to the open item, if there is one. The bytes of an incomplete character are held
// back until the rest comes, since JSON cannot contain them.
func (p *reply) grow(text string) {
	if p.open == nil {
		return
	}
	text = p.tail.Join(text)
	p.open.text.WriteString(text)
	if p.w != nil && !p.open.shape.buffered {
		p.grown = append(p.grown, text...)
	}
}

// add opens an item. In a stream it writes an event for the item, and one for the item's part if it
// has one. The agents opencode and pi need both events, because they show no text with
// output_item.done alone.
func (p *reply) add(it *item) {
	p.items, p.open = append(p.items, it), it
	p.added++
	if p.w == nil {
		return
	}
	b := strconv.AppendInt(append(p.begin("response.output_item.added"), `,"output_index":`...),
		int64(it.index), 10)
	p.close(p.r.appendItem(append(b, `,"item":`...), it, false))
	if it.shape.partAdded != "" {
		p.close(it.appendPart(append(p.beginOf(it, it.shape.partAdded), `,"part":`...), ""))
	}
}

// closeItem ends the open item, if there is one. It writes the rest of the text, the whole text
// again, and the item itself. Each of these is needed by some client: Codex reads only the item,
// the openai SDK the deltas, LangChain the done events.
func (p *reply) closeItem() {
	it := p.open
	if it == nil {
		return
	}
	if rest := p.tail.Give(); rest != "" {
		it.text.WriteString(rest)
		p.grown = append(p.grown, rest...)
	}
	p.open = nil
	if p.w == nil {
		return
	}
	if it.shape.buffered {
		p.grown = append(p.grown[:0], it.whole()...)
	}
	p.delta(it)
	if s := it.shape; s.done != "" {
		b := append(append(append(p.beginOf(it, s.done), `,"`...), s.member...), `":`...)
		b = chat.AppendQuoted(b, it.whole())
		if it.tool.kind == function && it.isCall() {
			b = chat.AppendQuoted(append(b, `,"name":`...), it.tool.name)
		}
		if s == messageShape {
			b = append(b, `,"logprobs":[]`...)
		}
		p.close(b)
	}
	if it.shape.partDone != "" {
		p.close(it.appendPart(append(p.beginOf(it, it.shape.partDone), `,"part":`...), it.whole()))
	}
	b := strconv.AppendInt(append(p.begin("response.output_item.done"), `,"output_index":`...),
		int64(it.index), 10)
	p.close(p.r.appendItem(append(b, `,"item":`...), it, true))
}

// delta writes one event with the part of an item's text that is in no event yet. So a burst of a
// fast model takes only a few events, and a single token is sent at once.
func (p *reply) delta(it *item) {
	if it != nil && len(p.grown) > 0 && it.shape.delta != "" {
		b := append(p.beginOf(it, it.shape.delta), `,"delta":"`...)
		b = append(chat.AppendEscaped(b, string(p.grown)), '"')
		if it.shape == messageShape {
			b = append(b, `,"logprobs":[]`...)
		}
		p.close(b)
	}
	p.grown = p.grown[:0]
}

// begin returns the buffer with the beginning of an event, up to the members that only this kind of
// event has. Before the first event of a stream it writes the two events that open every stream.
func (p *reply) begin(kind string) []byte {
	if !p.begun {
		p.begun = true
		for _, opening := range []string{"response.created", "response.in_progress"} {
			p.close(p.appendObject(append(p.begin(opening), `,"response":`...),
				object{status: inProgress}))
		}
	}
	b := append(append(p.w.Buf, "event: "...), kind...)
	b = append(append(append(b, "\ndata: {\"type\":\""...), kind...), `","sequence_number":`...)
	b = strconv.AppendInt(b, int64(p.seq), 10)
	p.seq++
	return b
}

// beginOf begins an event of an item, or of its part if it has one. Clients find the item by its id
// (openai-python), by its index (Vercel's SDK) or by neither (the agent pi uses the latest item),
// so all of these must agree.
func (p *reply) beginOf(it *item, kind string) []byte {
	b := chat.AppendQuoted(append(p.begin(kind), `,"item_id":`...), it.id)
	b = strconv.AppendInt(append(b, `,"output_index":`...), int64(it.index), 10)
	if it.shape.index != "" {
		b = append(append(append(b, `,"`...), it.shape.index...), `":0`...)
	}
	return b
}

// close appends the end of an event to b, the stream's buffer with the beginning of that event (see
// begin). It stores the result as the new buffer.
func (p *reply) close(b []byte) { p.w.Buf = append(b, "}\n\n"...) }

// Flush implements form.Reply. It sends the buffer, in which the new text of the open item becomes
// one delta. A whole reply sends nothing before its end. It returns an error if the client cannot
// be written to.
func (p *reply) Flush() error {
	if p.w == nil {
		return nil
	}
	p.delta(p.open)
	return p.w.Flush()
}

// Ping implements form.Reply. It sends a comment, since OpenAI's own stream has no keep-alive
// event. Codex skips comments and still counts them as silence, for which it has a limit of five
// minutes (stream_idle_timeout_ms). It returns an error if the client cannot be written to.
func (p *reply) Ping(said string) error {
	if p.w == nil {
		return nil
	}
	p.delta(p.open)
	p.w.Comment(form.Waiting(said))
	return p.w.Flush()
}

// Close implements form.Reply. It ends the reply with its object or with an error. If nothing was
// sent yet, it returns the error instead, so that the caller answers with a status. It does not do
// so for a stream in which the error has to be an event (toldInStream).
func (p *reply) Close(err error) error {
	err = form.Ended(err, p.end, len(p.items) == 0)
	if p.w == nil {
		return p.closeWhole(err)
	}
	if err != nil {
		return p.fail(err)
	}
	form.TellComments(p.w, p.out.Notes, p.end.Meta, p.later.Cut...)
	o := p.result()
	p.r.keep(p, o)
	p.close(p.appendObject(append(p.begin("response."+o.status), `,"response":`...), o))
	return p.w.Flush()
}

// result returns the final object of a reply that ended without an error. If the reply was cut, its
// text is kept, and its status is incomplete.
func (p *reply) result() object {
	status := completed
	if p.end.Text == chat.Length {
		status = incomplete
	}
	return object{status: status, items: p.items, usage: true}
}

// closeWhole writes a reply that is not streamed. If err is not nil, it writes nothing and returns
// err. The caller can then still send an HTTP status, and SDKs obey X-Should-Retry, which they do
// not do for streams.
func (p *reply) closeWhole(err error) error {
	if err != nil {
		return err
	}
	form.TellHeaders(p.out.W.Header(), p.end.Meta, p.later.Cut...)
	o := p.result()
	p.r.keep(p, o)
	return form.WriteJSON(p.out.W, http.StatusOK, append(p.appendObject(nil, o), '\n'))
}

// fail ends a stream with an error. If nothing was sent yet and the error need not be an event
// (toldInStream), it writes nothing and returns err, so that an HTTP status can be sent. Otherwise
// it writes the error as an event. The open item becomes incomplete, but an open call is removed
// and never done.
func (p *reply) fail(err error) error {
	if !p.w.Wrote() && !toldInStream(fault.From(err)) {
		return err
	}
	p.abandon()
	if p.open != nil {
		p.open.cut = true
		p.closeItem()
	}
	p.close(p.appendObject(append(p.begin("response.failed"), `,"response":`...),
		object{status: failed, items: p.items, err: err}))
	return p.w.Flush()
}
