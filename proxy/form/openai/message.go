package openai

import (
	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// readMessages reads the conversation.
// The list is begun anew, in case a body has the field twice: the last one counts.
func (r *request) readMessages(v *fastjson.Value) (err error) {
	r.Messages, err = form.Messages(v, readMessage)
	return err
}

// readMessage reads one turn. Fields that say nothing to a model (audio, annotations, cache marks) are passed over.
// A tool's content may be any JSON and nobody else's may, so the role is looked up first: a JSON object's
// members come in any order.
func readMessage(v *fastjson.Value) (m chat.Message, err error) {
	var role, refusal string
	result := form.IsResult(string(v.GetStringBytes("role"))) // before the fields are read in their order
	err = field.Each(v, func(key string, v *fastjson.Value) error {
		switch key {
		case "role":
			return field.Text(&role)(v)
		case "content":
			if result {
				return form.ReadResult(&m, v)
			}
			return form.ReadContent(&m, v)
		case "refusal":
			return field.Text(&refusal)(v)
		case "reasoning_content", "reasoning":
			return readReasoning(&m, v)
		case "tool_calls":
			return form.ReadCalls(&m, v)
		case "function_call":
			return readOldCall(&m, v)
		case "tool_call_id":
			return field.Text(&m.CallID)(v)
		case "name":
			return field.Text(&m.Name)(v)
		}
		return nil
	})
	if err != nil {
		return m, err
	}
	if m.Content == "" {
		m.Content = refusal
	}
	return m, form.SetRole(&m, role, "system, developer, user, assistant or tool")
}

// readReasoning reads what the model thought. A client that keeps it in a form of its own loses nothing but that.
// The first of the two fields that holds a text counts; clients that keep all that they got may send both back.
func readReasoning(m *chat.Message, v *fastjson.Value) error {
	if v.Type() == fastjson.TypeString && m.Reasoning == "" {
		return field.Text(&m.Reasoning)(v)
	}
	return nil
}

// readOldCall reads a call in the form that came before tool_calls.
// It has no id: {"name":"f","arguments":"{}"}. Such calls are paired with their results by order. Old
// conversations may hold them although the request's field functions is refused.
func readOldCall(m *chat.Message, v *fastjson.Value) error {
	if field.IsNull(v) {
		return nil
	}
	var c chat.Call
	err := form.ReadFunction(&c, v)
	m.Calls = append(m.Calls, c)
	return err
}
