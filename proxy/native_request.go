package proxy

import (
	"github.com/valyala/fastjson"

	"toolnorm/chat"
)

// parseNative reads a request in Ollama's chat form. Every error is a fault of kind Invalid that names the field.
func parseNative(body []byte) (*Ask, error) {
	a := &Ask{Stream: true}
	err := parse(body, func(v *fastjson.Value) error {
		if err := each(v, a.nativeField); err != nil {
			return err
		}
		if len(a.Messages) == 0 {
			return bad("messages", "must be an array of at least one message")
		}
		return nil
	})
	return a, err
}

// nativeField reads one field.
func (a *Ask) nativeField(key string, v *fastjson.Value) error {
	switch key {
	case "model", "name":
		return text(&a.Model)(v)
	case "messages":
		return a.readNativeMessages(v)
	case "tools":
		return a.readTools(v)
	case "stream":
		return flag(&a.Stream)(v)
	case "think":
		return a.readThink(v)
	case "keep_alive":
		return readKeep(&a.Keep, v)
	case "format":
		return a.readNativeFormat(v)
	case "options":
		return a.readNativeOptions(v)
	case "logprobs":
		if v.GetBool() {
			return bad("", "is not to be had of this model's server in this form; ask at /v1/chat/completions")
		}
	}
	return nil
}

// readNativeFormat reads "json" or a schema.
func (a *Ask) readNativeFormat(v *fastjson.Value) (err error) {
	if noFormat(v) {
		return nil
	}
	a.Format, err = raw(v)
	return err
}

// noFormat says whether a format is none: Ollama takes an empty text for null, and some clients always write one.
func noFormat(v *fastjson.Value) bool {
	return isNull(v) || v.Type() == fastjson.TypeString && len(v.GetStringBytes()) == 0
}

// readNativeOptions reads the options. Stop sequences are taken out of them: while tools are offered they are matched
// here.
func (a *Ask) readNativeOptions(v *fastjson.Value) error {
	if isNull(v) {
		return nil
	}
	return each(v, func(key string, v *fastjson.Value) error {
		if key == "stop" {
			return a.readStop(v)
		}
		return readOption(&a.Options, key, v)
	})
}

// readNativeMessages reads the conversation in Ollama's form.
func (a *Ask) readNativeMessages(v *fastjson.Value) error {
	a.Messages = nil
	return items(v, func(_ int, v *fastjson.Value) error {
		m, err := readNativeMessage(v)
		a.Messages = append(a.Messages, m)
		return err
	})
}

// readNativeMessage reads one turn.
func readNativeMessage(v *fastjson.Value) (m chat.Message, err error) {
	var role string
	err = each(v, func(key string, v *fastjson.Value) error {
		switch key {
		case "role":
			return text(&role)(v)
		case "content":
			return text(&m.Content)(v)
		case "thinking":
			return text(&m.Reasoning)(v)
		case "images":
			return readNativeImages(&m, v)
		case "tool_calls":
			return readCalls(&m, v)
		case "tool_name":
			return text(&m.Name)(v)
		case "tool_call_id":
			return text(&m.CallID)(v)
		}
		return nil
	})
	if err != nil {
		return m, err
	}
	var ok bool
	if m.Role, ok = roles[role]; !ok {
		return m, bad("role", "must be system, user, assistant or tool, not %q", role)
	}
	return m, checkTurn(&m)
}

// readNativeImages reads pictures in base64.
func readNativeImages(m *chat.Message, v *fastjson.Value) error {
	if isNull(v) {
		return nil
	}
	return items(v, func(_ int, v *fastjson.Value) error {
		var s string
		if err := text(&s)(v); err != nil {
			return err
		}
		img, err := fromBase64(s)
		m.Images = append(m.Images, img)
		return err
	})
}
