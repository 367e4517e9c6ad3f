package responses

import (
	"encoding/json"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// conversation is the conversation of a request that is being read.
type conversation struct {
	ask   *form.Ask
	tools *toolset
	kept  *keeping

	said, thought []string // texts of the assistant's last turn, which endTurn joins
}

// read builds the conversation from the instructions, the stored conversation that
// previous_response_id continues, and the input. Clients send the instructions with each request,
// so those of earlier requests are not stored. It returns an error if previous is unknown, if an
// item is invalid, or if nothing remains for the model to read.
func (x *conversation) read(instructions, previous string, input *fastjson.Value) error {
	if instructions != "" {
		x.add(chat.Message{Role: chat.System, Content: instructions})
	}
	if previous != "" {
		kept, ok := x.kept.replies.find(previous, x.kept.owner)
		if !ok {
			return unknownReply("previous_response_id", previous)
		}
		x.kept.earlier = kept.items
		for _, item := range kept.items {
			if err := x.recall(item); err != nil {
				return err
			}
		}
	}
	if field.IsNull(input) && previous == "" {
		return field.Bad("input", "must be a text or an array of items")
	}
	if err := field.Within("input", x.readInput(input)); err != nil {
		return err
	}
	x.endTurn()
	if len(x.ask.Messages) == 0 {
		return field.Bad("input", "must hold at least one item that a model can read")
	}
	return nil
}

// unknownReply returns the error for a response that is not stored. Its text and its code are those
// of OpenAI for a response that never existed.
func unknownReply(param, id string) error {
	f := fault.New(fault.Invalid,
		"Previous response with id '%s' not found: replies are kept for %s when store is not false. Send the whole conversation as input.", id, keepFor)
	f.Param, f.Code = param, "previous_response_not_found"
	return f
}

// recall reads a stored item. Items are stored as JSON and not as messages, because the next
// request may have other tools, and so other names for the called tools. It returns an error if the
// item is invalid. Items are checked before they are stored, so that should not happen.
func (x *conversation) recall(item json.RawMessage) error {
	v, err := fastjson.ParseBytes(item)
	if err != nil {
		return err
	}
	return x.readItem(v)
}

// readInput reads the input, which is a text or a list of items. Null means no input. It stores the
// JSON of each item before it reads the item, for clients that continue the reply or ask for its
// input. It returns an error for another type or an invalid item.
func (x *conversation) readInput(v *fastjson.Value) error {
	switch {
	case field.IsNull(v):
		return nil
	case v.Type() == fastjson.TypeString:
		text := string(v.GetStringBytes())
		x.add(chat.Message{Role: chat.User, Content: text})
		if x.kept.store {
			item := append([]byte(
				`{"type":"message","role":"user","content":[{"type":"input_text","text":`),
				chat.AppendQuoted(nil, text)...)
			x.kept.items = append(x.kept.items, append(item, `}]}`...))
		}
		return nil
	case v.Type() != fastjson.TypeArray:
		return field.Bad("", "must be a text or an array of items, not %s", field.KindOf(v))
	}
	return field.Items(v, func(v *fastjson.Value) error {
		if x.kept.store {
			x.kept.items = append(x.kept.items, repeatable(v))
		}
		return x.readItem(v)
	})
}

// readItem reads one item. SDKs leave out the type of messages and of references. Items of tools
// that OpenAI runs mean nothing to another model and are skipped. It returns an error for an
// unknown type, since its content would be lost, and for an invalid item.
func (x *conversation) readItem(v *fastjson.Value) error {
	if v.Type() != fastjson.TypeObject {
		return field.Bad("", "must be an object, not %s", field.KindOf(v))
	}
	var kind string
	if err := field.Member(v, "type", &kind); err != nil {
		return err
	}
	if kind == "" && v.Get("role") == nil && v.Get("id") != nil {
		kind = "item_reference"
	}
	switch kind {
	case "", "message":
		return x.readMessage(v)
	case "reasoning":
		return x.readThought(v)
	case "function_call", "custom_tool_call", "tool_search_call", "local_shell_call", "shell_call",
		"apply_patch_call", "computer_call":
		return x.readCall(kind, v)
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output",
		"shell_call_output", "apply_patch_call_output", "computer_call_output":
		return x.readOutput(v)
	case "tool_search_output":
		return x.readFound(v)
	case "item_reference":
		return x.readReference(v)
	case "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call",
		"mcp_list_tools", "mcp_call", "mcp_approval_request", "mcp_approval_response":
		return nil
	}
	return field.Bad("type", "is not taken here: %q", kind)
}

// readMessage adds a message. Developer and system messages may come anywhere. A message in the
// notation of chat completions keeps its calls, and may be a tool's result. It returns an error for
// an invalid content, for a role that no API has, and for a result that does not name its call.
func (x *conversation) readMessage(v *fastjson.Value) error {
	const roles = "system, developer, user or assistant"
	m, err := form.ReadMessage(v, roles)
	if err == nil && m.Role == chat.ToolRole && m.CallID == "" {
		err = field.Bad("role",
			"must be %s, not %q: what a tool answers is an item of type function_call_output",
			roles, m.Role)
	}
	if err != nil {
		return err
	}
	if m.Role != chat.Assistant {
		x.add(m)
		return nil
	}
	t := x.turn(func(t *chat.Message) bool { return len(x.said) == 0 || len(t.Calls) > 0 })
	for _, c := range m.Calls {
		c.Name = x.tools.flat("", c.Name)
		t.Calls = append(t.Calls, c)
	}
	if m.Content != "" {
		x.said = append(x.said, m.Content)
	}
	if m.Reasoning != "" {
		x.thought = append(x.thought, m.Reasoning)
	}
	return nil
}

// add appends a message, after it has completed the assistant's message before it (see endTurn).
func (x *conversation) add(m chat.Message) {
	x.endTurn()
	x.ask.Messages = append(x.ask.Messages, m)
}

// endTurn joins the texts and the thoughts of the assistant's last message, if they are still
// separate. They are joined only once, because otherwise each item would copy the whole message so
// far. 30,000 thoughts in one request, 4 MB, once kept a core busy for a minute.
func (x *conversation) endTurn() {
	if len(x.said)+len(x.thought) == 0 {
		return
	}
	t := &x.ask.Messages[len(x.ask.Messages)-1]
	t.Content, t.Reasoning = strings.Join(x.said, "\n\n"), strings.Join(x.thought, "\n\n")
	x.said, x.thought = nil, nil
}

// turn returns the assistant's message to which the next input item is added. If the last message
// is the assistant's and takes returns true for it, that is the one; otherwise turn adds a new one.
// This API splits one reply into several items, but a model's template expects one message with the
// thoughts and the calls.
func (x *conversation) turn(takes func(*chat.Message) bool) *chat.Message {
	if n := len(x.ask.Messages); n > 0 && x.ask.Messages[n-1].Role == chat.Assistant &&
		takes(&x.ask.Messages[n-1]) {
		return &x.ask.Messages[n-1]
	}
	x.add(chat.Message{Role: chat.Assistant})
	return &x.ask.Messages[len(x.ask.Messages)-1]
}

// readThought adds a thought of the model, which is plain text or was encoded by form.SealThought.
// It goes to the last message if that is the assistant's and has neither text nor calls, and to a
// new one otherwise. A thought that another service has encrypted cannot be read and is skipped. It
// always returns nil.
func (x *conversation) readThought(v *fastjson.Value) error {
	text, ok := form.OpenThought(string(v.GetStringBytes("encrypted_content")))
	for _, member := range []string{"content", "summary"} {
		if !ok {
			text = joinedTexts(v.GetArray(member))
			ok = text != ""
		}
	}
	if text == "" {
		return nil
	}
	x.turn(func(t *chat.Message) bool { return len(x.said) == 0 && len(t.Calls) == 0 })
	x.thought = append(x.thought, text)
	return nil
}

// joinedTexts returns the texts of the parts, with a blank line between them. OpenAI's summaries
// have one part for each step of a thought.
func joinedTexts(parts []*fastjson.Value) string {
	var all []string
	for _, p := range parts {
		if text := p.GetStringBytes("text"); len(text) > 0 {
			all = append(all, string(text))
		}
	}
	return strings.Join(all, "\n\n")
}

// readCall adds a call, with the name by which the model knows its tool. Conversations that began
// elsewhere may have calls of OpenAI's own shell and patch tools. The arguments of such a call are
// its action, which is an object. It returns an error if the name is empty or a field is invalid.
func (x *conversation) readCall(kind string, v *fastjson.Value) error {
	var c chat.Call
	var err error
	switch kind {
	case "function_call":
		err = form.ReadFunction(&c, v, "arguments")
	case "custom_tool_call":
		var input string
		if err = field.Member(v, "input", &input); err == nil {
			c.Args, err = inputArgs(input), field.Member(v, "name", &c.Name)
		}
	default:
		c.Name, c.Args = strings.TrimSuffix(kind, "_call"), json.RawMessage("{}")
		for _, member := range []string{"arguments", "action", "operation"} {
			if o := v.Get(member); o != nil && o.Type() == fastjson.TypeObject {
				c.Args = field.Raw(o)
			}
		}
	}
	if err == nil && c.Name == "" {
		err = field.Bad("name", "must not be empty")
	}
	if err != nil {
		return err
	}
	namespace := ""
	if err = field.Member(v, "call_id", &c.ID); err == nil {
		err = field.Member(v, "namespace", &namespace)
	}
	if err != nil {
		return err
	}
	c.Name = x.tools.flat(namespace, c.Name)
	turn := x.turn(func(*chat.Message) bool { return true })
	turn.Calls = append(turn.Calls, c)
	return nil
}

// inputArgs returns the arguments with which a model calls a custom tool for the given input. So
// calls in the history have the form in which the model should write its own.
func inputArgs(input string) json.RawMessage {
	return append(chat.AppendQuoted([]byte(`{"`+inputMember+`":`), input), '}')
}

// readOutput adds the result of a tool: a text, parts, or any JSON. Package engine/history finds
// the call to which it belongs, so an unknown id is not an error here. It returns an error if a
// field is invalid.
func (x *conversation) readOutput(v *fastjson.Value) error {
	m := chat.Message{Role: chat.ToolRole}
	if err := field.Member(v, "call_id", &m.CallID); err != nil {
		return err
	}
	form.ReadResult(&m, field.OrNull(v.Get("output")))
	x.add(m)
	return nil
}

// readFound adds the tools that a search by the client has found. They are offered from then on,
// and the model gets a message with their names. It returns an error if a tool is invalid.
func (x *conversation) readFound(v *fastjson.Value) error {
	before, m := len(x.ask.Tools), chat.Message{Role: chat.ToolRole}
	if err := field.Member(v, "call_id", &m.CallID); err != nil {
		return err
	}
	x.tools.loading = true
	err := field.Within("tools", x.tools.read(v.Get("tools")))
	x.tools.loading = false
	if err != nil {
		return err
	}
	names := make([]string, 0, len(x.ask.Tools)-before)
	for _, t := range x.ask.Tools[before:] {
		names = append(names, t.Name)
	}
	m.Content = "No tool was found."
	if len(names) > 0 {
		m.Content = "These tools can be called now: " + strings.Join(names, ", ")
	}
	x.add(m)
	return nil
}

// readReference reads an item that the client only names by its id, as the SDK of Vercel does with
// items of a stored reply. It returns an error if the item is not stored.
func (x *conversation) readReference(v *fastjson.Value) error {
	var id string
	if err := field.Member(v, "id", &id); err != nil {
		return err
	}
	item, ok := x.kept.replies.item(id, x.kept.owner)
	if !ok {
		f := fault.New(fault.Invalid,
			"Item with id '%s' not found: replies are kept for %s when store is not false. Send the item itself.", id, keepFor)
		f.Param = "input"
		return f
	}
	if n := len(x.kept.items); x.kept.store && n > 0 {
		x.kept.items[n-1] = item // the reference itself would outlive what it names
	}
	return x.recall(item)
}
