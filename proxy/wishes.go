package proxy

import (
	"encoding/json"

	"github.com/valyala/fastjson"
)

// maxTop is how many other tokens can be asked for beside each.
const maxTop = 20

// cannot says why a field asks for what cannot be had. Fields that only advise, or that speak of OpenAI's own service
// (store, metadata, user, service_tier, …), pass unread: a reply without them is still a right one.
func cannot(key string, v *fastjson.Value) error {
	switch key {
	case "functions", "function_call", "audio", "prediction", "web_search_options", "modalities", "logit_bias":
	default:
		return nil
	}
	if isNull(v) {
		return nil
	}
	switch key {
	case "functions", "function_call":
		return bad("", "this form was given up by OpenAI; send tools and tool_choice")
	case "modalities":
		for _, m := range v.GetArray() {
			if string(m.GetStringBytes()) != "text" {
				return bad("", "only text is served here")
			}
		}
	case "logit_bias":
		if o, err := v.Object(); err != nil || o.Len() > 0 {
			return bad("", "is not taken by the model servers behind this one")
		}
	default:
		return bad("", "is not served here")
	}
	return nil
}

// readFormat reads the form that the whole reply must have.
func (a *Ask) readFormat(v *fastjson.Value) (err error) {
	a.Format = nil
	if isNull(v) {
		return nil
	}
	if v.Type() != fastjson.TypeObject {
		return bad("", "must be an object, not %s", kindOf(v))
	}
	switch kind := string(v.GetStringBytes("type")); kind {
	case "text":
	case "json_object":
		a.Format = json.RawMessage(`"json"`)
	case "json_schema":
		schema := v.Get("json_schema", "schema")
		if schema == nil || schema.Type() != fastjson.TypeObject {
			return bad("json_schema.schema", "must be a JSON Schema, an object, not %s", kindOf(schema))
		}
		a.Format, err = raw(schema)
	default:
		return bad("type", "must be text, json_object or json_schema, not %q", kind)
	}
	return err
}

// alone checks fields that cannot be had together.
func (a *Ask) alone(in *incoming) error {
	if in.top != nil {
		if *in.top < 0 || *in.top > maxTop {
			return bad("top_logprobs", "must be between 0 and %d", maxTop)
		}
		if *in.top > 0 && !a.Logprobs {
			return bad("top_logprobs", "needs logprobs to be true")
		}
		a.TopLogprobs = int(*in.top)
	}
	switch {
	case len(a.Tools) == 0:
		return nil
	case a.Logprobs:
		return bad("logprobs", "cannot be had while tools are offered: a call's tokens are not those of its arguments")
	}
	return nil
}
