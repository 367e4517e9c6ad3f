package openai

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// readMessages stores the conversation. It begins a new list, so that the last field counts if a
// body has the field twice. It returns an error that names the wrong turn.
func (r *request) readMessages(v *fastjson.Value) (err error) {
	r.Messages, err = form.Messages(v, readMessage)
	return err
}

// Messages returns the conversation in a body, which is a list of messages or an object with a
// member messages. It returns an error if there is no such list or a message is invalid.
func Messages(body []byte) (all []chat.Message, err error) {
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		body = slices.Concat([]byte(`{"messages":`), body, []byte("}"))
	}
	err = field.Parse(body, func(v *fastjson.Value) error {
		return field.Object(v, field.Members{{"messages", func(v *fastjson.Value) (err error) {
			all, err = form.Messages(v, readMessage)
			return err
		}}})
	})
	if err == nil && all == nil {
		err = field.AsFault(field.Bad("messages", "is missing"))
	}
	return all, err
}

// readMessage returns one turn, or an error if a field is invalid or the role is unknown. Fields
// without a meaning for a model (audio, annotations, cache control) are skipped. Only a tool's
// content may be any JSON. So the role is looked up first, because the members of an object come in
// any order.
func readMessage(v *fastjson.Value) (m chat.Message, err error) {
	var role, refusal string
	// looked up before the fields are read in their order
	result := form.IsResult(string(v.GetStringBytes("role")))
	err = field.Object(v, field.Members{
		{"role", &role},
		{"content", func(v *fastjson.Value) error {
			if result {
				form.ReadResult(&m, v)
				return nil
			}
			return form.ReadContent(&m, v)
		}},
		{"refusal", &refusal},
		// What the model thought. The first of the two fields with a text is used, because clients
		// that store everything may send both back. Thoughts in a client's private form are
		// skipped.
		{"reasoning_content", thought(&m)}, {"reasoning", thought(&m)},
		{"tool_calls", func(v *fastjson.Value) error { return form.ReadCalls(&m, v) }},
		{"function_call", func(v *fastjson.Value) error { return readOldCall(&m, v) }},
		{"tool_call_id", &m.CallID},
		{"name", &m.Name},
	})
	if err != nil {
		return m, err
	}
	m.Content = cmp.Or(m.Content, refusal)
	return m, form.SetRole(&m, role, "system, developer, user, assistant or tool")
}

// thought returns a function that stores the thought in a field, unless m has one already. A value
// that is no string is ignored.
func thought(m *chat.Message) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		if v.Type() == fastjson.TypeString && m.Reasoning == "" {
			m.Reasoning = string(v.GetStringBytes())
		}
		return nil
	}
}

// readOldCall adds a call in the older form that tool_calls has replaced:
// {"name":"f","arguments":"{}"}. Such a call has no id, so calls are paired with results by order.
// Old conversations may have such calls, although the field functions of a request is an error. It
// returns an error if the call is invalid.
func readOldCall(m *chat.Message, v *fastjson.Value) error {
	if field.IsNull(v) {
		return nil
	}
	var c chat.Call
	err := form.ReadFunction(&c, v, "arguments")
	m.Calls = append(m.Calls, c)
	return err
}
