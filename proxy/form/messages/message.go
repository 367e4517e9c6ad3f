package messages

import (
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// billing is the prefix of a part of Claude Code's system text that counts requests for its maker:
// "x-anthropic-billing-header: cc_version=…". The part changes with every request, so it would
// invalidate the server's prompt cache, and it means nothing to a model.
const billing = "x-anthropic-billing-header:"

// readSystem stores the system text, a string or an array of text parts. It returns an error for
// anything else.
func (r *request) readSystem(v *fastjson.Value) error {
	r.system = nil
	c := content{request: r}
	if err := c.readAll(v, chat.System); err != nil {
		return err
	}
	for _, line := range c.Lines {
		if !strings.HasPrefix(strings.TrimSpace(line), billing) {
			r.system = append(r.system, line)
		}
	}
	return nil
}

// addSystem inserts the system text, if there is any, before the messages.
func (r *request) addSystem() {
	if text := strings.Join(r.system, "\n"); text != "" {
		r.Messages = append([]chat.Message{{Role: chat.System, Content: text}}, r.Messages...)
	}
}

// roles maps the role names of Anthropic. System messages may come anywhere: Claude Code puts one
// after the first question.
var roles = map[string]chat.Role{"user": chat.User, "assistant": chat.Assistant,
	"system": chat.System}

// readMessages stores the conversation. A message of the user may also contain results of calls,
// each of which becomes a message of its own. It returns an error that names the invalid message.
func (r *request) readMessages(v *fastjson.Value) error {
	r.Messages = nil
	return field.Items(v, r.readMessage)
}

// readMessage adds a message of the request to r.Messages. It looks up the role first, because the
// content depends on the role, and fields come in any order. It returns an error for an unknown
// role or an invalid content.
func (r *request) readMessage(v *fastjson.Value) error {
	if v.Type() != fastjson.TypeObject {
		return field.Bad("", "must be an object, not %s", field.KindOf(v))
	}
	role, ok := roles[string(v.GetStringBytes("role"))]
	calls := field.OrNull(v.Get("tool_calls")) // which some clients write as [] in every turn
	if list, err := calls.Array(); !ok || !field.IsNull(calls) && (err != nil || len(list) > 0) {
		return r.readOther(v)
	}
	c := content{request: r}
	if err := field.Within("content", c.readAll(v.Get("content"), role)); err != nil {
		return err
	}
	// Results come first: they answer the calls of the previous turn, and templates allow nothing
	// in between.
	r.Messages = append(r.Messages, c.results...)
	if len(c.results) > 0 && len(c.Lines) == 0 && len(c.Images) == 0 {
		return nil
	}
	r.Messages = append(r.Messages, chat.Message{
		Role: role, Content: strings.Join(c.Lines, "\n"), Reasoning: strings.Join(c.Thoughts, "\n"),
		Calls: c.calls, Images: c.Images,
	})
	return nil
}

// readOther adds one message in the notation of chat completions: a result of the role "tool", or
// an assistant's message with tool_calls. It returns an error if the message is neither.
func (r *request) readOther(v *fastjson.Value) error {
	const roles = "user, assistant or system"
	m, err := form.ReadMessage(v, roles)
	if err == nil && m.Role == chat.ToolRole && m.CallID == "" {
		err = field.Bad("role", "must be %s, not %q", roles, m.Role)
	}
	for _, c := range m.Calls {
		r.referenced[c.Name] = true
	}
	r.Messages = append(r.Messages, m)
	return err
}
