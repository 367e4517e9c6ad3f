package openai

import (
	"cmp"

	"github.com/valyala/fastjson"

	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// request is a request while it is read: with the fields that only make sense together with others.
type request struct {
	*form.Ask
	n, top                         *int64
	maxTokens, maxCompletionTokens int
	choice                         *fastjson.Value
}

// readChat reads a request of the chat completions API. Every error is a fault of kind Invalid that names the field.
// Fields that depend on others (tool_choice on tools, top_logprobs on logprobs) are settled when all are read,
// since they come in any order.
func readChat(body []byte) (*form.Ask, error) {
	r := &request{Ask: new(form.Ask)}
	err := field.Parse(body, func(v *fastjson.Value) error {
		if err := field.Each(v, r.field); err != nil {
			return err
		}
		if len(r.Messages) == 0 {
			return field.Bad("messages", "must be an array of at least one message")
		}
		if err := r.settle(); err != nil {
			return err
		}
		if err := r.Choose(r.choice, named, "function"); err != nil {
			return err
		}
		return r.settleLogprobs()
	})
	return r.Ask, err
}

// settle sets what fields come to together that the completions API has as well.
// n: 1 passes, since some clients (Haystack) always write it.
func (r *request) settle() error {
	if r.n != nil && *r.n != 1 {
		return field.Bad("n", "only n=1 is supported")
	}
	r.MaxTokens = cmp.Or(r.maxCompletionTokens, r.maxTokens) // OpenAI's newer name counts first where a client sends both
	return nil
}

// field reads one field of the body. What nobody here knows is kept as it is.
// A null means that the field is not there, whatever its type: SDKs write their unset options so.
func (r *request) field(key string, v *fastjson.Value) error {
	switch key {
	case "model":
		return field.Text(&r.Model)(v)
	case "messages":
		return r.readMessages(v)
	case "tools":
		return r.ReadTools(v)
	case "tool_choice":
		r.choice = v // read when the tools are known
		return nil
	case "parallel_tool_calls":
		return r.ReadParallel(v)
	case "stream":
		return field.Flag(&r.Stream)(v)
	case "stream_options":
		return r.streamOptions(v)
	case "max_tokens":
		return form.ReadLimit(&r.maxTokens)(v)
	case "max_completion_tokens":
		return form.ReadLimit(&r.maxCompletionTokens)(v)
	case "n":
		return field.Integer(&r.n)(v)
	case "response_format":
		return r.readFormat(v)
	case "logprobs":
		return field.Flag(&r.Logprobs)(v)
	case "top_logprobs":
		return field.Integer(&r.top)(v)
	}
	if err := rejectUnsupported(key, v); err != nil {
		return err
	}
	switch key {
	case "reasoning_effort":
		return r.ReadEffort(v)
	case "reasoning":
		return r.readReasoning(v)
	}
	return r.ReadSampling(key, v)
}

// named finds the tool that tool_choice names, with or without OpenAI's wrapping.
// {"function":{"name":"f"}} is the API's own form, {"name":"f"} that of the Responses API.
func named(v *fastjson.Value) (member, name string) {
	if f := v.Get("function"); f != nil {
		return "function.name", string(f.GetStringBytes("name"))
	}
	return "name", string(v.GetStringBytes("name"))
}

// streamOptions reads whether the client wants tokens counted.
// Unasked, no chunk may bear them: Goose ends its tool loop at a chunk without choices, and that is where they
// stand.
func (r *request) streamOptions(v *fastjson.Value) error {
	if field.IsNull(v) {
		return nil
	}
	return field.Each(v, func(key string, v *fastjson.Value) error {
		if key == "include_usage" {
			return field.Flag(&r.Usage)(v)
		}
		return nil
	})
}

// readReasoning reads {"effort": …}, as some clients write reasoning_effort.
// OpenRouter and the Responses API have it so; other members (summary, max_tokens) are passed over.
func (r *request) readReasoning(v *fastjson.Value) error {
	if field.IsNull(v) {
		return nil
	}
	return field.Each(v, func(key string, v *fastjson.Value) error {
		if key == "effort" {
			return r.ReadEffort(v)
		}
		return nil
	})
}

// maxTop is how many other tokens can be asked for beside each.
const maxTop = 20 // OpenAI's own bound

// rejectUnsupported reports a field that asks for what is not served here: a reply without it would be a wrong one. Fields that only advise,
// or that speak of OpenAI's own service (store, metadata, user, service_tier, …), pass unread.
func rejectUnsupported(key string, v *fastjson.Value) error {
	switch key {
	case "functions", "function_call", "audio", "prediction", "web_search_options", "modalities", "logit_bias":
	default:
		return nil
	}
	if field.IsNull(v) {
		return nil
	}
	switch key {
	case "functions", "function_call":
		return field.Bad("", "this form was given up by OpenAI; send tools and tool_choice")
	case "modalities":
		for _, m := range v.GetArray() {
			if string(m.GetStringBytes()) != "text" {
				return field.Bad("", "only text is served here")
			}
		}
	case "logit_bias":
		if o, err := v.Object(); err != nil || o.Len() > 0 {
			return field.Bad("", "is not taken by the model servers behind this one")
		}
	default:
		return field.Bad("", "is not served here")
	}
	return nil
}

// readFormat reads the form that the whole reply must have.
// It is kept in the form of Ollama's field format: "json", or the schema itself.
func (r *request) readFormat(v *fastjson.Value) error {
	r.Format = nil
	if field.IsNull(v) {
		return nil
	}
	if v.Type() != fastjson.TypeObject {
		return field.Bad("", "must be an object, not %s", field.KindOf(v))
	}
	return r.ReadFormat(v, "json_schema", "schema")
}

// settleLogprobs checks the fields of probabilities: a call's tokens are its markup, not its arguments, so with tools there is
// nothing true to show.
// 20 is OpenAI's bound of top_logprobs.
func (r *request) settleLogprobs() error {
	if r.top != nil {
		if *r.top < 0 || *r.top > maxTop {
			return field.Bad("top_logprobs", "must be between 0 and %d", maxTop)
		}
		if *r.top > 0 && !r.Logprobs {
			return field.Bad("top_logprobs", "needs logprobs to be true")
		}
		r.TopLogprobs = int(*r.top)
	}
	switch {
	case len(r.Tools) == 0:
		return nil
	case r.Logprobs:
		return field.Bad("logprobs", "not available while tools are offered: a call's tokens are not those of its arguments")
	}
	return nil
}
