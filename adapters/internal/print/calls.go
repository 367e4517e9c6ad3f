package print

import (
	"bytes"
	"encoding/json"
	"strconv"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Calls appends calls as models of the family write them. If dst is not empty, the white space that
// the family writes before calls comes first. The calls must have ids as [Number] returns them, and
// arguments that are JSON objects.
//
// The first example of each kind in the declaration is printed, because it is that of the family's
// own template. The others are variants that models write. Tests check for every family that the
// decoder reads the same calls from the text, and that the grammar accepts the text.
func Calls(dst []byte, f *declaration.Family, calls []chat.Call) []byte {
	switch {
	case len(calls) == 0:
		return dst
	case f.Form != nil:
		return formed{f.Form}.calls(appendGlue(dst, f, f.Form.Glue), calls)
	case f.Header != nil:
		return appendMessages(dst, f, calls)
	case len(f.Sections) > 0:
		return appendSection(dst, f, calls)
	}
	return appendCalls(appendGlue(dst, f, f.Calls[0].Glue), f, calls)
}

// appendMessages appends each call as a message of its own. The marks that end a message are in the
// field Ends of the family: the first mark comes after each call but the last, and the second mark
// after the last call, such as <|call|> of harmony. For example, between two calls llm-jp prints
// <|end|><|start|>assistant, and glimmer prints <|eom|><|start|>assistant. gpt-oss's own template
// prints only the first call. If dst is empty, <|start|>assistant is removed from the first
// message, because the prompt, or the text before the calls in a history, already ends with it.
func appendMessages(dst []byte, f *declaration.Family, calls []chat.Call) []byte {
	for i := range calls {
		message := appendCall(nil, f.Message, calls[i:i+1], i)
		if len(dst) == 0 {
			message = bytes.TrimPrefix(message, []byte("<|start|>assistant"))
		}
		end := f.Ends[0]
		if i == len(calls)-1 {
			end = f.Ends[1]
		}
		dst = append(append(dst, message...), end...)
	}
	return dst
}

// appendSection appends calls with the texts that the family prints before and after all calls of a
// reply, such as <｜tool▁calls▁begin｜>…<｜tool▁calls▁end｜>. The newlines before the first call are
// those at the beginning of the section's example. The newlines at the beginning of a call's
// example are printed only before the second call and later ones.
func appendSection(dst []byte, f *declaration.Family, calls []chat.Call) []byte {
	p := f.Sections[0]
	return fill(appendGlue(dst, f, p.Glue), p, func(dst []byte, _ int) []byte {
		return appendCalls(dst, f, calls)
	})
}

// fill appends an example to dst. For each placeholder such as {name} it calls placeholder, which
// appends the content of placeholder i.
func fill(dst []byte, p *declaration.Pattern, placeholder func(dst []byte, i int) []byte) []byte {
	for i := range len(p.Parts) + 1 {
		if dst = append(dst, p.Printed(i)...); p.PlaceholderAt(i) != "" {
			dst = placeholder(dst, i)
		}
	}
	return dst
}

// appendCalls appends calls. If the family's example holds a list of calls, it prints the example
// once, with all calls. Otherwise it prints the example for each call, with the newlines that the
// family has between two calls. The caller prints the white space before the first call.
func appendCalls(dst []byte, f *declaration.Family, calls []chat.Call) []byte {
	p := f.Calls[0]
	if p.HoldsSeveral() {
		return appendCall(dst, p, calls, 0)
	}
	for i := range calls {
		if i > 0 {
			dst = appendNewlines(dst, p.Between())
		}
		dst = appendCall(dst, p, calls[i:i+1], i)
	}
	return dst
}

// appendGlue appends n newlines, which separate a call from the text before it. For example,
// qwen3-coder has two, and hermes has one. At the start of a reply it appends none, because the
// prompt has already ended the line, as in <|im_start|>assistant\n. An exception is GLM-4.6, which
// prints its newline even at the start of a reply (GlueAlways).
func appendGlue(dst []byte, f *declaration.Family, n int) []byte {
	if len(dst) == 0 && !f.Layout.GlueAlways {
		return dst
	}
	return appendNewlines(dst, n)
}

// appendNewlines appends n newlines.
func appendNewlines(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '\n')
	}
	return dst
}

// appendCall appends the example of a call to dst, with the placeholders filled in. A placeholder
// that stands for several calls gets all calls, and any other placeholder is filled from the first
// one. The parameter n is the index of the first call in its message, and {index} prints n+1.
// Placeholders that are only for reading print nothing.
func appendCall(dst []byte, p *declaration.Pattern, calls []chat.Call, n int) []byte {
	f, c := p.Family, calls[0]
	return fill(dst, p, func(dst []byte, i int) []byte {
		switch p.Parts[i].Placeholder {
		case "name":
			return append(dst, c.Name...)
		case "id":
			return append(dst, c.ID...)
		case "index":
			return strconv.AppendInt(dst, int64(n+1), 10)
		case "json", "pseudo", "args":
			return Arguments(p, i).Append(dst, string(c.Args))
		case "named":
			return appendSeveral(dst, p.Several(i), f, calls, appendNamed)
		case "python":
			return appendSeveral(dst, p.Several(i), f, calls, appendPython)
		case "call", "calls":
			if p == f.Message { // glimmer's messages hold a section
				return appendSection(dst, f, calls)
			}
			return appendSeveral(dst, p.Several(i), f, calls, appendObject)
		}
		return dst
	})
}

// appendSeveral appends the calls that fill one placeholder: {call}, {calls}, {named} or {python}.
// The parameter s has the texts before, between and after the calls, and the function one appends a
// single call. If s says that the list is printed on several lines, it is finally indented at every
// level, as by command-r's json.dumps(indent=4).
func appendSeveral(dst []byte, s declaration.Several, f *declaration.Family, calls []chat.Call,
	one func([]byte, *declaration.Family, chat.Call) []byte) []byte {
	if s.OneIsBare && len(calls) == 1 {
		return one(dst, f, calls[0])
	}
	start := len(dst)
	dst = append(dst, s.Open...)
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, s.Comma...)
		}
		dst = one(dst, f, c)
	}
	if dst = append(dst, s.Close...); s.Indented {
		var b bytes.Buffer
		_ = json.Indent(&b, dst[start:], "", "    ") // it is JSON, since it was just written
		dst = append(dst[:start], b.Bytes()...)
	}
	return dst
}

// appendObject appends a call as one object, such as {"name": "get_time", "arguments": {}}. All
// templates have the name before the arguments. command-r7b has a counter first. mistral-v3 has the
// call's id last, unless it is empty.
func appendObject(dst []byte, f *declaration.Family, c chat.Call) []byte {
	s, l := Objects(f), &f.Layout
	dst = append(dst, s.Open...)
	if l.Counter != "" {
		dst, _ = s.appendMember(dst, schema.Quote(l.Counter), schema.Quote(c.ID))
		dst = append(dst, s.Comma...)
	}
	dst, _ = s.appendMember(dst, schema.Quote(l.Name), schema.Quote(c.Name))
	dst, _ = s.appendMember(append(dst, s.Comma...), schema.Quote(l.Args), string(c.Args))
	if l.ID != "" && c.ID != "" {
		dst, _ = s.appendMember(append(dst, s.Comma...), schema.Quote(l.ID), schema.Quote(c.ID))
	}
	return append(dst, s.Close...)
}

// appendNamed appends a call as an object whose only key is the tool's name, such as apertus's
// {"get_time": {}}.
func appendNamed(dst []byte, _ *declaration.Family, c chat.Call) []byte {
	dst = JSON.key(append(dst, '{'), schema.Quote(c.Name))
	return append(JSON.Append(dst, string(c.Args)), '}')
}

// appendPython appends a call in Python's syntax: get_weather(city="Paris", days=3).
func appendPython(dst []byte, f *declaration.Family, c chat.Call) []byte {
	dst = append(append(dst, PythonName(c.Name)...), '(')
	return append(keywords(f).Append(dst, string(c.Args)), ')')
}
