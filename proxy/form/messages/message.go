package messages

import (
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/proxy/field"
)

// billing begins a part of Claude Code's system text that counts requests for its maker:
// "x-anthropic-billing-header: cc_version=…". It changes with every request, so it would invalidate
// the server's prompt cache, and it means nothing to a model.
const billing = "x-anthropic-billing-header:"

// readSystem reads the system text: a string, or parts of text.
func (r *request) readSystem(v *fastjson.Value) error {
	r.system = nil
	c := content{request: r}
	if err := c.readAll(v, chat.System); err != nil {
		return err
	}
	for _, line := range c.lines {
		if !strings.HasPrefix(strings.TrimSpace(line), billing) {
			r.system = append(r.system, line)
		}
	}
	return nil
}

// addSystem inserts the system text before the messages.
func (r *request) addSystem() {
	if text := strings.Join(r.system, "\n"); text != "" {
		r.Messages = append([]chat.Message{{Role: chat.System, Content: text}}, r.Messages...)
	}
}

// roles maps Anthropic's roles. System messages may come anywhere: Claude Code puts one after the
// first question.
var roles = map[string]chat.Role{"user": chat.User, "assistant": chat.Assistant,
	"system": chat.System}

// readMessages reads the conversation. A turn of the user's may hold results of calls as well, each
// of which becomes a message of its own.
func (r *request) readMessages(v *fastjson.Value) error {
	r.Messages = nil
	return field.Items(v, r.readMessage)
}

// readMessage reads one turn. Its content depends on its role, and fields come in any order, so the
// role is looked up first.
func (r *request) readMessage(v *fastjson.Value) error {
	if v.Type() != fastjson.TypeObject {
		return field.Bad("", "must be an object, not %s", field.KindOf(v))
	}
	name := string(v.GetStringBytes("role"))
	role, ok := roles[name]
	if !ok {
		return field.Bad("role", "must be user, assistant or system, not %q", name)
	}
	c := content{request: r}
	if err := field.Within("content", c.readAll(v.Get("content"), role)); err != nil {
		return err
	}
	// Results come first: they answer the calls of the previous turn, and templates allow nothing
	// in between.
	r.Messages = append(r.Messages, c.results...)
	if len(c.results) > 0 && len(c.lines) == 0 && len(c.images) == 0 {
		return nil
	}
	r.Messages = append(r.Messages, chat.Message{
		Role: role, Content: strings.Join(c.lines, "\n"), Reasoning: strings.Join(c.thoughts, "\n"),
		Calls: c.calls, Images: c.images,
	})
	return nil
}
