package messages

import (
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// content collects the parts of a message's content.
type content struct {
	*request
	form.Parts
	calls   []chat.Call
	results []chat.Message
	tools   []string // the tools to which a result refers
}

// readAll adds a content, which is a string, one part or an array of parts; null and a missing
// content count as empty. It returns an error for another type or an invalid part.
func (c *content) readAll(v *fastjson.Value, role chat.Role) error {
	if field.IsNull(v) {
		return nil
	}
	switch v.Type() {
	case fastjson.TypeString, fastjson.TypeObject:
		return c.read(v, role)
	case fastjson.TypeArray:
		return field.Items(v, func(v *fastjson.Value) error { return c.read(v, role) })
	}
	return field.Bad("", "must be a string or an array of parts, not %s", field.KindOf(v))
}

// read adds one part. cache_control and citations, which any part may have, are ignored. It returns
// an error for a part that the role cannot have, and for an unknown type, because the reply would
// be wrong if a part were dropped silently.
func (c *content) read(v *fastjson.Value, role chat.Role) error {
	if v.Type() == fastjson.TypeString {
		c.Lines = append(c.Lines, string(v.GetStringBytes()))
		return nil
	}
	if v.Type() != fastjson.TypeObject {
		return field.Bad("", "must be an object, not %s", field.KindOf(v))
	}
	kind := string(v.GetStringBytes("type"))
	switch {
	case kind == "text", kind == "input_text", kind == "output_text":
		return c.Text(v)
	case role == chat.System:
		return field.Bad("type", "a system text holds text alone, not %q", kind)
	case role == chat.Assistant:
		return c.readAssistant(v, kind)
	case kind == "tool_reference" && role == chat.ToolRole:
		return c.reference(v)
	case kind == "tool_result" && role == chat.User:
		return c.result(v)
	case kind == "image", kind == "image_url", kind == "input_image":
		return c.Image(v)
	case kind == "document":
		return c.document(v)
	case kind == "search_result":
		return c.searchResult(v)
	}
	return field.Bad("type", "must be text, image, document, search_result or tool_result, not %q",
		kind)
}

// readAssistant adds a part that the model wrote. Calls that Anthropic's service ran itself, and
// their results, are kept as JSON text, so that a conversation from there can continue here. It
// returns an error for an unknown type.
func (c *content) readAssistant(v *fastjson.Value, kind string) error {
	switch {
	case kind == "tool_use":
		return c.call(v)
	case kind == "thinking": // whatever its signature
		var thought string
		err := field.Member(v, "thinking", &thought)
		if thought == "" { // not shown: it is in the signature, if that is ours
			thought, _ = form.OpenThought(string(v.GetStringBytes("signature")))
		}
		if thought != "" {
			c.Thoughts = append(c.Thoughts, thought)
		}
		return err
	// encrypted by the service that wrote it; only that service can read it
	case kind == "redacted_thinking":
		return nil
	case kind == "server_tool_use" || kind == "mcp_tool_use" ||
		strings.HasSuffix(kind, "_tool_result"):
		c.Lines = append(c.Lines, string(field.Raw(v)))
		return nil
	}
	return field.Bad("type", "must be text, thinking or tool_use, not %q", kind)
}

// call adds a tool_use. Its input should be an object. Anything else is repaired like a model's own
// arguments. It returns an error if it cannot be repaired, or if the name is missing.
func (c *content) call(v *fastjson.Value) error {
	var call chat.Call
	err := form.ReadFunction(&call, v, "input")
	if err == nil {
		err = field.Member(v, "id", &call.ID)
	}
	c.referenced[call.Name] = true // what was called can be called again
	c.calls = append(c.calls, call)
	return err
}

// result adds a tool_result as a message that answers a call. A content that is neither text nor
// parts stays JSON, as in form.ReadResult. It returns an error if another field is invalid.
func (c *content) result(v *fastjson.Value) error {
	m, failed := chat.Message{Role: chat.ToolRole}, false
	inner := content{request: c.request}
	err := field.Object(v, field.Members{
		{"tool_use_id", &m.CallID},
		{"is_error", &failed},
		{"content", func(v *fastjson.Value) error {
			inner = content{request: c.request}
			if inner.readAll(v, chat.ToolRole) != nil || v.Type() == fastjson.TypeObject &&
				strings.Join(inner.Lines, "") == "" && len(inner.Images) == 0 {
				inner = content{request: c.request,
					Parts: form.Parts{Lines: []string{string(field.Raw(v))}}}
			}
			return nil
		}},
	})
	if len(inner.tools) > 0 {
		inner.Lines = append(inner.Lines, "These tools can be called now: "+
			strings.Join(inner.tools, ", "))
		c.found[m.CallID] = inner.tools
	}
	m.Content, m.Images = strings.Join(inner.Lines, "\n"), inner.Images
	if failed {
		m.Content = asError(m.Content)
	}
	c.results = append(c.results, m)
	return err
}

// asError returns the result of a failed call with "Error: " before it. No template has a place for
// is_error, and a model may take "not found" for a file's content. A text whose beginning already
// names an error is returned unchanged, for example Claude Code's, which begins with
// <tool_use_error>.
func asError(text string) string {
	if head := strings.ToLower(text[:min(len(text), 32)]); strings.Contains(head, "error") {
		return text
	}
	return strings.TrimRight("Error: "+text, " ")
}

// reference adds a {"type":"tool_reference","tool_name":…}, with which Claude Code answers a search
// for tools. It returns an error if the name is empty.
func (c *content) reference(v *fastjson.Value) error {
	name := string(v.GetStringBytes("tool_name"))
	if name == "" {
		return field.Bad("tool_name", "must not be empty")
	}
	if name != placeholder {
		c.referenced[name] = true
		c.tools = append(c.tools, name)
	}
	return nil
}

// document adds a document of text. It returns an error for a PDF, since that would need a reader
// of its own, and a model that does not get the text would make it up.
func (c *content) document(v *fastjson.Value) error {
	if title := v.GetStringBytes("title"); len(title) > 0 {
		c.Lines = append(c.Lines, "# "+string(title))
	}
	// what the client says about the document
	if context := v.GetStringBytes("context"); len(context) > 0 {
		c.Lines = append(c.Lines, string(context))
	}
	source := v.Get("source")
	switch kind := string(source.GetStringBytes("type")); kind {
	case "text":
		var data string
		err := field.Member(source, "data", &data)
		c.Lines = append(c.Lines, data)
		return field.Within("source", err)
	case "content":
		return field.Within("source.content", c.readAll(source.Get("content"), chat.User))
	default:
		return field.Bad("source.type",
			"must be text or content, not %q: only documents of text are read here", kind)
	}
}

// searchResult adds a passage that the client has found, with its title, source and text. It
// returns an error if the text is invalid.
func (c *content) searchResult(v *fastjson.Value) error {
	c.Lines = append(c.Lines, strings.TrimSpace(string(v.GetStringBytes("title"))+" ("+
		string(v.GetStringBytes("source"))+")"))
	return field.Within("content", c.readAll(v.Get("content"), chat.User))
}
