package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"sync"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/internal/fault"
)

// Ask is what a client asks: the request, and the form in which it wants the reply.
type Ask struct {
	chat.Request
	Stream bool // piece by piece, else whole
	Usage  bool // count tokens at the end of a stream

	Form    string // the dialect, one of Forms: that which is asked for, empty when none is; then that which took the request
	NoCalls bool   // tool_choice "none": no calls, whoever offers tools
}

const (
	// keepParser is the largest body, in bytes, whose parser goes back to the pool.
	keepParser = 1 << 20
	// maxValues bounds the JSON values in a body, since each costs 120 bytes when parsed, however short it is: 64 MB with the
	// parser's room to grow. A conversation of 50,000 messages has half as many.
	maxValues = 1 << 18
)

// parsers keeps fastjson's arenas between requests.
var parsers = sync.Pool{New: func() any { return new(fastjson.Parser) }}

// parseAsk reads a request in OpenAI's chat form. Every error is a fault of kind Invalid that names the field.
func parseAsk(body []byte) (a *Ask, err error) {
	err = parse(body, func(v *fastjson.Value) (err error) {
		a, err = readAsk(v)
		return err
	})
	return a, err
}

// parse parses a body, which must be an object, and has it read. What read finds wrong becomes a fault; v is valid until
// read returns.
func parse(body []byte, read func(v *fastjson.Value) error) error {
	if len(body) > maxValues && chat.Values(body) > maxValues {
		return tooMany(body)
	}
	chat.MendSurrogates(body)
	p := parsers.Get().(*fastjson.Parser)
	if len(body) <= keepParser {
		defer parsers.Put(p)
	}
	v, err := p.ParseBytes(body) // first, since it bounds the depth that the validator recurses into
	if err == nil {
		err = fastjson.ValidateBytes(body)
	}
	if err != nil {
		return notJSON(body)
	}
	if v.Type() != fastjson.TypeObject {
		return asFault(bad("", "the body must be a JSON object, not %s", kindOf(v)))
	}
	if err := read(v); err != nil {
		return asFault(err)
	}
	return nil
}

// notJSON says where a body stops being JSON.
func notJSON(body []byte) error {
	var any json.RawMessage
	err := json.Unmarshal(body, &any)
	var at *json.SyntaxError
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return fault.New(fault.Invalid, "the body is empty; it must be a JSON object")
	case errors.As(err, &at):
		return fault.New(fault.Invalid, "the body is not valid JSON: %s, at byte %d", at.Error(), at.Offset)
	}
	return fault.New(fault.Invalid, "the body is not valid JSON, or is nested more than %d levels deep", fastjson.MaxDepth)
}

// tooMany is the error of a body with too many values. Where a tool's schema has most of them, it says so.
func tooMany(body []byte) error {
	var offer struct {
		Tools []struct {
			Function struct {
				Name       string
				Parameters json.RawMessage
			}
		}
	}
	if json.Unmarshal(body, &offer) == nil {
		tools := make([]chat.Tool, len(offer.Tools))
		for i, t := range offer.Tools {
			tools[i] = chat.Tool{Name: t.Function.Name, Schema: t.Function.Parameters}
		}
		if excess, ok := errors.AsType[*schema.Excess](schema.Affordable(tools, nil)); ok {
			return &fault.Error{Kind: fault.Invalid, Param: excess.Param, Code: schema.ExcessCode, Message: excess.Param + ": " + excess.Error(), Cause: excess}
		}
	}
	return fault.New(fault.Invalid, "the body holds more than %d JSON values", maxValues)
}

// readAsk reads the parsed body.
func readAsk(v *fastjson.Value) (*Ask, error) {
	a := &Ask{}
	var in incoming
	if err := each(v, func(key string, v *fastjson.Value) error { return a.field(&in, key, v) }); err != nil {
		return nil, err
	}
	if len(a.Messages) == 0 {
		return nil, bad("messages", "must be an array of at least one message")
	}
	if err := in.apply(a); err != nil {
		return nil, err
	}
	if err := a.choose(in.choice); err != nil {
		return nil, err
	}
	return a, a.alone(&in)
}

// incoming holds the fields that only make sense together with others.
type incoming struct {
	n, maxTokens, maxCompletionTokens, top *int64
	choice                                 *fastjson.Value
}

// apply sets what they come to together.
func (in *incoming) apply(a *Ask) error {
	if in.n != nil && *in.n != 1 {
		return bad("n", "only one reply a request can be had")
	}
	a.MaxTokens = in.limit()
	return nil
}

// limit is the reply's length limit in tokens; what is not positive means none, as many clients have it.
func (in *incoming) limit() int {
	n := in.maxCompletionTokens
	if n == nil {
		n = in.maxTokens
	}
	if n == nil {
		return 0
	}
	return int(min(max(*n, 0), math.MaxInt32))
}

// field reads one field of the body. What nobody here knows is kept as it is.
func (a *Ask) field(in *incoming, key string, v *fastjson.Value) error {
	switch key {
	case "model":
		return text(&a.Model)(v)
	case "messages":
		return a.readMessages(v)
	case "tools":
		return a.readTools(v)
	case "tool_choice":
		in.choice = v
		return nil
	case "parallel_tool_calls":
		several := true
		err := flag(&several)(v)
		a.Single = !several
		return err
	case "stream":
		return flag(&a.Stream)(v)
	case "stream_options":
		return a.streamOptions(v)
	case "max_tokens":
		return integer(&in.maxTokens)(v)
	case "max_completion_tokens":
		return integer(&in.maxCompletionTokens)(v)
	case "n":
		return integer(&in.n)(v)
	case "response_format":
		return a.readFormat(v)
	case "logprobs":
		return flag(&a.Logprobs)(v)
	case "top_logprobs":
		return integer(&in.top)(v)
	}
	if err := cannot(key, v); err != nil {
		return err
	}
	return a.sampling(key, v)
}

// sampling reads the fields that say how the model should write.
func (a *Ask) sampling(key string, v *fastjson.Value) error {
	switch key {
	case "stop":
		return a.readStop(v)
	case "seed":
		return integer(&a.Seed)(v)
	case "temperature":
		return number(&a.Temperature)(v)
	case "top_p":
		return number(&a.TopP)(v)
	case "presence_penalty":
		return number(&a.PresencePenalty)(v)
	case "frequency_penalty":
		return number(&a.FrequencyPenalty)(v)
	case "think":
		return a.readThink(v)
	case "reasoning_effort":
		return a.readEffort(v)
	case "reasoning":
		return a.readReasoning(v)
	case "keep_alive":
		return readKeep(&a.Keep, v)
	case "options", "num_ctx", "top_k", "min_p", "repeat_penalty":
		return readOptions(&a.Options, key, v)
	}
	return a.keep(key, v)
}

// keep puts a field aside unread.
func (a *Ask) keep(key string, v *fastjson.Value) error {
	b, err := raw(v)
	if err != nil {
		return err
	}
	if a.Extra == nil {
		a.Extra = make(map[string]json.RawMessage)
	}
	a.Extra[key] = b
	return nil
}
