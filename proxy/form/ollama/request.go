package ollama

import (
	"github.com/valyala/fastjson"

	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// request is a request that is being read. It needs no more fields than form.Ask, since no field of
// Ollama depends on another.
type request struct{ *form.Ask }

// readChat returns the chat request in a parsed body. Every error names the field. Unknown fields
// are ignored, because they are Ollama's own and do not concern a reply with calls.
func readChat(v *fastjson.Value) (*form.Ask, error) {
	r := &request{&form.Ask{Stream: true}} // Ollama streams unless told not to
	err := field.Object(v, append(r.fields(), field.Members{
		{"messages", form.Messages(&r.Messages, "system, user, assistant or tool")},
		{"tools", r.ReadTools},
	}...))
	if err == nil && len(r.Messages) == 0 {
		err = field.Bad("messages", "must be an array of at least one message")
	}
	return r.Ask, err
}

// fields returns the fields that chats and prompts have in common.
func (r *request) fields() field.Members {
	return field.Members{
		{"model", &r.Model}, {"name", &r.Model},
		{"stream", &r.Stream},
		{"think", r.ReadThink},
		{"keep_alive", form.KeepAlive(&r.Keep)},
		{"format", r.ReadOllamaFormat},
		{"options", r.ReadOptions},
		{"logprobs", &r.Logprobs},
		{"top_logprobs", form.TopLogprobs(&r.TopLogprobs)},
	}
}
