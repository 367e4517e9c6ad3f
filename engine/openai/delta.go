package openai

import (
	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// chunk queues what an event of /v1/chat/completions holds; a whole reply has "message" where a stream has
// "delta". Counts come in an event with empty choices, or beside the last one.
func (d *deltas) chunk(v *fastjson.Value) error {
	if e := errorIn(v); e != nil {
		return d.fault(e)
	}
	// In a stream that was asked for counts every other event has "usage":null.
	if u := v.Get("usage"); u != nil && u.Type() == fastjson.TypeObject {
		d.usage = chat.Counts{Prompt: u.GetInt("prompt_tokens"), Completion: u.GetInt("completion_tokens")}
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

// delta queues what one delta adds: thinking, text and calls, in this order when there are several. Thinking is
// reasoning_content at DeepSeek, llama-server and vLLM, and reasoning at Ollama and OpenRouter; where both are
// there, as newer vLLMs have it, they are the same. A refusal of OpenAI's is what the model says instead of text.
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

// fragmentOf reads one entry of tool_calls; function is its member of that name. An id may be a number, and
// arguments an object: then their JSON is what counts. An index that is missing or no number is -1, which agrees
// with any.
func fragmentOf(call, function *fastjson.Value) fragment {
	f := fragment{index: -1, id: scalar(call.Get("id")), name: string(function.GetStringBytes("name")), args: scalar(function.Get("arguments"))}
	if i := call.Get("index"); i != nil && i.Type() == fastjson.TypeNumber {
		f.index = call.GetInt("index")
	}
	return f
}

// scalar is a string's text, the JSON of anything else, and nothing of nothing: an id of 7 is "7", arguments that
// are an object are their text, null and a missing member are "".
func scalar(v *fastjson.Value) string {
	switch {
	case v == nil || v.Type() == fastjson.TypeNull:
		return ""
	case v.Type() == fastjson.TypeString:
		return string(v.GetStringBytes())
	}
	return string(v.MarshalTo(nil))
}

// reason notes a finish_reason, which most events leave empty. "tool_calls" and "stop" are the same here: whether
// there were calls is what the reply shows, and servers say either of both. What a filter cut is no whole reply,
// so it is a length with a cause. vLLM says "abort" when its engine gives a request up.
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

// piece queues what an event of llama-server's /completion holds:
//
//	{"content":" Paris","stop":false}
//
// The last one has the counts, and why it stopped: stop_type in newer servers, stopped_limit in older ones.
func (d *deltas) piece(v *fastjson.Value) error {
	if e := errorIn(v); e != nil {
		return d.fault(e)
	}
	d.add(chat.Text, v.GetStringBytes("content"))
	if !v.GetBool("stop") {
		return nil
	}
	d.usage = chat.Counts{Prompt: v.GetInt("tokens_evaluated"), Completion: v.GetInt("tokens_predicted")}
	if string(v.GetStringBytes("stop_type")) == "limit" || v.GetBool("stopped_limit") {
		d.finish(chat.Length, "")
	} else {
		d.finish(chat.Stop, "")
	}
	// What this server says last is complete: there is no [DONE] to wait for.
	return d.ended(nil)
}

// errorIn is the error object of an event, nil if it has none: {"error": …}, or {"object": "error", …} of old
// vLLMs. "error": null is none.
func errorIn(v *fastjson.Value) *fastjson.Value {
	if e := v.Get("error"); e != nil && e.Type() != fastjson.TypeNull {
		return e
	}
	if string(v.GetStringBytes("object")) == "error" {
		return v
	}
	return nil
}
