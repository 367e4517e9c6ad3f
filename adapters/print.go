package adapters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Append writes calls as the family's models write them: behind text when dst is not empty, with the family's white space
// between them. Arguments that are no JSON object are mended first, and ids that the family does not write are numbered
// from 0 (see Number); it never fails.
func (f *Format) Append(dst []byte, calls ...chat.Call) []byte {
	if len(calls) == 0 {
		return dst
	}
	calls = f.Number(0, calls)
	if f.Header != nil {
		return f.appendMessages(dst, calls)
	}
	if len(f.Sections) > 0 {
		return f.appendSection(dst, calls)
	}
	return f.appendCalls(f.glued(dst, f.Calls[0].Glue), calls)
}

// appendSection writes calls between the marks of a section.
func (f *Format) appendSection(dst []byte, calls []chat.Call) []byte {
	p := f.Sections[0]
	dst = f.glued(dst, p.Glue)
	for _, part := range p.Parts {
		if part.Hole == "calls" {
			dst = f.appendCalls(dst, calls) // the first call has no glue in a section
		} else {
			dst = append(dst, f.Printed(part.Lit.Text)...)
		}
	}
	return dst
}

// appendCalls writes calls, the white space of the family between them.
func (f *Format) appendCalls(dst []byte, calls []chat.Call) []byte {
	p := f.Calls[0]
	if p.HoldsSeveral() {
		return f.appendCall(dst, p, calls, 0)
	}
	for i := range calls {
		if i > 0 {
			dst = appendNewlines(dst, p.Between())
		}
		dst = f.appendCall(dst, p, calls[i:i+1], i)
	}
	return dst
}

// glued appends newlines behind something; behind nothing only where the family has them there too (glue=always).
func (f *Format) glued(dst []byte, n int) []byte {
	if len(dst) == 0 && !f.Layout.GlueAlways {
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

// appendCall fills the holes of a call pattern. n is the place of the first call in its turn.
func (f *Format) appendCall(dst []byte, p *declaration.Pattern, calls []chat.Call, n int) []byte {
	c := calls[0]
	for i, part := range p.Parts {
		switch part.Hole {
		case "":
			dst = append(dst, printed(p, i, dst, c)...)
		case "name":
			dst = append(dst, c.Name...)
		case "id":
			dst = append(dst, c.ID...)
		case "index":
			dst = strconv.AppendInt(dst, int64(n+1), 10)
		case "json":
			dst = appendSpaced(dst, objectText(c.Args))
		case "call", "calls":
			if p == f.Message {
				dst = f.appendSection(dst, calls)
				continue
			}
			dst = f.appendObjects(dst, calls, p.Several(i))
		case "named":
			dst = appendSeveral(dst, p.Several(i), calls, appendNamed)
		case "args":
			dst = f.appendTags(dst, c, p.OnLines(i))
		case "pseudo":
			dst = appendPseudo(dst, objectText(c.Args), f.Quotes[0])
		case "python":
			dst = appendSeveral(dst, p.Several(i), calls, f.appendPython)
		}
	}
	return appendNewlines(dst, p.Tail)
}

// printed is literal i behind dst. The newline behind {args} goes with the last argument: without arguments there is only
// the one in front, unless the family keeps both (empty=lines).
func printed(p *declaration.Pattern, i int, dst []byte, c chat.Call) string {
	text := p.Family.Printed(p.Parts[i].Lit.Text)
	if p.HoleAt(i-1) == "args" && !p.Family.Layout.EmptyLines && len(dst) > 0 && dst[len(dst)-1] == '\n' && len(membersOf(objectText(c.Args))) == 0 {
		return strings.TrimPrefix(text, "\n")
	}
	return text
}

// appendObjects writes calls as JSON objects.
func (f *Format) appendObjects(dst []byte, calls []chat.Call, s declaration.Several) []byte {
	if s.Indented {
		return f.appendIndented(dst, calls)
	}
	return appendSeveral(dst, s, calls, func(dst []byte, c chat.Call) []byte {
		object := f.appendObject(nil, c)
		if f.Layout.Words == declaration.PythonObjects {
			return appendRepr(dst, string(object))
		}
		return append(dst, object...)
	})
}

// appendSeveral writes the calls of one hole.
func appendSeveral(dst []byte, s declaration.Several, calls []chat.Call, one func([]byte, chat.Call) []byte) []byte {
	bare := s.OneIsBare && len(calls) == 1
	if !bare {
		dst = append(dst, s.Open...)
	}
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, s.Comma...)
		}
		dst = one(dst, c)
	}
	if bare {
		return dst
	}
	return append(dst, s.Close...)
}

// appendObject writes a call as one JSON object.
func (f *Format) appendObject(dst []byte, c chat.Call) []byte {
	dst = append(dst, '{')
	if id := f.Layout.Counter; id != "" {
		dst = append(schema.AppendQuote(append(dst, `"`+id+`": `...), c.ID), ", "...)
	}
	dst = append(dst, `"`+f.Layout.Name+`": `...)
	dst = schema.AppendQuote(dst, c.Name)
	dst = append(dst, `, "`+f.Layout.Args+`": `...)
	dst = appendSpaced(dst, objectText(c.Args))
	if id := f.Layout.ID; id != "" && c.ID != "" {
		dst = schema.AppendQuote(append(dst, `, "`+id+`": `...), c.ID)
	}
	return append(dst, '}')
}

// appendNamed writes a call as an object whose only member is named like the tool.
func appendNamed(dst []byte, c chat.Call) []byte {
	dst = append(schema.AppendQuote(append(dst, '{'), c.Name), ": "...)
	return append(appendSpaced(dst, objectText(c.Args)), '}')
}

// appendIndented writes calls as a list with a member a line.
func (f *Format) appendIndented(dst []byte, calls []chat.Call) []byte {
	list := []byte{'['}
	for i, c := range calls {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, `{"`+f.Layout.Name+`":`...)
		list = append(schema.AppendQuote(list, c.Name), `,"`+f.Layout.Args+`":`...)
		list = append(appendSpaced(list, objectText(c.Args)), '}')
	}
	var b bytes.Buffer
	_ = json.Indent(&b, append(list, ']'), "", "    ") // it is JSON: objectText says so
	return append(dst, b.Bytes()...)
}

// appendMessages writes each call as a message of its own: the first mark of the ends line is behind all but the last, the
// second behind that. The role of the first message stands in the prompt.
func (f *Format) appendMessages(dst []byte, calls []chat.Call) []byte {
	for i := range calls {
		message := f.appendCall(nil, f.Message, calls[i:i+1], i)
		if len(dst) == 0 {
			message = bytes.TrimPrefix(message, []byte(startMark+"assistant"))
		}
		dst = append(dst, message...)
		if i < len(calls)-1 {
			dst = append(dst, f.Ends[0]...)
		} else {
			dst = append(dst, f.Ends[1]...)
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
