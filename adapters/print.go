package adapters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Append writes calls as the family's models write them: behind text when dst is not empty, with the family's white space
// between them. Arguments that are no JSON object are mended first; it never fails.
func (f *Format) Append(dst []byte, calls ...chat.Call) []byte {
	if len(calls) == 0 {
		return dst
	}
	if f.header != nil {
		return f.appendMessages(dst, calls)
	}
	if len(f.section) > 0 {
		return f.appendSection(dst, calls)
	}
	return f.appendCalls(dst, calls)
}

// appendSection writes calls between the marks of a section.
func (f *Format) appendSection(dst []byte, calls []chat.Call) []byte {
	p := f.section[0]
	if len(dst) > 0 {
		dst = appendNewlines(dst, p.glue)
	}
	for _, part := range p.parts {
		if part.hole == "calls" {
			dst = append(dst, f.appendCalls(nil, calls)...) // from nothing: the first call has no glue in a section
		} else {
			dst = append(dst, f.literalText(part.lit.text)...)
		}
	}
	return dst
}

// literalText is a literal as it is printed: with the suffix of the family's checkpoints where it has a place for one.
func (f *Format) literalText(text string) string {
	return strings.ReplaceAll(text, suffixHole, f.keys["sfx"])
}

func (f *Format) appendCalls(dst []byte, calls []chat.Call) []byte {
	p := f.call[0]
	if p.hole("calls") >= 0 || p.hole("named") >= 0 || p.hole("python") >= 0 {
		return f.appendCall(f.glued(dst, p.glue), p, calls, 0)
	}
	for i := range calls {
		glue := p.glue
		if i > 0 {
			glue = max(min(glue, 1)-p.tail, 0)
		}
		dst = f.appendCall(f.glued(dst, glue), p, calls[i:i+1], i)
	}
	return dst
}

// glued appends newlines behind something.
func (f *Format) glued(dst []byte, n int) []byte {
	if len(dst) == 0 {
		return dst
	}
	return appendNewlines(dst, n)
}

func appendNewlines(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '\n')
	}
	return dst
}

// appendCall fills the holes of a call pattern. n is the place of the first call among all.
func (f *Format) appendCall(dst []byte, p *pattern, calls []chat.Call, n int) []byte {
	c := calls[0]
	for i, part := range p.parts {
		switch part.hole {
		case "":
			dst = append(dst, p.printed(i, dst, c)...)
		case "name":
			dst = append(dst, c.Name...)
		case "id":
			dst = append(dst, printedID(p, c, n)...)
		case "index":
			dst = strconv.AppendInt(dst, int64(n+1), 10)
		case "json":
			dst = appendSpaced(dst, objectText(c.Args))
		case "call", "calls":
			if p == f.message {
				dst = f.appendSection(dst, calls)
				continue
			}
			dst = f.appendObjects(dst, calls, i > 0 && strings.HasSuffix(p.parts[i-1].lit.text, "["))
		case "named":
			dst = appendNamed(dst, calls)
		case "args":
			dst = f.appendTags(dst, c, p.onLines(i))
		case "pseudo":
			dst = appendPseudo(dst, []byte(objectText(c.Args)), f.quotes[0])
		case "python":
			dst = f.appendPython(dst, calls)
		}
	}
	return appendNewlines(dst, p.tail)
}

// onLines says whether hole i of the pattern stands on lines of its own.
func (p *pattern) onLines(i int) bool { return i > 0 && strings.HasSuffix(p.parts[i-1].lit.text, "\n") }

// printed is literal i behind dst. The newline behind {args} goes with the last argument: without arguments there is only
// the one in front.
func (p *pattern) printed(i int, dst []byte, c chat.Call) string {
	text := p.f.literalText(p.parts[i].lit.text)
	if p.holeAt(i-1) == "args" && len(dst) > 0 && dst[len(dst)-1] == '\n' && len(membersOf(objectText(c.Args))) == 0 {
		return strings.TrimPrefix(text, "\n")
	}
	return text
}

// printedID is a call's id. Where the family writes no name beside it, the id is what names the tool.
func printedID(p *pattern, c chat.Call, n int) string {
	if c.ID == "" && p.hole("name") >= 0 {
		return fmt.Sprintf("call%06d", n)
	}
	if p.hole("name") >= 0 || strings.HasPrefix(strings.TrimPrefix(c.ID, "functions."), c.Name+":") {
		return c.ID
	}
	return fmt.Sprintf("functions.%s:%d", c.Name, n)
}

// appendObjects writes calls as JSON objects, as a list when there are several; bracketed says that the example has the
// brackets itself.
func (f *Format) appendObjects(dst []byte, calls []chat.Call, bracketed bool) []byte {
	if f.keys["list"] == "indent" {
		return f.appendIndented(dst, calls)
	}
	open, between, end := "", ", ", ""
	switch {
	case f.keys["list"] == "lines":
		open, between, end = "[\n    ", ",\n    ", "\n]"
	case f.keys["list"] == "bare":
		between = "\n"
	case !bracketed && (len(calls) > 1 || f.keys["list"] == "always"):
		open, end = "[", "]"
	}
	dst = append(dst, open...)
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, between...)
		}
		if object := f.appendObject(nil, c, i); f.keys["objects"] == "python" {
			dst = appendRepr(dst, string(object))
		} else {
			dst = append(dst, object...)
		}
	}
	return append(dst, end...)
}

// appendObject writes a call, the n-th of its reply, as one JSON object.
func (f *Format) appendObject(dst []byte, c chat.Call, n int) []byte {
	dst = append(dst, '{')
	if id := f.keys["id"]; id != "" {
		dst = fmt.Appendf(dst, `"%s": "%d", `, id, n)
	}
	dst = append(dst, `"`+f.word("name")+`": `...)
	dst = schema.AppendQuote(dst, c.Name)
	dst = append(dst, `, "`+f.word("args")+`": `...)
	dst = appendSpaced(dst, objectText(c.Args))
	return append(dst, '}')
}

// appendNamed writes calls as a list of objects whose only member is named like the tool.
func appendNamed(dst []byte, calls []chat.Call) []byte {
	dst = append(dst, '[')
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(schema.AppendQuote(append(dst, '{'), c.Name), ": "...)
		dst = append(appendSpaced(dst, objectText(c.Args)), '}')
	}
	return append(dst, ']')
}

// appendIndented writes calls as a list with a member a line.
func (f *Format) appendIndented(dst []byte, calls []chat.Call) []byte {
	list := []byte{'['}
	for i, c := range calls {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, `{"`+f.word("name")+`":`...)
		list = append(schema.AppendQuote(list, c.Name), `,"`+f.word("args")+`":`...)
		list = append(append(list, objectText(c.Args)...), '}')
	}
	var b bytes.Buffer
	_ = json.Indent(&b, append(list, ']'), "", "    ") // it is JSON: objectText says so
	return append(dst, b.Bytes()...)
}

// word is the member name that the family prints.
func (f *Format) word(meaning string) string {
	if w := f.keys[meaning]; w != "" {
		return w
	}
	if meaning == "args" {
		return "arguments"
	}
	return meaning
}

// appendPython writes calls as a Python list, or one a line.
func (f *Format) appendPython(dst []byte, calls []chat.Call) []byte {
	open, between, end := "[", ", ", "]"
	if f.keys["list"] == "lines" {
		open, between, end = "", "\n", ""
	}
	dst = append(dst, open...)
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, between...)
		}
		dst = append(append(dst, c.Name...), '(')
		for k, m := range membersOf(objectText(c.Args)) {
			if k > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(append(dst, m.key...), '=')
			dst = appendPythonValue(dst, m.value)
		}
		dst = append(dst, ')')
	}
	return append(dst, end...)
}

// appendPythonValue writes a JSON value as the value of a keyword. A list becomes Python source; a string is that already,
// and an object stays JSON, as LFM2.5 writes it.
func appendPythonValue(dst []byte, value string) []byte {
	if value[0] == '[' {
		return appendRepr(dst, value)
	}
	switch value {
	case "true":
		return append(dst, "True"...)
	case "false":
		return append(dst, "False"...)
	case "null":
		return append(dst, "None"...)
	}
	return appendSpaced(dst, value)
}

// appendMessages writes each call as a message of its own: the first mark of the ends line is behind all but the last, the
// second behind that. The role of the first message stands in the prompt.
func (f *Format) appendMessages(dst []byte, calls []chat.Call) []byte {
	for i := range calls {
		message := f.appendCall(nil, f.message, calls[i:i+1], i)
		if len(dst) == 0 {
			message = bytes.TrimPrefix(message, []byte(startMark+"assistant"))
		}
		dst = append(dst, message...)
		if i < len(calls)-1 {
			dst = append(dst, f.ends[0]...)
		} else {
			dst = append(dst, f.ends[1]...)
		}
	}
	return dst
}

// objectText is a call's arguments as one JSON object.
func objectText(args json.RawMessage) string {
	if json.Valid(args) && len(bytes.TrimSpace(args)) > 0 && bytes.TrimSpace(args)[0] == '{' {
		return string(bytes.TrimSpace(args))
	}
	if out, _ := repairAs(string(args), nil); strings.HasPrefix(out, "{") {
		return out
	}
	return "{}"
}

// field is a member of an object, its value as JSON text.
type field struct{ key, value string }

// membersOf are the members of an object in their order.
func membersOf(object string) []field {
	dec := json.NewDecoder(strings.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	var out []field
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return out
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return out
		}
		out = append(out, field{fmt.Sprint(key), string(value)})
	}
	return out
}

// appendSpaced writes JSON with one blank after each comma and colon and none elsewhere, as chat templates do. Number text
// and member order stay.
func appendSpaced(dst []byte, text string) []byte {
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString:
			dst = append(dst, c)
			if c == '\\' {
				i++
				dst = append(dst, text[i])
			}
			inString = c != '"'
		case c == '"':
			inString = true
			dst = append(dst, c)
		case c == ',' || c == ':':
			dst = append(dst, c, ' ')
		case !isSpace(int(c)):
			dst = append(dst, c)
		}
	}
	return dst
}

// appendPseudo writes JSON with bare keys and strings between the family's own delimiters.
func appendPseudo(dst, value []byte, quote string) []byte {
	switch value[0] {
	case '{':
		dst = append(dst, '{')
		for i, m := range membersOf(string(value)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, m.key...), ':')
			dst = appendPseudo(dst, []byte(m.value), quote)
		}
		return append(dst, '}')
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(value, &list)
		dst = append(dst, '[')
		for i, v := range list {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendPseudo(dst, v, quote)
		}
		return append(dst, ']')
	case '"':
		return append(append(append(dst, quote...), unquote(value)...), quote...)
	}
	return append(dst, value...)
}
