package openai

import (
	"cmp"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// request is a request that is being read. It has the fields that only make sense together with
// others.
type request struct {
	*form.Ask
	n                              *int64
	maxTokens, maxCompletionTokens int
	choice                         *fastjson.Value
	system                         chat.Message // of fields of other APIs
}

// readChat returns the request in a body of the chat completions API. Every error is a fault of
// kind Invalid that names the field. Fields that depend on others (tool_choice on tools,
// top_logprobs on logprobs) are applied after all have been read, since fields come in any order.
func readChat(body []byte) (*form.Ask, error) {
	r := &request{Ask: new(form.Ask)}
	err := field.Parse(body, func(v *fastjson.Value) error {
		if err := r.fields().Read(v, r.rest); err != nil {
			return err
		}
		if len(r.Messages) == 0 {
			return field.Bad("messages", "must be an array of at least one message")
		}
		if r.settle(); r.system.Content != "" {
			r.Messages = append([]chat.Message{r.system}, r.Messages...)
		}
		if err := r.Choose(r.choice, form.FindTool); err != nil {
			return err
		}
		if r.n != nil {
			if *r.n < 1 || *r.n > mostChoices {
				return field.Bad("n", "must be between 1 and %d", mostChoices)
			}
			if *r.n > 1 { // some clients (Haystack) always write 1
				r.Choices = int(*r.n)
			}
		}
		if r.TopLogprobs > 0 && !r.Logprobs {
			return field.Bad("top_logprobs", "needs logprobs to be true")
		}
		return nil
	})
	return r.Ask, err
}

// mostChoices is the most replies that a request may ask for. They are generated one after the
// other.
const mostChoices = 8

// settle sets MaxTokens from the two fields that can limit a reply. It is used for the completions
// API as well.
func (r *request) settle() {
	// OpenAI's newer name has precedence if a client sends both
	r.MaxTokens = cmp.Or(r.maxCompletionTokens, r.maxTokens)
}

// fields returns the members that the body may have, with what reads each of them. Unknown members
// are passed to the method rest. A null means that a field is absent, whatever its type, because
// SDKs write unset options as null.
func (r *request) fields() field.Members {
	return append(field.Members{
		{"model", &r.Model},
		{"messages", form.Messages(&r.Messages, roles)},
		{"system", r.readSystem}, {"instructions", r.readSystem}, // as in Messages and Responses
		{"tools", r.ReadTools},
		{"tool_choice", &r.choice}, // read when the tools are known
		{"parallel_tool_calls", r.ReadParallel},
		{"stream", &r.Stream},
		// Counts may only be sent when they are asked for: they are in a chunk without choices, and
		// Goose ends its tool loop at such a chunk.
		{"stream_options", field.Members{{"include_usage", &r.Usage}}},
		{"max_tokens", form.ReadLimit(&r.maxTokens)},
		{"max_completion_tokens", form.ReadLimit(&r.maxCompletionTokens)},
		{"max_output_tokens", form.ReadLimit(&r.maxCompletionTokens)}, // as in Responses
		{"n", &r.n},
		{"response_format", r.readFormat}, {"format", r.ReadOllamaFormat},
		{"logprobs", &r.Logprobs},
		{"top_logprobs", form.TopLogprobs(&r.TopLogprobs)},
		{"reasoning_effort", r.ReadEffort},
		// as in OpenRouter and the Responses API; other members (summary, max_tokens) are
		// skipped.
		{"reasoning", field.Members{{"effort", r.ReadEffort}}},
		{"chat_template_kwargs", r.readSwitch}, {"enable_thinking", r.readSwitch},
		{"thinking", r.readSwitch},
	}, r.Sampling()...)
}

// readSystem stores a system text that is not among the messages. It returns an error if the value
// cannot be the content of a message, or if it has images.
func (r *request) readSystem(v *fastjson.Value) error {
	m := chat.Message{Role: chat.System}
	if err := form.ReadContent(&m, v); err != nil || m.Content == "" {
		return err
	}
	r.system = m
	return form.SetRole(&r.system, "system", "")
}

// readSwitch reads the switch for thinking in the forms of other services. These are vLLM's
// {"enable_thinking":false} in chat_template_kwargs, enable_thinking as a field of its own, and
// DeepSeek's {"type":"disabled"} in thinking. The fields of this API have precedence. The field is
// kept as well, since a server that knows it may read more in it. It always returns nil.
func (r *request) readSwitch(key string, v *fastjson.Value) error {
	on := field.OrNull(v)
	if key == "chat_template_kwargs" {
		on = field.OrNull(v.Get("enable_thinking"))
	}
	kind := string(v.GetStringBytes("type"))
	if think := on.GetBool() || kind == "enabled"; r.Think == nil &&
		(think || on.Type() == fastjson.TypeFalse || kind == "disabled") {
		r.Think = &think
	}
	return r.KeepUnknown(key, v)
}

var (
	givenUp   = field.Refuse("this form was given up by OpenAI; send tools and tool_choice")
	notServed = field.Refuse("is not served here")
)

// unsupportedFields maps fields that ask for something unsupported to functions that check their
// values. A reply without what such a field asks for would be wrong. Fields that only advise, or
// that concern OpenAI's own service (store, metadata, user, service_tier, …), are ignored.
var unsupportedFields = map[string]func(*fastjson.Value) error{
	"functions": givenUp, "function_call": givenUp, "audio": notServed, "prediction": notServed,
	"web_search_options": notServed,
	"modalities":         onlyText, "logit_bias": noBias,
}

// rest stores an unknown field. It returns an error if the field asks for something that is not
// supported.
func (r *request) rest(key string, v *fastjson.Value) error {
	if check := unsupportedFields[key]; check != nil {
		if err := check(v); err != nil {
			return err
		}
	}
	return r.KeepUnknown(key, v)
}

// onlyText returns an error if the field modalities asks for anything but text.
func onlyText(v *fastjson.Value) error {
	for _, m := range v.GetArray() {
		if string(m.GetStringBytes()) != "text" {
			return field.Bad("", "only text is served here")
		}
	}
	return nil
}

// noBias checks the field logit_bias. It returns an error unless the field is null or an empty
// object, which asks for nothing.
func noBias(v *fastjson.Value) error {
	if o, err := v.Object(); field.IsNull(v) || err == nil && o.Len() == 0 {
		return nil
	}
	return field.Bad("", "is not taken by the model servers behind this one")
}

// readFormat stores the format that the whole reply must have, in the form of Ollama's field
// format: "json", or the schema itself. It returns an error for another type or an invalid schema.
func (r *request) readFormat(v *fastjson.Value) error {
	if r.Format = nil; !field.IsNull(v) && v.Type() != fastjson.TypeObject {
		return field.Bad("", "must be an object, not %s", field.KindOf(v))
	}
	return r.ReadFormat(v, "json_schema", "schema")
}
