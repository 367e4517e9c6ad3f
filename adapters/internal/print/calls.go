package print

import (
	"bytes"
	"encoding/json"
	"strconv"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Calls writes calls as models of the family write them: behind text when dst is not empty, with
// the family's white space between them. The calls have the ids that Number gives, and arguments
// that are JSON objects.
//
// Of each kind of example the first is printed. It is the one that the family's own template has;
// the others are what models were seen to write besides. What it prints is read back as the same
// calls in every family (law tests), and is accepted by the family's grammar.
func Calls(dst []byte, f *declaration.Family, calls []chat.Call) []byte {
	switch {
	case len(calls) == 0:
		return dst
	case f.Form != nil:
		return formed{f.Form}.calls(glued(dst, f, f.Form.Glue), calls)
	case f.Header != nil:
		return appendMessages(dst, f, calls)
	case len(f.Sections) > 0:
		return appendSection(dst, f, calls)
	}
	return appendCalls(glued(dst, f, f.Calls[0].Glue), f, calls)
}

// appendMessages writes each call as a message of its own: the first mark of the ends line is
// behind all but the last (harmony's <|call|> is a stop token, so what follows is another turn),
// the second behind that. The role of the first message stands in the prompt. llm-jp and glimmer
// print <|end|><|start|>assistant and <|eom|><|start|>assistant between two calls; gpt-oss's own
// template prints the first call alone. <|start|>assistant is cut from the first message only: a
// prompt ends with it, and a history has it printed by the turn.
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

// appendSection writes calls between the marks of a section,
// <｜tool▁calls▁begin｜>…<｜tool▁calls▁end｜>. Its glue stands in front of the first call, whose own is
// for what stands between two.
func appendSection(dst []byte, f *declaration.Family, calls []chat.Call) []byte {
	p := f.Sections[0]
	return fill(glued(dst, f, p.Glue), p, func(dst []byte, _ int) []byte { return appendCalls(dst, f, calls) })
}

// fill writes an example: its literals as they stand, and in the place of its holes what the
// function makes of hole i.
func fill(dst []byte, p *declaration.Pattern, hole func(dst []byte, i int) []byte) []byte {
	for i := range len(p.Parts) + 1 {
		if dst = append(dst, p.Printed(i)...); p.HoleAt(i) != "" {
			dst = hole(dst, i)
		}
	}
	return dst
}

// appendCalls writes calls, the white space of the family between them, all in one example where
// that holds a list. The first call's glue has been written by then, or left out at the start of a
// reply.
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

// glued appends the newlines that stand between text and what follows. At the start of a reply most
// templates print none: the turn's own mark has ended the line there, <|im_start|>assistant\n. Text
// and call of qwen3-coder are apart by two newlines, of hermes by one; GLM-4.6 prints its newline
// at the start, too.
func glued(dst []byte, f *declaration.Family, n int) []byte {
	if len(dst) == 0 && !f.Layout.GlueAlways {
		return dst
	}
	return appendNewlines(dst, n)
}

// appendNewlines writes n newlines: white space of examples at their edges is kept as a count.
func appendNewlines(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '\n')
	}
	return dst
}

// appendCall fills the holes of a call's example. n is the place of the first call in its turn,
// which {index} counts from 1. Holes that are for reading only, {junk}, print nothing; examples
// with them are never the first. Which holes there are is a closed list (declaration.holes); a hole
// that is missing here prints nothing.
func appendCall(dst []byte, p *declaration.Pattern, calls []chat.Call, n int) []byte {
	f, c := p.Family, calls[0]
	return fill(dst, p, func(dst []byte, i int) []byte {
		switch p.Parts[i].Hole {
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

// appendSeveral writes the calls that share one hole: {call}, {calls}, {named} and {python} differ
// in what one call looks like and in what stands around several, and in nothing else. Indented
// lists are written plain and indented afterwards: command-r's json.dumps(indent=4) goes all the
// way down.
func appendSeveral(dst []byte, s declaration.Several, f *declaration.Family, calls []chat.Call, one func([]byte, *declaration.Family, chat.Call) []byte) []byte {
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

// appendObject writes a call as one object: {"name": "get_time", "arguments": {}}. command-r7b
// counts its calls in front, mistral-v3 has the call's id behind; a call without an id, which only
// a client's history can hold, goes without there. Name first, arguments second: every template
// that prints an object has this order.
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

// appendNamed writes a call as an object whose only member is named like the tool: apertus's
// {"get_time": {}}.
func appendNamed(dst []byte, _ *declaration.Family, c chat.Call) []byte {
	dst = JSON.key(append(dst, '{'), schema.Quote(c.Name))
	return append(JSON.Append(dst, string(c.Args)), '}')
}

// appendPython writes a call as Python does: get_weather(city="Paris", days=3).
func appendPython(dst []byte, f *declaration.Family, c chat.Call) []byte {
	dst = append(append(dst, PythonName(c.Name)...), '(')
	return append(keywords(f).Append(dst, string(c.Args)), ')')
}
