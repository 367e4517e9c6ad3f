package messages

import (
	"strconv"

	"toolnorm/chat"
)

// events appends the events of one stream to a buffer. It knows how each event is written, but not
// when it may be sent.
type events struct{ buf *[]byte }

// event begins an event. It writes the event's name twice: in the line that begins with "event:",
// for the SDKs, and in the data, for all other clients.
func (e events) event(name string) {
	b := append(append(*e.buf, "event: "...), name...)
	*e.buf = append(append(append(b, "\ndata: {\"type\":\""...), name...), '"')
}

// indexed begins an event about the block with this index.
func (e events) indexed(name string, index int) {
	e.event(name)
	e.raw(`,"index":`)
	e.number(index)
}

// raw appends text unchanged.
func (e events) raw(s string) { *e.buf = append(*e.buf, s...) }

// quoted appends s as a JSON string.
func (e events) quoted(s string) { *e.buf = chat.AppendQuoted(*e.buf, s) }

// number appends a whole number.
func (e events) number(n int) { *e.buf = strconv.AppendInt(*e.buf, int64(n), 10) }

// end writes the end of an event.
func (e events) end() { e.raw("}\n\n") }

// message appends the beginning of a message, up to its blocks.
func (e events) message(id, model string) {
	e.raw(`{"id":`)
	e.quoted(id)
	e.raw(`,"type":"message","role":"assistant","model":`)
	e.quoted(model)
	e.raw(`,"content":[`)
}

// messageStart appends the event that begins the message. Clients show the token counts in this
// event, and measure the length of a conversation by them. The end of the stream repeats the counts
// as the server has determined them.
func (e events) messageStart(id, model string, usage chat.Counts) {
	e.event("message_start")
	e.raw(`,"message":`)
	e.message(id, model)
	e.raw(`],"stop_reason":null,"stop_sequence":null,"usage":`)
	e.usage(usage)
	e.raw("}")
	e.end()
}

// usage appends token counts. In this API the input tokens are those that did not come from a
// cache. Both cache counts are always written, because the types of the SDKs require them.
func (e events) usage(c chat.Counts) {
	e.raw(`{"input_tokens":`)
	e.number(c.Prompt - c.Cached)
	e.raw(`,"cache_creation_input_tokens":0,"cache_read_input_tokens":`)
	e.number(c.Cached)
	e.raw(`,"output_tokens":`)
	e.number(c.Completion)
	e.raw("}")
}

// The JSON of a block at its beginning. Its content is empty until deltas fill it.
const (
	textBlock     = `{"type":"text","text":""}`
	thinkingBlock = `{"type":"thinking","thinking":"","signature":""}`
)

// blockStart begins a block of text or thinking.
func (e events) blockStart(index int, block string) {
	e.indexed("content_block_start", index)
	e.raw(`,"content_block":` + block)
	e.end()
}

// callStart begins a block with a call. Its input is an empty object here, since the deltas contain
// the arguments.
func (e events) callStart(index int, id, name string) {
	e.indexed("content_block_start", index)
	e.raw(`,"content_block":{"type":"tool_use","id":`)
	e.quoted(id)
	e.raw(`,"name":`)
	e.quoted(name)
	e.raw(`,"input":{}}`)
	e.end()
}

// deltas maps each kind of fragment to the beginning of its delta, as in
// {"type":"text_delta","text":"…"}.
var deltas = map[chat.Kind]string{
	chat.Text:      `{"type":"text_delta","text":"`,
	chat.Reasoning: `{"type":"thinking_delta","thinking":"`,
	chat.CallArgs:  `{"type":"input_json_delta","partial_json":"`,
}

// deltaOpen begins a delta, up to its text. The caller appends the text in escaped form.
func (e events) deltaOpen(index int, kind chat.Kind) {
	e.indexed("content_block_delta", index)
	e.raw(`,"delta":` + deltas[kind])
}

// deltaClose ends a delta.
func (e events) deltaClose() { e.raw(`"}`); e.end() }

// signed appends the signature of a thought. It is the last delta of the thought's block.
func (e events) signed(index int, signature string) {
	e.indexed("content_block_delta", index)
	e.raw(`,"delta":{"type":"signature_delta","signature":"` + signature + `"}`)
	e.end()
}

// blockStop ends a block. A client runs a call when it gets this event.
func (e events) blockStop(index int) {
	e.indexed("content_block_stop", index)
	e.end()
}

// ping appends an event that shows that the stream is alive.
func (e events) ping() { e.event("ping"); e.end() }

// stopped appends why the reply ended, and the stop sequence, or null if it is empty.
func (e events) stopped(reason, sequence string) {
	e.raw(`"stop_reason":"` + reason + `","stop_sequence":`)
	if sequence == "" {
		e.raw("null")
	} else {
		e.quoted(sequence)
	}
}

// messageEnd appends why the reply ended and its token counts, and ends the message. The stop
// sequence may be empty.
func (e events) messageEnd(reason, sequence string, usage chat.Counts) {
	e.event("message_delta")
	e.raw(`,"delta":{`)
	e.stopped(reason, sequence)
	e.raw(`},"usage":`)
	e.usage(usage)
	e.end()
	e.event("message_stop")
	e.end()
}
