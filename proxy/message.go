package proxy

import (
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
	result := resultRole(v)
	err = each(v, func(key string, v *fastjson.Value) error {
		switch key {
		case "role":
			return text(&role)(v)
		case "content":
			if result {
				return readResult(&m, v)
			}
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

// resultRole says whether a message is a tool's result, before its fields are read in their order.
func resultRole(v *fastjson.Value) bool {
	return roles[string(v.GetStringBytes("role"))] == chat.ToolRole
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
