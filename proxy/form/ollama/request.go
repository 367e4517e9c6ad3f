package ollama

import (
	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// request is a request while it is read.
// It needs no more than form.Ask: no field of Ollama's depends on another.
type request struct{ *form.Ask }

// readChat reads a request in Ollama's chat form. Every error is a fault of kind Invalid that names the field.
func readChat(body []byte) (*form.Ask, error) {
	r := &request{&form.Ask{Stream: true}} // Ollama streams unless told not to
	err := field.Parse(body, func(v *fastjson.Value) error {
		if err := field.Each(v, r.field); err != nil {
			return err
		}
		if len(r.Messages) == 0 {
			return field.Bad("messages", "must be an array of at least one message")
		}
		return nil
	})
	return r.Ask, err
}

// field reads one field.
// Fields that are not known here are Ollama's own and say nothing of a reply with calls.
func (r *request) field(key string, v *fastjson.Value) error {
	switch key {
	case "model", "name":
		return field.Text(&r.Model)(v)
	case "messages":
		return r.readMessages(v)
	case "tools":
		return r.ReadTools(v)
	case "stream":
		return field.Flag(&r.Stream)(v)
	case "think":
		return r.ReadThink(v)
	case "keep_alive":
		return form.ReadKeepAlive(&r.Keep, v)
	case "format":
		return r.readFormat(v)
	case "options":
		return r.ReadOptions(v)
	case "logprobs":
		if v.GetBool() {
			return field.Bad("", "is not to be had here with tools, or of a server that does not speak this API; ask at /v1/chat/completions without tools")
		}
	}
	return nil
}

// readFormat reads "json" or a schema.
func (r *request) readFormat(v *fastjson.Value) (err error) {
	if noFormat(v) {
		return nil
	}
	if r.Format, err = field.Raw(v); err != nil {
		return err
	}
	if v.Type() != fastjson.TypeObject && string(v.GetStringBytes()) != "json" {
		return field.Bad("", `must be "json" or a JSON Schema, an object`)
	}
	return nil
}

// noFormat says whether a format is none: Ollama takes an empty text for null, and some clients always write one.
// langchaingo writes "format":"" in every request; taking it for a format would pass calls on unread.
func noFormat(v *fastjson.Value) bool {
	return field.IsNull(v) || v.Type() == fastjson.TypeString && len(v.GetStringBytes()) == 0
}

// readMessages reads the conversation in Ollama's form.
func (r *request) readMessages(v *fastjson.Value) (err error) {
	r.Messages, err = form.Messages(v, readMessage)
	return err
}

// readMessage reads one turn.
// Arguments of calls come as objects here. Older clients send results without an id: tool_name says whose they
// are.
func readMessage(v *fastjson.Value) (m chat.Message, err error) {
	var role string
	err = field.Each(v, func(key string, v *fastjson.Value) error {
		switch key {
		case "role":
			return field.Text(&role)(v)
		case "content":
			return field.Text(&m.Content)(v)
		case "thinking":
			return field.Text(&m.Reasoning)(v)
		case "images":
			return readImages(&m, v)
		case "tool_calls":
			return form.ReadCalls(&m, v)
		case "tool_name":
			return field.Text(&m.Name)(v)
		case "tool_call_id":
			return field.Text(&m.CallID)(v)
		}
		return nil
	})
	if err != nil {
		return m, err
	}
	return m, form.SetRole(&m, role, "system, user, assistant or tool")
}

// readImages reads pictures in base64.
// Bare base64, where OpenAI's clients write a data URL.
func readImages(m *chat.Message, v *fastjson.Value) error {
	if field.IsNull(v) {
		return nil
	}
	return field.Items(v, func(_ int, v *fastjson.Value) error {
		var s string
		if err := field.Text(&s)(v); err != nil {
			return err
		}
		img, err := form.DecodeImage(s)
		m.Images = append(m.Images, img)
		return err
	})
}
