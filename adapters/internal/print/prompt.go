package print

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Prompt returns a text that teaches a model the tools and how to call them, in the given wording.
// It is for models whose template does not print tools. The same tools and wording give the same
// bytes, so that servers can cache the text. There must be at least one tool, because the worked
// example uses the first.
func Prompt(form *declaration.Family, tools []chat.Tool, w declaration.Wording) string {
	b := []byte("# Tools\n\nThese functions are there for you to call:\n")
	for _, t := range tools {
		if w&declaration.Schemas != 0 || w&declaration.Signatures == 0 {
			b = appendSchema(append(b, '\n'), t)
		}
		if w&declaration.Signatures != 0 {
			b = appendSignature(append(b, '\n'), t)
		}
	}
	b = append(b,
		"\nWhen the request needs one of them, reply only with the call, and the result will be given to you:\n\n"...)
	b = append(b, inlineCall(form, shape)...)
	if w&declaration.Example != 0 {
		b = append(b, "\n\nExample. The user says: "...)
		b = appendWorked(b, form, tools[0])
	}
	return string(append(b, "\n\nWhen none of them fits, answer directly, without a call."...))
}

// shape is a call that shows the form of calls. Its tool is not an offered one, because small
// models copy what they are shown.
var shape = chat.Call{ID: "example00", Name: "function_name", Args: json.RawMessage(
	`{"parameter":"value"}`)}

// inlineCall returns a printed call without newlines at its beginning, which are needless in the
// middle of a prompt. The call gets the id that [Number] gives it.
func inlineCall(f *declaration.Family, call chat.Call) []byte {
	return bytes.TrimLeft(Calls(nil, f, Number(f, 0, []chat.Call{call})), "\n")
}

// appendSchema appends a tool as JSON. Its member names and blanks are those that the templates of
// widely used families print.
func appendSchema(dst []byte, t chat.Tool) []byte {
	params := t.Schema
	if len(params) == 0 {
		params = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	dst = chat.AppendQuoted(append(dst, `{"name": `...), t.Name)
	dst = chat.AppendQuoted(append(dst, `, "description": `...), t.Description)
	dst = JSON.Append(append(dst, `, "parameters": `...), string(params))
	return append(dst, "}\n"...)
}

// appendWorked appends a request that needs the tool t, and the call that answers it. The request
// has the arguments in the order of the call, so that the model sees where they come from. A 1.5B
// model without a template for tools called correctly in 29 of 30 cases with a worked example, and
// in 23 without one. The tool is an offered one, because a small model copied an example with
// another tool.
func appendWorked(dst []byte, f *declaration.Family, t chat.Tool) []byte {
	call := example(t)
	dst = append(append(dst, "Please use "...), t.Name...)
	for i, m := range scan.Fields(string(call.Args)) {
		word := " and "
		if i == 0 {
			word = " with "
		}
		dst = fmt.Appendf(dst, "%s%s %s", word, m.Key, JSON.Append(nil, m.Value))
	}
	return append(append(dst, ".\nYou write:\n\n"...), inlineCall(f, call)...)
}

// example returns a call of a tool with a value for each required parameter, or for its first
// parameter if none is required, because an example without arguments teaches a model to leave them
// out. Other parameters are left out, because models copy an example with all its parameters,
// whether these are needed or not.
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
		args = append(chat.AppendQuoted(args, name), ':')
		args = append(args, sampleValue(typ.Prop(name))...)
	}
	return chat.Call{ID: "example00", Name: t.Name, Args: append(args, '}')}
}

// sampleValue returns a plausible value of a type: the first of an enum, or a simple one. Lists and
// objects are empty, which fits more tools than an invented element. There are no invented values
// such as cities, because small models copy what they see.
func sampleValue(t *schema.Type) string {
	if e := t.Enum(); len(e) > 0 {
		return e[0]
	}
	for _, p := range kinds {
		if t.Allows(p.kind) {
			return p.some
		}
	}
	return "null"
}

// Opening returns the beginning of a printed call of the tool name, up to the end of the last tag
// before the call's name or object. In families that write calls as messages it is the whole
// header, with the name in it. If the name is empty, a placeholder is used. A reply that is begun
// with this text can only continue with a call.
//
//	hermes     <tool_call>\n
//	mistral    [TOOL_CALLS]
//	harmony     to=functions.get_weather<|channel|>commentary json<|message|>
func Opening(f *declaration.Family, name string) string {
	call := shape
	if name != "" {
		call.Name = name
	}
	text, _, _ := strings.Cut(string(Calls(nil, f, Number(f, 0, []chat.Call{call}))), "{")
	if f.Header != nil {
		return text
	}
	text, _, _ = strings.Cut(text, call.Name)
	return text[:strings.LastIndexAny(text, ">]\n")+1]
}
