package form

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/proxy/field"
)

// Messages reads a conversation, each turn by read. An error names the turn.
func Messages(v *fastjson.Value, read func(*fastjson.Value) (chat.Message, error)) (
	all []chat.Message, err error) {
	all = make([]chat.Message, 0, len(v.GetArray()))
	err = field.Items(v, func(v *fastjson.Value) error {
		m, err := read(v)
		all = append(all, m)
		return err
	})
	return all, err
}

// roles maps the roles that clients write to those of a conversation. "developer" is OpenAI's newer
// word for system, which Void writes for names with o3 or o4-mini; "function" is the older one for
// tool.
var roles = map[string]chat.Role{
	"system": chat.System, "developer": chat.System, "user": chat.User,
	"assistant": chat.Assistant, "tool": chat.ToolRole, "function": chat.ToolRole,
}

// SetRole sets a message's role by the name that the client wrote, and returns an error for an
// unknown name and for fields that the role cannot have. Known lists the roles of the client's API,
// for the error. A call in a user's message or a picture in a system prompt has no place in any
// model's template.
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

// IsResult reports whether a role is that of a tool's result.
func IsResult(name string) bool { return roles[name] == chat.ToolRole }

// ReadCalls reads what the assistant called. A missing id is not an error: calls and results are
// then paired by order, and Toolnorm-History says so. The field type is ignored, since every call
// here is a function's.
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

// ReadFunction reads a call's name and arguments, for which the APIs have different names. Ollama's
// clients write arguments as an object, OpenAI's as a string that holds one.
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

// mostRepaired is how long arguments may be, in bytes, to be repaired: a repair takes about six
// times their length in memory.
const mostRepaired = 4 << 20

// readArguments reads a call's arguments: an object, a string that holds one, or nothing. Broken
// JSON from a cut or careless reply is repaired like a model's own arguments; a string without any
// object in it is an error, since the arguments are lost. An empty text means no arguments: some
// clients write "" for a call without arguments.
func readArguments(v *fastjson.Value) (json.RawMessage, error) {
	switch v.Type() {
	case fastjson.TypeObject:
		return field.Raw(v)
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

// DecodeImage returns the picture that a text in base64 encodes. The padding may be missing: some
// clients strip it.
func DecodeImage(data string) ([]byte, error) {
	img, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(data, "="))
	if err != nil || len(img) == 0 {
		return nil, field.Bad("", "does not hold base64")
	}
	return img, nil
}
