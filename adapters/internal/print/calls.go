package print

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Calls writes calls as models of the family write them: behind text when dst is not empty, with the family's white space
// between them. The calls have the ids that Number gives, and arguments that are JSON objects.
//
// Of each kind of example the first is printed. It is the one that the family's own template has; the others are what models
// were seen to write besides.
// What it prints is read back as the same calls in every family (law tests), and is accepted by the family's grammar.
func Calls(dst []byte, f *declaration.Family, calls []chat.Call) []byte {
	switch {
	case len(calls) == 0:
		return dst
	case f.Header != nil:
		return appendMessages(dst, f, calls)
	case len(f.Sections) > 0:
		return appendSection(dst, f, calls)
	}
	return appendCalls(glued(dst, f, f.Calls[0].Glue), f, calls)
}

// appendMessages writes each call as a message of its own: the first mark of the ends line is behind all but the last
// (harmony's <|call|> is a stop token, so what follows is another turn), the second behind that. The role of the first
// message stands in the prompt.
// llm-jp and glimmer print <|end|><|start|>assistant and <|eom|><|start|>assistant between two calls; gpt-oss's own template
// prints the first call alone.
// <|start|>assistant is cut from the first message only: a prompt ends with it, and a history has it printed by the turn.
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

// appendSection writes calls between the marks of a section, <｜tool▁calls▁begin｜>…<｜tool▁calls▁end｜>. Its glue stands in
// front of the first call, whose own is for what stands between two.
func appendSection(dst []byte, f *declaration.Family, calls []chat.Call) []byte {
	p := f.Sections[0]
	dst = glued(dst, f, p.Glue)
	for _, part := range p.Parts {
		if part.Hole == "calls" {
			dst = appendCalls(dst, f, calls)
		} else {
			dst = append(dst, f.Printed(part.Lit.Text)...)
		}
	}
	return dst
}

// appendCalls writes calls, the white space of the family between them, all in one example where that holds a list.
// The first call's glue has been written by then, or left out at the start of a reply.
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

// glued appends the newlines that stand between text and what follows. At the start of a reply most templates print none:
// the turn's own mark has ended the line there, <|im_start|>assistant\n.
// Text and call of qwen3-coder are apart by two newlines, of hermes by one; GLM-4.6 prints its newline at the start, too.
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

// appendCall fills the holes of a call's example. n is the place of the first call in its turn, which {index} counts from 1.
// Holes that are for reading only, {junk}, print nothing; examples with them are never the first.
// Which holes there are is a closed list (declaration.holes); a hole that is missing here prints nothing.
func appendCall(dst []byte, p *declaration.Pattern, calls []chat.Call, n int) []byte {
	f, c := p.Family, calls[0]
	for i, part := range p.Parts {
		switch part.Hole {
		case "":
			dst = append(dst, literal(p, i, dst, c)...)
		case "name":
			dst = append(dst, c.Name...)
		case "id":
			dst = append(dst, c.ID...)
		case "index":
			dst = strconv.AppendInt(dst, int64(n+1), 10)
		case "json":
			dst = JSON.Append(dst, string(c.Args))
		case "pseudo":
			dst = Pseudo(f.Quotes[0]).Append(dst, string(c.Args))
		case "args":
			dst = appendTags(dst, f, c, p.OnLines(i))
		case "named":
			dst = appendSeveral(dst, p.Several(i), f, calls, appendNamed)
		case "python":
			dst = appendSeveral(dst, p.Several(i), f, calls, appendPython)
		case "call", "calls":
			if p == f.Message { // glimmer's messages hold a section
				dst = appendSection(dst, f, calls)
			} else {
				dst = appendSeveral(dst, p.Several(i), f, calls, appendObject)
			}
		}
	}
	return appendNewlines(dst, p.Tail)
}

// literal is literal i of a call's example behind dst. The newline behind {args} goes with the last argument: without
// arguments there is only the one in front, as qwen3-coder prints it, unless the family keeps both.
func literal(p *declaration.Pattern, i int, dst []byte, c chat.Call) string {
	text := p.Family.Printed(p.Parts[i].Lit.Text)
	if p.HoleAt(i-1) == "args" && !p.Family.Layout.EmptyLines && bytes.HasSuffix(dst, []byte("\n")) && len(scan.Fields(string(c.Args))) == 0 {
		return strings.TrimPrefix(text, "\n")
	}
	return text
}

// appendSeveral writes the calls that share one hole: {call}, {calls}, {named} and {python} differ in what one call looks
// like and in what stands around several, and in nothing else.
// Indented lists are written plain and indented afterwards: command-r's json.dumps(indent=4) goes all the way down.
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

// appendObject writes a call as one object: {"name": "get_time", "arguments": {}}. command-r7b counts its calls in front,
// mistral-v3 has the call's id behind; a call without an id, which only a client's history can hold, goes without there.
// Name first, arguments second: every template that prints an object has this order.
func appendObject(dst []byte, f *declaration.Family, c chat.Call) []byte {
	s, l := Objects(f), &f.Layout
	dst = append(dst, s.Open...)
	if l.Counter != "" {
		dst = append(s.appendMember(dst, l.Counter, schema.Quote(c.ID)), s.Comma...)
	}
	dst = append(s.appendMember(dst, l.Name, schema.Quote(c.Name)), s.Comma...)
	dst = s.appendMember(dst, l.Args, string(c.Args))
	if l.ID != "" && c.ID != "" {
		dst = s.appendMember(append(dst, s.Comma...), l.ID, schema.Quote(c.ID))
	}
	return append(dst, s.Close...)
}

// appendMember writes a member of a call's object. Names of members are words of a declaration and need no escapes.
func (s *Spelling) appendMember(dst []byte, key, value string) []byte {
	return s.Append(s.key(dst, `"`+key+`"`), value)
}

// appendNamed writes a call as an object whose only member is named like the tool: apertus's {"get_time": {}}.
func appendNamed(dst []byte, _ *declaration.Family, c chat.Call) []byte {
	dst = JSON.key(append(dst, '{'), schema.Quote(c.Name))
	return append(JSON.Append(dst, string(c.Args)), '}')
}

// appendPython writes a call as Python does: get_weather(city="Paris", days=3). Keys are written as they are, even those that
// Python would refuse: the reader takes them, and a model that knows the schema expects them.
// Values of one call may be spelled in two ways: LFM2.5 writes an object as JSON and a list as Python source.
func appendPython(dst []byte, f *declaration.Family, c chat.Call) []byte {
	dst = append(append(dst, PythonName(c.Name)...), '(')
	for i, m := range scan.Fields(string(c.Args)) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(append(dst, m.Key...), '=')
		dst = Keyword(f, schema.KindOf(m.Value)).Append(dst, m.Value)
	}
	return append(dst, ')')
}

// appendTags writes each argument by the family's first arg line. Arguments stand on lines of their own where the call's
// example has {args} on one.
// qwen3-coder's <parameter=…> blocks have a newline between them, GLM-4.7's tags have nothing.
func appendTags(dst []byte, f *declaration.Family, c chat.Call, lines bool) []byte {
	for i, m := range scan.Fields(string(c.Args)) {
		if f.Args[0].Keyed() && m.Value == "null" {
			continue // a tag named like the parameter has no way to say null, so templates leave it out
		}
		if i > 0 && lines {
			dst = append(dst, '\n')
		}
		dst = appendTag(dst, f, m)
	}
	return dst
}

// appendTag writes one argument: <parameter=days>3</parameter>, or with its type, string="false". A number and the string of
// its digits look the same between tags; reading tells them apart by the tool's schema.
// But for minicpm5's CDATA no family escapes a value between tags: </parameter> in a text is printed as it is.
func appendTag(dst []byte, f *declaration.Family, m scan.Field) []byte {
	arg, kind := f.Args[0], schema.KindOf(m.Value)
	for i, part := range arg.Parts {
		switch part.Hole {
		case "":
			dst = append(dst, f.Printed(part.Lit.Text)...)
		case "key":
			dst = append(dst, Attribute(f, m.Key)...)
		case "type":
			dst = append(dst, TypeWord(arg, i, kind)...)
		case "value":
			dst = Tagged(f, kind).Append(dst, m.Value)
		}
	}
	return dst
}
