package messages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// offer is a tool that the request lists. If it is deferred, it is only offered to the model if
// something in the conversation refers to it.
type offer struct {
	chat.Tool
	deferred bool
}

// placeholder is the name of a tool that Claude Code sends with every request, so that the list
// always has a deferred tool. Its description says that it must not be called.
const placeholder = "DeferredToolPlaceholder"

// readTools stores the tools. Tools with a type of their own (web_search_20250305, bash_20250124,
// …) have no schema: Claude models were trained on them, and Anthropic's service runs some of them.
// No model here can call them, so they are left out. It returns an error for an invalid tool.
func (r *request) readTools(v *fastjson.Value) error {
	r.offers, r.gone = nil, nil
	return field.List(v, func(v *fastjson.Value) error {
		if v.Type() != fastjson.TypeObject {
			return field.Bad("", "must be an object, not %s", field.KindOf(v))
		}
		var o offer
		var err error
		switch kind := string(v.GetStringBytes("type")); kind {
		case "custom":
			err = form.ReadOffer(&o.Tool, v)
		case "", "function": // a function is a tool in OpenAI's notation
			o.Tool, err = form.ReadTool(v)
		default:
			// an mcp_toolset has no name
			r.gone = append(r.gone, cmp.Or(string(v.GetStringBytes("name")), kind))
			return nil
		}
		if err == nil {
			err = field.Member(v, "defer_loading", &o.deferred)
		}
		r.offers = append(r.offers, o)
		return err
	})
}

// settleTools offers all tools, except for deferred tools to which nothing in the conversation
// refers. Then it applies tool_choice, and reports which tools were left out. It returns an error
// if tool_choice is wrong.
func (r *request) settleTools() error {
	_, chosen := form.FindTool(r.choice)
	r.referenced[chosen] = true
	var later []chat.Tool
	for _, o := range r.offers {
		switch {
		case o.Name == placeholder || o.deferred && !r.referenced[o.Name]:
		case o.deferred:
			later = append(later, o.Tool)
		default:
			r.Tools = append(r.Tools, o.Tool)
		}
	}
	r.describe(later)
	r.Tools = append(r.Tools, later...)
	r.tellGone()
	return r.Choose(r.choice, form.FindTool)
}

// describe adds the definitions of tools to the results in the conversation that refer to these
// tools. The list of tools before the conversation then stays the same from request to request. A
// tool to which no result refers, as in a conversation that was cut, stays in that list.
func (r *request) describe(tools []chat.Tool) {
	for i := range r.Messages {
		m := &r.Messages[i]
		for _, name := range r.found[m.CallID] {
			at := slices.IndexFunc(tools, func(t chat.Tool) bool { return t.Name == name })
			if m.Role != chat.ToolRole || at < 0 || tools[at].Found {
				continue
			}
			tools[at].Found = true
			// cannot fail: the schema was parsed before
			text, _ := chat.JSON(definition{name, tools[at].Description, tools[at].Schema})
			m.Content += "\n" + string(text)
		}
	}
}

// definition is a tool as it is written into the result of a search for tools.
type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// tellGone reports which tools were left out. The client learns it from a header, and the model
// from a message if it has no other tool to call. Claude Code sends a web search as a separate
// request with only that tool, and a model that is not told of the missing tool would make the
// results up.
func (r *request) tellGone() {
	if len(r.gone) == 0 {
		return
	}
	names := strings.Join(r.gone, ", ")
	r.Tell("Left-Out", names+
		": tools of Anthropic's own, which have no schema and run nowhere here")
	if len(r.Tools) == 0 {
		r.Messages = append(r.Messages, chat.Message{
			Role: chat.System,
			Content: fmt.Sprintf(
				"The tool %s is not available here. Answer from what you know, say that you could not use the tool, and do not make up results.", names),
		})
	}
}
