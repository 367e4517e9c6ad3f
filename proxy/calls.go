package proxy

import (
	"bytes"
	"encoding/json"

	"github.com/valyala/fastjson"

	"toolnorm/adapters"
	"toolnorm/chat"
)

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

// readArguments reads a call's arguments: an object, a string that holds one, or nothing. What a cut or careless reply left
// behind is mended as a model's own arguments are; a string without any object in it is an error, since nobody knows what
// was called.
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
	mended, _, err := adapters.Repair(string(s), nil)
	if err != nil {
		return nil, bad("", "must hold a JSON object, and %.60q holds none (%v)", s, err)
	}
	if mended[0] != '{' {
		return nil, bad("", "must hold a JSON object, and %.60q holds none", s)
	}
	return json.RawMessage(mended), nil
}
