package field

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/internal/fault"
)

const (
	// keepParser is the largest body, in bytes, after which a parser is put back into the pool.
	keepParser = 1 << 20
	// MaxValues is the most JSON values in a body. Each costs 88 bytes when it is parsed, however
	// short it is, so this many take 46 MB while memory is reserved for them. A conversation of
	// 50,000 messages has half as many.
	MaxValues = 1 << 18
)

// parsers is a pool of fastjson parsers, whose memory is reused between requests.
var parsers = sync.Pool{New: func() any { return new(fastjson.Parser) }}

// Parse parses a body, which must be a JSON object, and calls the function read with the object. It
// returns a fault if the body is not an object, has too many values or too much invalid UTF-8, or
// if read returns an error. The object is valid only until Parse returns, since its memory is
// reused. fastjson's parser accepts some texts that are not JSON, which its validator then refuses.
// Unpaired surrogates ("a\ud800b") are first replaced by U+FFFD, as every other reader does.
func Parse(body []byte, read func(v *fastjson.Value) error) error {
	p := parsers.Get().(*fastjson.Parser)
	if len(body) <= keepParser {
		defer parsers.Put(p)
	}
	if len(body) > MaxValues { // a value takes at least one byte
		n := chat.Values(body)
		switch {
		case n > MaxValues:
			return tooMany(body)
		case binary(body):
			return fault.New(fault.Invalid,
				"the body must be text in UTF-8: more than %d bytes of it are none", mostInvalid)
		}
		reserve(p, n)
	}
	chat.MendSurrogates(body)
	// parsed first, since the parser limits the depth to which the validator recurses
	v, err := p.ParseBytes(body)
	if err == nil {
		err = fastjson.ValidateBytes(body)
	}
	if err != nil {
		return notJSON(body)
	}
	if v.Type() != fastjson.TypeObject {
		return AsFault(Bad("", "the body must be a JSON object, not %s", KindOf(v)))
	}
	if err := read(v); err != nil {
		return AsFault(err)
	}
	return nil
}

// mostInvalid is how many bytes of a body may be invalid UTF-8. Each becomes U+FFFD wherever it is
// written, which takes six bytes in JSON. 19 MB of them once made a request of 114 MB to the model
// server.
const mostInvalid = 1 << 20

// binary reports whether more than mostInvalid bytes of a body are invalid UTF-8.
func binary(body []byte) bool {
	if utf8.Valid(body) {
		return false
	}
	n := 0
	for len(body) > 0 && n <= mostInvalid {
		r, size := utf8.DecodeRune(body)
		if r == utf8.RuneError && size == 1 {
			n++
		}
		body = body[size:]
	}
	return n > mostInvalid
}

// reserve makes a parser allocate memory for the given number of values, before it parses a body
// with as many. A parser that grows while it parses moves its values into a block that is a quarter
// larger, again and again. The values parsed before still point into the old blocks and keep them
// all alive, so 240,000 values take 105 MB, five times what they need. reserve parses longer and
// longer texts and drops the results, so each smaller block is freed.
func reserve(p *fastjson.Parser, values int) {
	for n := 1 << 10; n < values; {
		n = min(n+n/5, values)
		_, _ = p.Parse("[" + strings.Repeat("0,", n) + "0]")
	}
}

// notJSON returns an error that says where a body stops being JSON. Its text comes from
// encoding/json, which names the position, while fastjson only quotes the rest of the text.
func notJSON(body []byte) error {
	var any json.RawMessage
	err := json.Unmarshal(body, &any)
	var at *json.SyntaxError
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return fault.New(fault.Invalid, "the body is empty; it must be a JSON object")
	case errors.As(err, &at):
		return fault.New(fault.Invalid, "the body is not valid JSON: %s, at byte %d", at.Error(),
			at.Offset)
	}
	return fault.New(fault.Invalid,
		"the body is not valid JSON, or is nested more than %d levels deep", fastjson.MaxDepth)
}

// tooMany returns the error for a body with too many values. If the schema of a tool has too many,
// which is the likeliest cause, the error names that tool.
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
			return &fault.Error{Kind: fault.Invalid, Param: excess.Param, Code: schema.ExcessCode,
				Message: excess.Param + ": " + excess.Error(), Cause: excess}
		}
	}
	return fault.New(fault.Invalid, "the body holds more than %d JSON values", MaxValues)
}
