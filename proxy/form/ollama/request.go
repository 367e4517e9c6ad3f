package ollama

import (
	"github.com/valyala/fastjson"

	"toolnorm/chat"
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
		{"messages", r.readMessages},
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
		{"format", r.readFormat},
		{"options", r.ReadOptions},
		{"logprobs", &r.Logprobs},
		{"top_logprobs", form.TopLogprobs(&r.TopLogprobs)},
	}
}

// readFormat stores the field format, which is "json" or a schema. It returns an error for any
// other value.
func (r *request) readFormat(v *fastjson.Value) error {
	if noFormat(v) {
		return nil
	}
	r.Format = field.Raw(v)
	if v.Type() != fastjson.TypeObject && string(v.GetStringBytes()) != "json" {
		return field.Bad("", `must be "json" or a JSON Schema, an object`)
	}
	return nil
}

// noFormat reports whether the field format asks for nothing, which null and, as in Ollama, an
// empty text do. langchaingo writes "format":"" in every request.
func noFormat(v *fastjson.Value) bool {
	return field.IsNull(v) || v.Type() == fastjson.TypeString && len(v.GetStringBytes()) == 0
}

// readMessages stores the conversation. It returns an error that names the wrong turn.
func (r *request) readMessages(v *fastjson.Value) (err error) {
	r.Messages, err = form.Messages(v, readMessage)
	return err
}

// readMessage returns one turn. Arguments of calls are objects in this API. Older clients send
// results without an id, and tool_name says from which tool they are. It returns an error if a
// field is invalid or the role is unknown.
func readMessage(v *fastjson.Value) (m chat.Message, err error) {
	var role string
	err = field.Object(v, field.Members{
		{"role", &role},
		{"content", &m.Content},
		{"thinking", &m.Reasoning},
		{"images", func(v *fastjson.Value) error { return readImages(&m, v) }},
		{"tool_calls", func(v *fastjson.Value) error { return form.ReadCalls(&m, v) }},
		{"tool_name", &m.Name},
		{"tool_call_id", &m.CallID},
	})
	if err != nil {
		return m, err
	}
	return m, form.SetRole(&m, role, "system, user, assistant or tool")
}

// readImages adds pictures in plain Base64 to m, where OpenAI's clients write a data URL. It
// returns an error if one is invalid.
func readImages(m *chat.Message, v *fastjson.Value) error {
	return field.List(v, func(v *fastjson.Value) error {
		var s string
		if err := field.Into(v, &s); err != nil {
			return err
		}
		img, err := form.DecodeImage(s)
		m.Images = append(m.Images, img)
		return err
	})
}
