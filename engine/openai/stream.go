package openai

import (
	"io"
	"time"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// tailTime is how long to wait for the end of a reply after its finish_reason, because the token
// counts may follow. With stream_options.include_usage they come in a separate event, with empty
// choices, after the finish_reason. A server may keep the connection open instead, and then the
// client loses no more time than this.
const tailTime = 2 * time.Second

// deltas reads the events of an OpenAI-compatible server. It implements chat.Source.
//
// What servers send, each line after "data: ":
//
//	{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}
//	{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
//	{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}
//	[DONE]
type deltas struct {
	upstream.Stream
	events sseReader
	whole  bool                               // the answer is one JSON document
	record func(*fastjson.Value) error        // queues the contents of an event
	fault  func(*fastjson.Value) *fault.Error // returns the fault for an error object
	calls  nativeCalls
	probs  upstream.Probs
	ending *chat.Event // the Finish event, as soon as the server has sent a reason
	usage  chat.Counts
}

var _ chat.Source = (*deltas)(nil)

// read queues the contents of the next event. A non-nil error ends the stream after these contents.
// The error is io.EOF at a proper end.
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

// document reads the answer of a server that does not stream although a stream was requested. A
// whole reply has the same members as an event, with "message" in place of "delta", so one reader
// is enough for both. It returns io.EOF, or an error if the answer is too long or not a complete
// reply.
func (d *deltas) document() error {
	body, err := io.ReadAll(io.LimitReader(d.In, upstream.MaxRecord+1))
	// The limit would cut a longer document, which would then not be JSON.
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

// add queues an event of kind k with a text, unless the text is empty. The event comes after the
// calls that are not complete yet. Many deltas have "" next to other content.
func (d *deltas) add(k chat.Kind, text []byte) {
	if len(text) > 0 {
		d.Queue = d.calls.add(d.Queue, chat.Event{Kind: k, Text: d.Text.Of(text)})
	}
}

// finish records why the reply ended. Token counts may follow, so the Finish event waits for the
// stream's end: [DONE], a closed connection, or tailTime without a byte.
func (d *deltas) finish(reason, cause string) {
	d.ending = &chat.Event{Kind: chat.Finish, Text: reason, Meta: &chat.Meta{Cause: cause}}
	d.In.Shorten(tailTime)
}

// ended ends the stream. err is why reading failed, or nil for a proper end. It returns a fault if
// the server had sent no finish_reason, or if a call cannot be repaired. Otherwise it returns
// io.EOF, since errors after a finish_reason do not matter. Calls that waited are queued here,
// whole or as far as they had begun, before the counts and the reason.
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

// cut returns the fault of a reply that ended without a reason, even if it ended properly with
// [DONE]. Only a reason shows that the model had finished, so the last call may be incomplete.
func (d *deltas) cut(err error) error {
	if d.Ctx.Err() == nil && err == nil {
		return fault.New(fault.Unavailable,
			"the model server ended its reply without a finish_reason, so nobody knows whether it is complete")
	}
	return upstream.Cut(d.Ctx, err)
}

// chunk queues the contents of an event of /v1/chat/completions. A whole reply has "message" where
// a stream has "delta". Counts come in an event with empty choices, or together with the last
// choice. chunk returns the fault of an error object, or of a reply that the server gave up.
func (d *deltas) chunk(v *fastjson.Value) error {
	if e := errorIn(v); e != nil {
		return d.fault(e)
	}
	// In a stream with counts every other event has "usage":null.
	if u := v.Get("usage"); u != nil && u.Type() == fastjson.TypeObject {
		d.usage = chat.Counts{Prompt: u.GetInt("prompt_tokens"), Completion: u.GetInt(
			"completion_tokens")}.FromCache(cachedTokens(v, u))
	}
	for _, c := range v.GetArray("choices") {
		if c.GetInt("index") != 0 {
			continue // only one reply was requested
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

// delta queues the contents of one delta: thinking, text and calls, in this order if there are
// several. Thinking is reasoning_content in DeepSeek, llama-server and vLLM, and reasoning in
// Ollama and OpenRouter. If both are there, as in newer vLLMs, they are the same. In OpenAI's API a
// refusal takes the place of the text.
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
	// the form that OpenAI gave up
	if f := v.Get("function_call"); f != nil && f.Type() == fastjson.TypeObject {
		d.Queue = d.calls.fragment(d.Queue, fragmentOf(nil, f))
	}
}

// fragmentOf returns one entry of tool_calls as a fragment. The parameter call is the entry, and
// function is its member "function". An id may be a number, and arguments may be an object, whose
// JSON text is used. An index that is missing or not a number becomes -1, which matches any index.
func fragmentOf(call, function *fastjson.Value) fragment {
	f := fragment{index: -1, id: scalar(call.Get("id")),
		name: string(function.GetStringBytes("name")), args: scalar(function.Get("arguments"))}
	if i := call.Get("index"); i != nil && i.Type() == fastjson.TypeNumber {
		f.index = call.GetInt("index")
	}
	return f
}

// scalar returns a string's text, the JSON of any other value, and "" for null or a missing value.
// For example, an id of 7 becomes "7", and arguments that are an object become its text.
func scalar(v *fastjson.Value) string {
	switch {
	case v == nil || v.Type() == fastjson.TypeNull:
		return ""
	case v.Type() == fastjson.TypeString:
		return string(v.GetStringBytes())
	}
	return string(v.MarshalTo(nil))
}

// reason records a finish_reason, which is empty in most events. "tool_calls" and "stop" have the
// same effect, because the reply shows whether there were calls, and servers send either word. A
// reply that a filter cut is not complete, so its reason is Length with a cause. It returns a fault
// for "error", and for "abort", which vLLM sends when its engine gives up a request.
func (d *deltas) reason(word string) error {
	switch word {
	case "":
	case "length", "max_tokens", "model_length":
		d.finish(chat.Length, "")
	case "content_filter":
		d.finish(chat.Length, "content_filter")
	case "error", "abort":
		return fault.New(fault.Unavailable,
			"the model server gave its reply up (%s): its log may say why", word)
	default:
		d.finish(chat.Stop, "")
	}
	return nil
}

// cachedTokens returns how many tokens of the prompt the server had processed before. The number is
// in the usage in vLLM, and next to it in older llama-servers. It returns 0 if the server does not
// say.
func cachedTokens(v, usage *fastjson.Value) int {
	if n := usage.GetInt("prompt_tokens_details", "cached_tokens"); n > 0 {
		return n
	}
	return v.GetInt("timings", "cache_n")
}

// piece queues the contents of an event of llama-server's /completion:
//
//	{"content":" Paris","stop":false}
//
// The last event has the counts, and the reason for the end: stop_type in newer servers,
// stopped_limit in older ones. piece returns io.EOF after it, and the fault of an error object.
func (d *deltas) piece(v *fastjson.Value) error {
	if e := errorIn(v); e != nil {
		return d.fault(e)
	}
	d.add(chat.Text, v.GetStringBytes("content"))
	if !v.GetBool("stop") {
		return nil
	}
	d.usage = chat.Counts{Prompt: v.GetInt("tokens_evaluated"), Completion: v.GetInt(
		"tokens_predicted")}.FromCache(cachedTokens(v, nil))
	if string(v.GetStringBytes("stop_type")) == "limit" || v.GetBool("stopped_limit") {
		d.finish(chat.Length, "")
	} else {
		d.finish(chat.Stop, "")
	}
	// This server's last event ends the reply: there is no [DONE] to wait for.
	return d.ended(nil)
}

// errorIn returns the error object of an event, or nil if it has none. The object is {"error": …},
// or {"object": "error", …} in old vLLMs.
func errorIn(v *fastjson.Value) *fastjson.Value {
	if e := upstream.ErrorIn(v); e != nil {
		return e
	}
	if string(v.GetStringBytes("object")) == "error" {
		return v
	}
	return nil
}
