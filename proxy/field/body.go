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
	// keepParser is the largest body, in bytes, whose parser goes back to the pool.
	keepParser = 1 << 20
	// MaxValues is how many JSON values a body may hold, since each costs 88 bytes when parsed,
	// however short it is: 46 MB while room is made for this many. A conversation of 50,000
	// messages has half as many.
	MaxValues = 1 << 18
)

// parsers keeps fastjson's arenas between requests.
var parsers = sync.Pool{New: func() any { return new(fastjson.Parser) }}

// Parse parses a body, which must be an object, and calls read with it. An error of read becomes a
// fault. v is valid until read returns, since its arena goes back to the pool. fastjson's parser
// accepts some texts that are not JSON, which its validator refuses. Halves of surrogate pairs
// ("a\ud800b") become U+FFFD first, as in every other reader.
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
	// first, since it bounds the depth that the validator recurses into
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
// written, which takes six bytes in JSON: 19 MB of them once made a request of 114 MB to the model
// server.
const mostInvalid = 1 << 20

// binary reports whether a body has more than mostInvalid invalid bytes.
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

// reserve makes room for that many values. A parser that grows while it parses moves its values
// each time, into a quarter more room, and what was parsed already still points into the old rooms,
// which keeps them all alive: 240,000 values then take five times the room that they need, 105 MB.
// What reserve parses is not kept, so each smaller room is freed once there is a larger one.
func reserve(p *fastjson.Parser, values int) {
	for n := 1 << 10; n < values; {
		n = min(n+n/5, values)
		_, _ = p.Parse("[" + strings.Repeat("0,", n) + "0]")
	}
}

// notJSON returns an error that says where a body stops being JSON. The words come from
// encoding/json, which names the byte; fastjson only quotes the rest of the text.
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

// tooMany returns the error of a body with too many values. If the schemas of its tools have too
// many, the error names the tool: a schema is the likeliest cause, and its tool's name is what
// helps.
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
