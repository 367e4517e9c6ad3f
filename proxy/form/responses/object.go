package responses

import (
	"strconv"
	"unicode/utf8"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// idPrefix is the prefix of every response's id.
const idPrefix = "resp_"

// echoedField is a field of the request that the response repeats. If the request does not have the
// field, the response has a default value, which is in the field absent.
type echoedField struct{ key, absent string }

// echoedFields lists the fields of a request that the response repeats, in OpenAI's order. SDKs
// need tools, tool_choice and parallel_tool_calls; the others are for programs that read a reply
// without its request.
var echoedFields = []echoedField{
	{"background", "false"}, {"instructions", "null"}, {"max_output_tokens", "null"},
	{"max_tool_calls", "null"},
	{"parallel_tool_calls", "true"}, {"previous_response_id", "null"}, {"prompt_cache_key", "null"},
	{"reasoning", `{"effort":null,"summary":null}`},
	{"safety_identifier", "null"}, {"service_tier", `"default"`}, {"store", "true"},
	{"temperature", "null"}, {"text", `{"format":{"type":"text"}}`},
	{"tool_choice", `"auto"`}, {"tools", "[]"}, {"top_logprobs", "0"}, {"top_p", "null"},
	{"truncation", `"disabled"`}, {"user", "null"}, {"metadata", "{}"},
}

// object is the state of a reply. The response object is sent three times in a stream, with more
// content each time.
type object struct {
	status string
	items  []*item
	usage  bool  // whether the token counts are known
	err    error // of a reply that failed
}

// The states of a response.
const (
	inProgress = "in_progress"
	completed  = "completed"
	incomplete = "incomplete"
	failed     = "failed"
)

// appendObject appends the response object. Each key is present in every state, as in OpenAI's
// responses, because the SDKs' types have no optional members.
func (p *reply) appendObject(b []byte, o object) []byte {
	b = chat.AppendQuoted(append(b, `{"id":`...), p.out.ID)
	b = strconv.AppendInt(append(b, `,"object":"response","created_at":`...), p.out.Created.Unix(),
		10)
	b = append(append(append(b, `,"status":"`...), o.status...), `","error":`...)
	if o.err == nil {
		b = append(b, "null"...)
	} else {
		b = appendError(b, o.err)
	}
	b = append(b, `,"incomplete_details":`...)
	if o.status == incomplete {
		b = append(b, `{"reason":"max_output_tokens"}`...)
	} else {
		b = append(b, "null"...)
	}
	b = chat.AppendQuoted(append(b, `,"model":`...), p.model)
	b = append(b, `,"output":[`...)
	for i, it := range o.items {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.r.appendItem(b, it, true)
	}
	b = append(b, ']')
	for _, e := range echoedFields {
		b = append(append(append(b, `,"`...), e.key...), `":`...)
		if raw := p.r.echo[e.key]; raw != nil && string(raw) != "null" {
			b = append(b, raw...)
		} else {
			b = append(b, e.absent...)
		}
	}
	b = append(b, `,"usage":`...)
	if !o.usage {
		return append(b, "null}"...)
	}
	return append(p.appendUsage(b), '}')
}

// appendUsage appends the token counts. Codex decides by their sum when to compact its
// conversation, so the sum must be present and right. No server reports how many of the tokens were
// thoughts, so this count is estimated from the share of thoughts among the characters.
func (p *reply) appendUsage(b []byte) []byte {
	in, out := int64(p.count.Prompt), int64(p.count.Completion)
	thought := int64(0)
	if all := p.thought + p.said; all > 0 {
		thought = (out*p.thought + all/2) / all
	}
	b = strconv.AppendInt(append(b, `{"input_tokens":`...), in, 10)
	b = strconv.AppendInt(append(b, `,"input_tokens_details":{"cached_tokens":`...),
		int64(p.count.Cached), 10)
	b = strconv.AppendInt(append(b, `},"output_tokens":`...), out, 10)
	b = strconv.AppendInt(append(b, `,"output_tokens_details":{"reasoning_tokens":`...), thought,
		10)
	b = strconv.AppendInt(append(b, `},"total_tokens":`...), in+out, 10)
	return append(b, '}')
}

// weigh counts the characters of an event as thoughts or as other output, for appendUsage. It does
// not count bytes, because a Korean text has three times as many bytes per character as an English
// one.
func (p *reply) weigh(e chat.Event) {
	n := int64(utf8.RuneCountInString(e.Text))
	if e.Kind == chat.Reasoning {
		p.thought += n
	} else if e.Kind != chat.Finish {
		p.said += n
	}
}

// appendError appends the error of a response that failed. Such an error has two members, while the
// error of an HTTP status has four.
func appendError(b []byte, err error) []byte {
	f := fault.From(err)
	b = chat.AppendQuoted(append(b, `{"code":`...), codeOf(f))
	return append(chat.AppendQuoted(append(b, `,"message":`...), f.Message), '}')
}

// codeOf returns the code of a failure within a stream. Codex looks only at the code. It stops
// without compacting at context_length_exceeded, waits at rate_limit_exceeded, and stops at
// invalid_prompt. At any other code it asks again, up to five times.
func codeOf(f *fault.Error) string {
	switch {
	case f.Code == contextLength:
		return contextLength
	case f.Kind == fault.Limited:
		return "rate_limit_exceeded"
	case f.Again():
		return "server_error"
	}
	return "invalid_prompt"
}

// contextLength is the code for a request that does not fit the context.
const contextLength = "context_length_exceeded"

// toldInStream reports whether the error of a streamed request is sent as an event of the stream
// even where an HTTP status could still be sent. Codex learns only from an event that a request is
// too long. It sends a request that gets a status of 500 or more up to thirty times, but after an
// event it asks again at most five times.
func toldInStream(f *fault.Error) bool {
	return f.Code == contextLength || f.Status() >= 500
}
