package proxy

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
)

// roles maps the roles that clients write to those of a conversation.
var roles = map[string]chat.Role{
	"system": chat.System, "developer": chat.System, "user": chat.User,
	"assistant": chat.Assistant, "tool": chat.ToolRole, "function": chat.ToolRole,
}

// readMessages reads the conversation.
func (a *Ask) readMessages(v *fastjson.Value) error {
	a.Messages = nil
	return items(v, func(_ int, v *fastjson.Value) error {
		m, err := readMessage(v)
		a.Messages = append(a.Messages, m)
		return err
	})
}

// readMessage reads one turn. Fields that say nothing to a model (audio, annotations, cache marks) are passed over.
func readMessage(v *fastjson.Value) (m chat.Message, err error) {
	var role, refusal string
	err = each(v, func(key string, v *fastjson.Value) error {
		switch key {
		case "role":
			return text(&role)(v)
		case "content":
			return readContent(&m, v)
		case "refusal":
			return text(&refusal)(v)
		case "reasoning_content", "reasoning":
			return readReasoning(&m, v)
		case "tool_calls":
			return readCalls(&m, v)
		case "function_call":
			return readOldCall(&m, v)
		case "tool_call_id":
			return text(&m.CallID)(v)
		case "name":
			return text(&m.Name)(v)
		}
		return nil
	})
	if err != nil {
		return m, err
	}
	if m.Content == "" {
		m.Content = refusal
	}
	var ok bool
	if m.Role, ok = roles[role]; !ok {
		return m, bad("role", "must be system, developer, user, assistant or tool, not %q", role)
	}
	return m, checkTurn(&m)
}

// checkTurn finds fields that the message's role cannot have.
func checkTurn(m *chat.Message) error {
	if len(m.Calls) > 0 && m.Role != chat.Assistant {
		return bad("tool_calls", "only an assistant message can hold calls")
	}
	if len(m.Images) > 0 && m.Role != chat.User && m.Role != chat.ToolRole {
		return bad("content", "only a user or tool message can hold images")
	}
	return nil
}

// readReasoning reads what the model thought. A client that keeps it in a form of its own loses nothing but that.
func readReasoning(m *chat.Message, v *fastjson.Value) error {
	if v.Type() == fastjson.TypeString && m.Reasoning == "" {
		return text(&m.Reasoning)(v)
	}
	return nil
}

// readContent reads a string, null, or an array of parts whose texts become lines.
func readContent(m *chat.Message, v *fastjson.Value) error {
	m.Content, m.Images = "", nil
	if v.Type() != fastjson.TypeArray {
		if v.Type() != fastjson.TypeString && !isNull(v) {
			return bad("", "must be a string, null or an array of parts, not %s", kindOf(v))
		}
		return text(&m.Content)(v)
	}
	var lines []string
	err := items(v, func(_ int, v *fastjson.Value) error {
		line, img, err := readPart(v)
		if img != nil {
			m.Images = append(m.Images, img)
		} else {
			lines = append(lines, line)
		}
		return err
	})
	m.Content = strings.Join(lines, "\n")
	return err
}

// readPart reads one part: text or an image.
func readPart(v *fastjson.Value) (line string, img []byte, err error) {
	if v.Type() == fastjson.TypeString {
		err = text(&line)(v)
		return line, nil, err
	}
	if v.Type() != fastjson.TypeObject {
		return "", nil, bad("", "must be an object, not %s", kindOf(v))
	}
	switch kind := string(v.GetStringBytes("type")); kind {
	case "text", "input_text", "output_text":
		return line, nil, within("text", text(&line)(orNull(v.Get("text"))))
	case "refusal":
		return line, nil, within("refusal", text(&line)(orNull(v.Get("refusal"))))
	case "image_url", "input_image":
		img, err = readImage(v.Get("image_url"))
		return "", img, within("image_url", err)
	default:
		return "", nil, bad("type", "must be text or image_url, not %q", kind)
	}
}

// readImage decodes a data URL, given alone or as {"url": …}.
func readImage(v *fastjson.Value) ([]byte, error) {
	if v != nil && v.Type() == fastjson.TypeObject {
		img, err := readImage(orNull(v.Get("url")))
		return img, within("url", err)
	}
	var url string
	if err := text(&url)(orNull(v)); err != nil {
		return nil, err
	}
	head, data, ok := strings.Cut(url, ",")
	if !ok || !strings.HasPrefix(head, "data:") || !strings.HasSuffix(head, ";base64") {
		return nil, bad("", "must be a data URL in base64; images are not fetched from the network")
	}
	return fromBase64(data)
}

// fromBase64 decodes a picture.
func fromBase64(data string) ([]byte, error) {
	img, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(data, "="))
	if err != nil || len(img) == 0 {
		return nil, bad("", "does not hold base64")
	}
	return img, nil
}

// null stands for a field that is absent.
var null = fastjson.MustParse("null")

// orNull is v, or null when v is absent.
func orNull(v *fastjson.Value) *fastjson.Value {
	if v == nil {
		return null
	}
	return v
}

// readCalls reads what the assistant called.
func readCalls(m *chat.Message, v *fastjson.Value) error {
	if isNull(v) {
		return nil
	}
	return items(v, func(_ int, v *fastjson.Value) error {
		var c chat.Call
		named := false
		err := each(v, func(key string, v *fastjson.Value) error {
			switch key {
			case "id":
				return text(&c.ID)(v)
			case "function":
				named = true
				return readFunction(&c, v)
			}
			return nil
		})
		if err == nil && !named {
			err = bad("function", "is missing")
		}
		m.Calls = append(m.Calls, c)
		return err
	})
}

// readOldCall reads a call in the form that came before tool_calls.
func readOldCall(m *chat.Message, v *fastjson.Value) error {
	if isNull(v) {
		return nil
	}
	var c chat.Call
	err := readFunction(&c, v)
	m.Calls = append(m.Calls, c)
	return err
}

// readFunction reads a call's name and arguments.
func readFunction(c *chat.Call, v *fastjson.Value) error {
	c.Args = json.RawMessage("{}")
	err := each(v, func(key string, v *fastjson.Value) (err error) {
		switch key {
		case "name":
			return text(&c.Name)(v)
		case "arguments":
			c.Args, err = readArguments(v)
		}
		return err
	})
	if err == nil && c.Name == "" {
		err = bad("name", "must not be empty")
	}
	return err
}

// readArguments reads a call's arguments: an object, or a string that holds one, or nothing. A string that holds no
// object is what a cut or careless reply left behind; it is kept as {"arguments": "…"}, so that the talk can go on.
func readArguments(v *fastjson.Value) (json.RawMessage, error) {
	switch v.Type() {
	case fastjson.TypeObject:
		return raw(v)
	case fastjson.TypeNull:
		return json.RawMessage("{}"), nil
	case fastjson.TypeString:
	default:
		return nil, bad("", "must be a string or an object, not %s", kindOf(v))
	}
	s := bytes.TrimSpace(v.GetStringBytes())
	if len(s) == 0 || string(s) == "null" {
		return json.RawMessage("{}"), nil
	}
	if s[0] == '{' && json.Valid(s) {
		return bytes.Clone(s), nil
	}
	return append(appendQuoted([]byte(`{"arguments":`), string(s)), '}'), nil
}
