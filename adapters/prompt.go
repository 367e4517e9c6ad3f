package adapters

import (
	"bytes"
	"encoding/json"
	"fmt"

	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Prompt is the text that teaches a model the tools and this form of calling them, in that wording, or in the family's own
// when it is zero. It is empty without tools. The same tools and wording give the same bytes.
func (f *Format) Prompt(tools []chat.Tool, w Wording) string {
	if len(tools) == 0 {
		return ""
	}
	if w == 0 {
		w = f.wording
	}
	b := []byte("# Tools\n\nYou may call these functions:\n")
	for _, t := range tools {
		if w&Schemas != 0 || w&Signatures == 0 {
			b = appendSchema(append(b, '\n'), t)
		}
		if w&Signatures != 0 {
			b = appendSignature(append(b, '\n'), t)
		}
	}
	b = append(b, "\nTo call one, write exactly this, with nothing behind it:\n\n"...)
	call := example(tools[0], placeholder)
	b = append(b, f.shown(call)...)
	if w&Example != 0 {
		b = append(b, "\n\nExample. The user says: "...)
		b = f.appendWorked(b, tools[0])
	}
	return string(append(b, "\n\nOtherwise answer in plain text."...))
}

// shown is a call without the newlines that the family's turns begin with.
func (f *Format) shown(call chat.Call) []byte { return bytes.TrimLeft(f.Append(nil, call), "\n") }

// appendSchema writes a tool as JSON.
func appendSchema(dst []byte, t chat.Tool) []byte {
	params := t.Schema
	if len(params) == 0 {
		params = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	dst = schema.AppendQuote(append(dst, `{"name": `...), t.Name)
	dst = schema.AppendQuote(append(dst, `, "description": `...), t.Description)
	dst = appendSpaced(append(dst, `, "parameters": `...), string(params))
	return append(dst, "}\n"...)
}

// appendWorked writes a request that needs the tool, and the call that answers it.
func (f *Format) appendWorked(dst []byte, t chat.Tool) []byte {
	call := example(t, worked)
	dst = append(append(dst, "Please use "...), t.Name...)
	for i, m := range membersOf(string(call.Args)) {
		word := " and "
		if i == 0 {
			word = " with "
		}
		dst = fmt.Appendf(dst, "%s%s %s", word, m.key, appendSpaced(nil, m.value))
	}
	return append(append(dst, ".\nYou write:\n\n"...), f.shown(call)...)
}

// example is a call of a tool with a value for each required parameter, or for its first one when none is.
func example(t chat.Tool, value func(*schema.Type) string) chat.Call {
	typ := schema.Compile(t.Schema)
	names := typ.Required()
	if all := typ.Members(); len(names) == 0 && len(all) > 0 {
		names = all[:1]
	}
	args := []byte{'{'}
	for i, name := range names {
		if i > 0 {
			args = append(args, ',')
		}
		args = append(schema.AppendQuote(args, name), ':')
		args = append(args, value(typ.Prop(name))...)
	}
	return chat.Call{ID: "example00", Name: t.Name, Args: append(args, '}')}
}

// placeholder is a value that nobody takes for a real one.
func placeholder(t *schema.Type) string { return sample(t, `"…"`, "1") }

// worked is a value that could be a real one.
func worked(t *schema.Type) string { return sample(t, `"some text"`, "3") }

// sample is a value of the type: the first allowed one, or one of those given.
func sample(t *schema.Type, text, number string) string {
	if e := t.Enum(); len(e) > 0 {
		return e[0]
	}
	for _, p := range []struct {
		kind schema.Kinds
		text string
	}{{schema.String, text}, {schema.Integer, number}, {schema.Number, number + ".5"}, {schema.Boolean, "true"}, {schema.Array, "[]"}, {schema.Object, "{}"}} {
		if t.Allows(p.kind) {
			return p.text
		}
	}
	return "null"
}
