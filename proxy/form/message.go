package form

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/proxy/field"
)

// Messages returns a function that reads an array of messages into the slice. Earlier contents of
// the slice are dropped, so if a body has the field twice, only the last one is used. The parameter
// known lists the roles that the client may use, for error messages. The function returns an error
// that names the invalid message.
func Messages(all *[]chat.Message, known string) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		*all = make([]chat.Message, 0, len(v.GetArray()))
		return field.Items(v, func(v *fastjson.Value) error {
			m, err := ReadMessage(v, known)
			*all = append(*all, m)
			return err
		})
	}
}

// ReadMessage returns one message in the notation of chat completions or of Ollama's API. It
// returns an error if a field is invalid or the role is unknown. The parameter known is a text that
// lists the roles of the client's API, for the error. Fields without a meaning for a model (audio,
// annotations, cache control) are skipped. Only a tool's content may be any JSON, so the role is
// looked up before the other members, which come in any order.
//
// If a message has no content, its text is taken from the field parts, as in Gemini's API and the
// Vercel AI SDK, or from the field text. The model would get an empty message otherwise.
func ReadMessage(v *fastjson.Value, known string) (m chat.Message, err error) {
	var role, refusal string
	var pictures [][]byte
	content := func(v *fastjson.Value) error { return ReadContent(&m, v) }
	if IsResult(string(v.GetStringBytes("role"))) {
		content = func(v *fastjson.Value) error { ReadResult(&m, v); return nil }
	}
	err = field.Object(v, field.Members{
		{"role", &role},
		{"content", content},
		{"refusal", &refusal},
		// What the model thought. The first of the fields with a text is used, because clients that
		// store everything may send several back. Thoughts in a client's private form are skipped.
		{"reasoning_content", thought(&m)}, {"reasoning", thought(&m)}, {"thinking", thought(&m)},
		{"images", func(v *fastjson.Value) error { return ReadPictures(&pictures, v) }},
		{"tool_calls", func(v *fastjson.Value) error { return ReadCalls(&m, v) }},
		{"function_call", func(v *fastjson.Value) error { return readOldCall(&m, v) }},
		{"tool_call_id", &m.CallID},
		// Ollama's older clients send results without an id, and only say from which tool they are
		{"name", field.Given(&m.Name)}, {"tool_name", field.Given(&m.Name)},
	})
	for _, key := range []string{"parts", "text"} {
		other := v.Get(key)
		if err == nil && m.Content == "" && len(m.Images) == 0 && !field.IsNull(other) {
			err = field.Within(key, content(other))
		}
	}
	if err != nil {
		return m, err
	}
	m.Content, m.Images = cmp.Or(m.Content, refusal), append(m.Images, pictures...)
	return m, SetRole(&m, role, known)
}

// thought returns a function that stores a thought in m, unless m has one already. A value that is
// not a string is ignored.
func thought(m *chat.Message) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		if v.Type() == fastjson.TypeString && m.Reasoning == "" {
			m.Reasoning = string(v.GetStringBytes())
		}
		return nil
	}
}

// ReadPictures reads an array of pictures in plain Base64, as Ollama's clients write them, and
// stores them in the slice. It returns an error if one is invalid.
func ReadPictures(all *[][]byte, v *fastjson.Value) error {
	*all = nil
	return field.List(v, func(v *fastjson.Value) error {
		var s string
		if err := field.Into(v, &s); err != nil {
			return err
		}
		img, err := DecodeImage(s)
		*all = append(*all, img)
		return err
	})
}

// readOldCall adds a call in the older form that tool_calls has replaced:
// {"name":"f","arguments":"{}"}. Such a call has no id, so calls are paired with results by order.
// Old conversations may have such calls, although this server refuses the older request field
// functions. It returns an error if the call is invalid.
func readOldCall(m *chat.Message, v *fastjson.Value) error {
	if field.IsNull(v) {
		return nil
	}
	var c chat.Call
	err := ReadFunction(&c, v, "arguments")
	m.Calls = append(m.Calls, c)
	return err
}

// roles maps the names of roles in requests to the roles of a conversation. "developer" is OpenAI's
// newer word for "system", which Void writes for model names with o3 or o4-mini; "function" is the
// older one for "tool".
var roles = map[string]chat.Role{
	"system": chat.System, "developer": chat.System, "user": chat.User,
	"assistant": chat.Assistant, "tool": chat.ToolRole, "function": chat.ToolRole,
}

// SetRole sets a message's role by the name that the client wrote. It returns an error for an
// unknown name, and for calls or images that the role cannot have, because no model's template has
// a place for a call in a user's message or a picture in a system prompt. The parameter known is a
// text that lists the roles of the client's API, for the error.
func SetRole(m *chat.Message, name, known string) error {
	var ok bool
	if m.Role, ok = roles[name]; !ok {
		return field.Bad("role", "must be %s, not %q", known, name)
	}
	if len(m.Calls) > 0 && m.Role != chat.Assistant {
		return field.Bad("tool_calls", "only an assistant message can hold calls")
	}
	if len(m.Images) > 0 && m.Role != chat.User && m.Role != chat.ToolRole {
		return field.Bad("content", "only a user or tool message can hold images")
	}
	return nil
}

// IsResult reports whether a message whose role has this name is the result of a tool, such as
// "tool".
func IsResult(name string) bool { return roles[name] == chat.ToolRole }

// ReadCalls adds the assistant's calls, v, to m. A missing id is not an error. Calls and results
// are then paired by order, and the header Toolnorm-History says so. The field type is ignored,
// since every call here is of a function. It returns an error for a call without a name or with
// invalid arguments.
func ReadCalls(m *chat.Message, v *fastjson.Value) error {
	return field.List(v, func(v *fastjson.Value) error {
		var c chat.Call
		err := field.Object(v, field.Members{
			{"id", &c.ID},
			{"function", func(v *fastjson.Value) error { return ReadFunction(&c, v, "arguments") }},
		})
		if err == nil && c.Args == nil {
			err = field.Bad("function", "is missing")
		}
		m.Calls = append(m.Calls, c)
		return err
	})
}

// ReadFunction stores the name and the arguments of a call in c. The parameter arguments is the
// name of the field with the arguments, which differs between the APIs. Ollama's clients write the
// arguments as an object, OpenAI's as a string that contains an object. It returns an error if the
// name is empty or the arguments are invalid.
func ReadFunction(c *chat.Call, v *fastjson.Value, arguments string) error {
	c.Args = json.RawMessage("{}")
	err := field.Object(v, field.Members{
		{"name", &c.Name},
		{arguments, func(v *fastjson.Value) (err error) {
			c.Args, err = readArguments(v)
			return err
		}},
	})
	if err == nil && c.Name == "" {
		err = field.Bad("name", "must not be empty")
	}
	return err
}

// mostRepaired is the greatest length of arguments that are repaired, in bytes. A repair takes
// about six times their length in memory.
const mostRepaired = 4 << 20

// readArguments returns a call's arguments, which are an object, a string that contains an object,
// or null. Broken JSON from a cut or careless reply is repaired like a model's own arguments. An
// empty string means no arguments, since some clients write "" for a call without any. It returns
// an error for values of other types, and for a string in which there is no object, because its
// arguments are lost.
func readArguments(v *fastjson.Value) (json.RawMessage, error) {
	switch v.Type() {
	case fastjson.TypeObject:
		return field.Raw(v), nil
	case fastjson.TypeNull:
		return json.RawMessage("{}"), nil
	case fastjson.TypeString:
	default:
		return nil, field.Bad("", "must be a string or an object, not %s", field.KindOf(v))
	}
	s := bytes.TrimSpace(v.GetStringBytes())
	if len(s) == 0 || string(s) == "null" {
		return json.RawMessage("{}"), nil
	}
	if s[0] == '{' && json.Valid(s) {
		return bytes.Clone(s), nil
	}
	if len(s) > mostRepaired {
		return nil, field.Bad("",
			"must hold a JSON object; text of more than %d bytes is not repaired", mostRepaired)
	}
	// Agents send back {city: 'Rome',} or {"city":"Ro if the model's call was not repaired.
	repaired, _, err := adapters.Repair(string(s), nil)
	if err != nil {
		return nil, field.Bad("", "must hold a JSON object, and %.60q holds none (%v)", s, err)
	}
	if repaired[0] != '{' {
		return nil, field.Bad("", "must hold a JSON object, and %.60q holds none", s)
	}
	return json.RawMessage(repaired), nil
}

// DecodeImage returns the picture in a Base64 text. The padding may be missing, since some clients
// strip it. It returns an error if the text is empty or not Base64.
func DecodeImage(data string) ([]byte, error) {
	img, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(data, "="))
	if err != nil || len(img) == 0 {
		return nil, field.Bad("", "does not hold base64")
	}
	return img, nil
}
