package openai

import (
	"io"
	"time"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// tailTime is how long a reply that has said why it ended is waited for to end, in case the token
// counts follow: with stream_options.include_usage they come in an event of their own, with empty
// choices, behind the finish_reason. A server that keeps the connection open instead costs its
// client no more than this.
const tailTime = 2 * time.Second

// deltas reads the events of an OpenAI-compatible server. It is a chat.Source.
//
// What servers send, each with data: in front:
//
//	{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}
//	{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
//	{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}
//	[DONE]
type deltas struct {
	upstream.Stream
	events sseReader
	whole  bool                               // the answer is one JSON document
	record func(*fastjson.Value) error        // queues what an event holds
	fault  func(*fastjson.Value) *fault.Error // of an error object
	calls  nativeCalls
	probs  upstream.Probs
	ending *chat.Event // the Finish event, once the server has said why it ended
	usage  chat.Counts
}

var _ chat.Source = (*deltas)(nil)

// read queues what the next event holds. Its error is what ends the stream behind that; nil:
// nothing ends it.
func (d *deltas) read() error {
	if d.whole {
		return d.document()
	}
	v, done, err := d.events.next()
	if err != nil || done {
		return d.ended(err)
	}
	return d.record(v)
}

// document reads a server that answers at once although a stream was asked for. A whole reply has
// the same members as an event, with "message" in place of "delta", so one reader serves both.
func (d *deltas) document() error {
	body, err := io.ReadAll(io.LimitReader(d.In, upstream.MaxRecord+1))
	// A document that is longer would be cut by the limit, and be no JSON for that reason.
	if err == nil && len(body) > upstream.MaxRecord {
		err = upstream.ErrLong
	}
	if err != nil {
		return d.ended(err)
	}
	v, err := d.Scratch.Parse(body)
	if err != nil {
		return fault.New(fault.Unavailable, "the model server's reply is no JSON: %w", err)
	}
	if err := d.record(v); err != nil {
		return err
	}
	return d.ended(nil)
}

// add queues text of a kind, if there is any, behind the calls that are still under way. Many
// deltas hold "" beside something else.
func (d *deltas) add(k chat.Kind, text []byte) {
	if len(text) > 0 {
		d.Queue = d.calls.add(d.Queue, chat.Event{Kind: k, Text: d.Text.Of(text)})
	}
}

// finish notes why the reply ended. Token counts may follow, so the event waits for the stream's
// end: [DONE], a closed connection, or tailTime without a byte.
func (d *deltas) finish(reason, cause string) {
	d.ending = &chat.Event{Kind: chat.Finish, Text: reason, Meta: &chat.Meta{Cause: cause}}
	d.In.Shorten(tailTime)
}

// ended ends the stream: err is why it could not be read on, nil for a good end. It returns a fault
// unless the server had said why the reply ended; then nothing that comes after can matter. Calls
// that waited leave here, whole or as far as they had begun, before the counts and the reason.
func (d *deltas) ended(err error) error {
	if d.ending == nil {
		return d.cut(err)
	}
	if d.Queue, err = d.calls.end(d.Queue, d.ending.Text == chat.Length); err != nil {
		return err
	}
	d.ending.Meta.Repairs, d.ending.Meta.Logprobs = d.calls.repairs, d.probs.Tokens
	if d.usage != (chat.Counts{}) {
		usage := d.usage
		d.Queue = append(d.Queue, chat.Event{Kind: chat.Usage, Meta: &chat.Meta{Usage: &usage}})
	}
	d.Queue = append(d.Queue, *d.ending)
	return io.EOF
}

// cut returns the fault of a reply that ended without a reason, even one that ended in good order
// by [DONE]: only a reason says that the model had finished, and the last call may be half of one.
func (d *deltas) cut(err error) error {
	if d.Ctx.Err() == nil && err == nil {
		return fault.New(fault.Unavailable, "the model server ended its reply without a finish_reason, so nobody knows whether it is complete")
	}
	return upstream.Cut(d.Ctx, err)
}

// chunk queues what an event of /v1/chat/completions holds; a whole reply has "message" where a
// stream has "delta". Counts come in an event with empty choices, or beside the last one.
func (d *deltas) chunk(v *fastjson.Value) error {
	if e := errorIn(v); e != nil {
		return d.fault(e)
	}
	// In a stream that was asked for counts every other event has "usage":null.
	if u := v.Get("usage"); u != nil && u.Type() == fastjson.TypeObject {
		d.usage = chat.Counts{Prompt: u.GetInt("prompt_tokens"), Completion: u.GetInt("completion_tokens")}.FromCache(cached(v, u))
	}
	for _, c := range v.GetArray("choices") {
		if c.GetInt("index") != 0 {
			continue // one reply was asked for
		}
		delta := c.Get("delta")
		if delta == nil {
			delta = c.Get("message")
		}
		for _, p := range c.GetArray("logprobs", "content") {
			d.probs.Tokens = append(d.probs.Tokens, upstream.Token(p))
		}
		d.delta(delta)
		d.add(chat.Text, c.GetStringBytes("text")) // of /v1/completions
		if last := len(d.Queue) - 1; last >= 0 && d.Queue[last].Kind == chat.Text {
			d.Queue[last].Meta = d.probs.Take()
		}
		if err := d.reason(string(c.GetStringBytes("finish_reason"))); err != nil {
			return err
		}
	}
	return nil
}

// delta queues what one delta adds: thinking, text and calls, in this order when there are several.
// Thinking is reasoning_content at DeepSeek, llama-server and vLLM, and reasoning at Ollama and
// OpenRouter; where both are there, as newer vLLMs have it, they are the same. A refusal of
// OpenAI's is what the model says instead of text.
func (d *deltas) delta(v *fastjson.Value) {
	if v == nil {
		return
	}
	reasoning := v.GetStringBytes("reasoning_content")
	if len(reasoning) == 0 {
		reasoning = v.GetStringBytes("reasoning")
	}
	d.add(chat.Reasoning, reasoning)
	d.add(chat.Text, v.GetStringBytes("content"))
	// Some servers send content as parts: [{"type":"text","text":"Hi"}]
	for _, part := range v.GetArray("content") {
		d.add(chat.Text, part.GetStringBytes("text"))
	}
	d.add(chat.Text, v.GetStringBytes("refusal"))
	for _, c := range v.GetArray("tool_calls") {
		d.Queue = d.calls.fragment(d.Queue, fragmentOf(c, c.Get("function")))
	}
	if f := v.Get("function_call"); f != nil && f.Type() == fastjson.TypeObject { // the form that OpenAI gave up
		d.Queue = d.calls.fragment(d.Queue, fragmentOf(nil, f))
	}
}

// fragmentOf reads one entry of tool_calls; function is its member of that name. An id may be a
// number, and arguments an object: then their JSON is what counts. An index that is missing or no
// number is -1, which agrees with any.
func fragmentOf(call, function *fastjson.Value) fragment {
	f := fragment{index: -1, id: scalar(call.Get("id")), name: string(function.GetStringBytes("name")), args: scalar(function.Get("arguments"))}
	if i := call.Get("index"); i != nil && i.Type() == fastjson.TypeNumber {
		f.index = call.GetInt("index")
	}
	return f
}

// scalar returns a string's text, the JSON of anything else, and nothing of nothing: an id of 7 is
// "7", arguments that are an object are their text, null and a missing member are "".
func scalar(v *fastjson.Value) string {
	switch {
	case v == nil || v.Type() == fastjson.TypeNull:
		return ""
	case v.Type() == fastjson.TypeString:
		return string(v.GetStringBytes())
	}
	return string(v.MarshalTo(nil))
}

// reason notes a finish_reason, which most events leave empty. "tool_calls" and "stop" are the same
// here: whether there were calls is what the reply shows, and servers say either of both. What a
// filter cut is no whole reply, so it is a length with a cause. vLLM says "abort" when its engine
// gives a request up.
func (d *deltas) reason(word string) error {
	switch word {
	case "":
	case "length", "max_tokens", "model_length":
		d.finish(chat.Length, "")
	case "content_filter":
		d.finish(chat.Length, "content_filter")
	case "error", "abort":
		return fault.New(fault.Unavailable, "the model server gave its reply up (%s): its log may say why", word)
	default:
		d.finish(chat.Stop, "")
	}
	return nil
}

// cached returns how many tokens of the prompt the server had processed before, which it says in
// its usage, as vLLM does, or beside it, as a llama-server that is too old for that. 0: it does not
// say.
func cached(v, usage *fastjson.Value) int {
	if n := usage.GetInt("prompt_tokens_details", "cached_tokens"); n > 0 {
		return n
	}
	return v.GetInt("timings", "cache_n")
}

// piece queues what an event of llama-server's /completion holds:
//
//	{"content":" Paris","stop":false}
//
// The last one has the counts, and why it stopped: stop_type in newer servers, stopped_limit in
// older ones.
func (d *deltas) piece(v *fastjson.Value) error {
	if e := errorIn(v); e != nil {
		return d.fault(e)
	}
	d.add(chat.Text, v.GetStringBytes("content"))
	if !v.GetBool("stop") {
		return nil
	}
	d.usage = chat.Counts{Prompt: v.GetInt("tokens_evaluated"), Completion: v.GetInt("tokens_predicted")}.FromCache(cached(v, nil))
	if string(v.GetStringBytes("stop_type")) == "limit" || v.GetBool("stopped_limit") {
		d.finish(chat.Length, "")
	} else {
		d.finish(chat.Stop, "")
	}
	// What this server says last is complete: there is no [DONE] to wait for.
	return d.ended(nil)
}

// errorIn returns the error object of an event, or nil if it has none: {"error": …}, or {"object":
// "error", …} of old vLLMs. "error": null is not one.
func errorIn(v *fastjson.Value) *fastjson.Value {
	if e := v.Get("error"); e != nil && e.Type() != fastjson.TypeNull {
		return e
	}
	if string(v.GetStringBytes("object")) == "error" {
		return v
	}
	return nil
}
