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

// readMessages reads the conversation.
// It begins a new list, so that the last field counts if a body has the field twice.
func (r *request) readMessages(v *fastjson.Value) (err error) {
	r.Messages, err = form.Messages(v, readMessage)
	return err
}

// Messages reads the conversation of a request: a list of messages, or an object that has one.
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

// readMessage reads one turn. Fields that say nothing to a model (audio, annotations, cache marks)
// are skipped. Only a tool's content may be any JSON, so the role is looked up first: the members
// of a JSON object come in any order.
func readMessage(v *fastjson.Value) (m chat.Message, err error) {
	var role, refusal string
	// before the fields are read in their order
	result := form.IsResult(string(v.GetStringBytes("role")))
	err = field.Object(v, field.Members{
		{"role", &role},
		{"content", func(v *fastjson.Value) error {
			if result {
				return form.ReadResult(&m, v)
			}
			return form.ReadContent(&m, v)
		}},
		{"refusal", &refusal},
		// What the model thought. The first of the two fields that holds a text counts: clients
		// that keep everything they got may send both back. Thoughts in a client's private form are
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

// thought returns the reader of a message's thoughts.
func thought(m *chat.Message) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		if v.Type() == fastjson.TypeString && m.Reasoning == "" {
			m.Reasoning = string(v.GetStringBytes())
		}
		return nil
	}
}

// readOldCall reads a call in the older form that tool_calls replaced. It has no id:
// {"name":"f","arguments":"{}"}. Such calls are paired with their results by order. Old
// conversations may hold them although the request's field functions is refused.
func readOldCall(m *chat.Message, v *fastjson.Value) error {
	if field.IsNull(v) {
		return nil
	}
	var c chat.Call
	err := form.ReadFunction(&c, v, "arguments")
	m.Calls = append(m.Calls, c)
	return err
}
