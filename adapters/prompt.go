package adapters

import (
	"bytes"
	"encoding/json"
	"fmt"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Prompt is the text that teaches a model the tools and this form of calling them, in that wording, or in the family's own
// when it is zero. It is empty without tools. The same tools and wording give the same bytes.
func (f *Format) Prompt(tools []chat.Tool, w declaration.Wording) string {
	if len(tools) == 0 {
		return ""
	}
	if w == 0 {
		w = f.Wording()
	}
	form := f.Asked(w)
	b := []byte("# Tools\n\nThese functions are there for you to call:\n")
	for _, t := range tools {
		if w&declaration.Schemas != 0 || w&declaration.Signatures == 0 {
			b = appendSchema(append(b, '\n'), t)
		}
		if w&declaration.Signatures != 0 {
			b = appendSignature(append(b, '\n'), t)
		}
	}
	b = append(b, "\nWhen the request needs one of them, reply only with the call, and the result will be given to you:\n\n"...)
	b = append(b, form.shown(shape)...)
	if w&declaration.Example != 0 {
		b = append(b, "\n\nExample. The user says: "...)
		b = form.appendWorked(b, tools[0])
	}
	return string(append(b, "\n\nWhen none of them fits, answer directly, without a call."...))
}

// shape is the call that shows what a call looks like. It is of no offered tool: small models copy what they are shown.
var shape = chat.Call{ID: "example00", Name: "function_name", Args: json.RawMessage(`{"parameter":"value"}`)}

// Asked is the format in which Prompt asks for calls: signatures without schemas ask for Python, unless the family's own
// declaration has a wording. What it asks for is also how earlier calls should be written out.
func (f *Format) Asked(w declaration.Wording) *Format {
	if w&(declaration.Signatures|declaration.Schemas) == declaration.Signatures && f.Wording() == 0 && f.set != nil {
		if python := f.set.Named("python"); python != nil {
			return python
		}
	}
	return f
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
	call := example(t)
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
func example(t chat.Tool) chat.Call {
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
		args = append(args, worked(typ.Prop(name))...)
	}
	return chat.Call{ID: "example00", Name: t.Name, Args: append(args, '}')}
}

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
