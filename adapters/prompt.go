package adapters

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Prompt is the text that teaches a model the tools and this form of calling them. It is empty without tools.
func (f *Format) Prompt(tools []chat.Tool) string {
	if len(tools) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("# Tools\n\nYou may call these functions:\n")
	for _, t := range tools {
		params := t.Schema
		if len(params) == 0 {
			params = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		fmt.Fprintf(&b, "\n{\"name\": %s, \"description\": %s, \"parameters\": %s}\n", strconv.Quote(t.Name), schema.Quote(t.Description), appendSpaced(nil, string(params)))
	}
	b.WriteString("\nTo call one, write exactly this, with nothing behind it:\n\n")
	b.Write(f.Append(nil, example(tools[0])))
	b.WriteString("\n\nOtherwise answer in plain text.")
	return b.String()
}

// example is a call of a tool with a placeholder for each required parameter.
func example(t chat.Tool) chat.Call {
	typ := schema.Compile(t.Schema)
	args := []byte{'{'}
	for i, name := range typ.Required() {
		if i > 0 {
			args = append(args, ',')
		}
		args = append(schema.AppendQuote(args, name), ':')
		args = append(args, placeholder(typ.Prop(name))...)
	}
	return chat.Call{ID: "example00", Name: t.Name, Args: append(args, '}')}
}

func placeholder(t *schema.Type) string {
	if e := t.Enum(); len(e) > 0 {
		return e[0]
	}
	for _, p := range []struct {
		kind schema.Kinds
		text string
	}{{schema.String, `"…"`}, {schema.Integer, "1"}, {schema.Number, "1.5"}, {schema.Boolean, "true"}, {schema.Array, "[]"}, {schema.Object, "{}"}} {
		if t.Allows(p.kind) {
			return p.text
		}
	}
	return "null"
}
