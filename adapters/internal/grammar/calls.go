package grammar

import (
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/print"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// calls matches a reply's calls from the mark on. It follows the printer's order: in a section the
// first call stands directly behind the section's mark; without one, the first call's own mark is
// the trigger, and so is matched before the tool's name is known; further calls are matched whole.
//
//	hermes     root ::= "<tool_call>" [ \t\n]{0,4} get-weather "\n</tool_call>" …
//	kimi-k2    root ::= "<|tool_calls_section_begin|>" [ \t\n]{0,4} … "<|tool_calls_section_end|>"
//
// are the outlines of both.
func (g *writer) calls(p *declaration.Pattern, mark string, tools []chat.Tool) string {
	opener := g.opener(p.Printed(0), mark)
	if len(g.f.Sections) == 0 {
		return seq(opener, g.inRow(p, 1, tools))
	}
	return seq(opener, g.filled(p, 1, func(int) string { return g.inRow(g.f.Calls[0], 0, tools) }))
}

// opener matches the literal that begins with the mark. Behind that white space is free where the
// reader does not care: a token that ends the mark may hold some. A reply of a model with such a
// token would break off at a stricter grammar (docs/internal/decisions/grammars.md). hermes's mark
// is <tool_call>, and its template prints a newline behind that.
func (g *writer) opener(text, mark string) string {
	rest := strings.TrimPrefix(text, mark)
	tight := strings.TrimLeft(rest, " \n")
	// nothing loose: the example goes on with a sign, as <function does with "=", or it is no tag,
	// as phi4's functools[
	if tight == rest && (rest != "" || mark[len(mark)-1] != '>') {
		return lit(text)
	}
	return seq(lit(mark), `[ \t\n]{0,4}`, lit(tight))
}

// inRow matches calls as the printer writes them one behind the other, the first from part i of the
// pattern on. There is one at least: a section without calls is none, and a model that is held
// inside it has opened it to call. The rules have to differ only where the trigger has matched the
// beginning of the first one already.
func (g *writer) inRow(p *declaration.Pattern, i int, tools []chat.Tool) string {
	one := g.call(p, i, tools)
	if p.HoldsSeveral() {
		return one
	}
	return seq(one, g.more(seq(lit(strings.Repeat("\n", p.Between())), g.call(p, 0, tools))))
}

// more matches further calls, none for clients that said parallel_tool_calls: false. The call is a
// rule of its own, since llama.cpp copies what is repeated as often as the bound says.
func (g *writer) more(call string) string {
	if g.single {
		return ""
	}
	return repeat(g.rule("next-call", call), 0, -1)
}

// filled matches an example from part i on, in the place of its holes what the function makes of
// them. Literals are the printer's to the byte, white space that a model may vary and suffixes of
// its checkpoint included: the grammar forces the closers that models forget, </function> in front
// of </tool_call>.
func (g *writer) filled(p *declaration.Pattern, i int, hole func(i int) string) string {
	var all []string
	for ; i <= len(p.Parts); i++ {
		if all = append(all, lit(p.Printed(i))); p.HoleAt(i) != "" {
			all = append(all, hole(i))
		}
	}
	return seq(all...)
}

// call matches one call, or all of them where an example holds all, from part i of the pattern on.
// Where the name stands in the body, the choice between tools stands there, too, and the marks
// around it are written once. Where it stands outside, in the tag or the id, marks and arguments
// form one rule for each tool: arguments that fit one tool must not stand behind another's name.
// {call} and {calls} hold the name beside the arguments, where the choice is one of whole objects.
func (g *writer) call(p *declaration.Pattern, i int, tools []chat.Tool) string {
	body := p.Body()
	if word := p.HoleAt(body); word != "json" && word != "args" && word != "pseudo" && p.Hole("name") < 0 && p.Hole("id") < 0 {
		return g.filled(p, i, func(i int) string {
			if i != body {
				return g.hole(p, i, chat.Tool{})
			}
			return g.several(p, i, tools)
		})
	}
	return g.anyTool(tools, func(t chat.Tool) string { return g.toolCall(p, i, t) })
}

// toolCall matches a call of one tool from part i of the pattern on.
func (g *writer) toolCall(p *declaration.Pattern, i int, t chat.Tool) string {
	return g.filled(p, i, func(i int) string { return g.hole(p, i, t) })
}

// hole matches what stands in hole i of the pattern for a call of one tool. An index is a number
// without leading zeros, up to 999: kimi-k3 counts the calls of a turn from 1, and reading ignores
// it. Python's arguments are keywords only, as templates print them, though the decoder reads
// others. apertus's name is the key of the object's only member.
func (g *writer) hole(p *declaration.Pattern, i int, t chat.Tool) string {
	s := print.Arguments(p, i)
	switch p.HoleAt(i) {
	case "name":
		return lit(t.Name)
	case "id":
		return g.id(p, t)
	case "index":
		return "[1-9] [0-9]{0,2}"
	case "junk":
		return ""
	case "call", "calls":
		if p == g.f.Message { // glimmer's messages hold a section
			return g.filled(g.f.Sections[0], 0, func(int) string { return g.rule(t.Name, g.toolCall(g.f.Calls[0], 0, t)) })
		}
		return g.callObject(t, s)
	case "named":
		return seq(lit("{"+print.JSON.Key(t.Name)), g.arguments(t, s), lit("}"))
	case "python":
		return seq(lit(print.PythonName(t.Name)+"("), g.arguments(t, s), lit(")"))
	}
	return g.arguments(t, s)
}

// id matches what a call's id may be; one that names the tool is its name and a number. Kimi K2
// writes functions.get_weather:0 and no other name, so the id is where the name is held. Ids of
// solar-open and mistral-small3.2 mean nothing: forty characters of any kind bound what a model
// without an idea would write forever.
func (g *writer) id(p *declaration.Pattern, t chat.Tool) string {
	if p.Hole("name") < 0 {
		return seq(lit("functions."+t.Name+":"), "[0-9]{1,4}")
	}
	return "[a-zA-Z0-9_-]{1,40}"
}

// several matches calls that one example holds: objects, or calls in Python. What stands around and
// between them is the printer's, see [declaration.Pattern.Several]. Where one call may stand
// without brackets, both ways are open to a model that may write several.
//
//	[{"name": …}, {"name": …}]      nemotron-v2, a list always
//	{"name": …}                     one alone, where the list is left out
//	[get_weather(city="Paris")]     lfm2
func (g *writer) several(p *declaration.Pattern, body int, tools []chat.Tool) string {
	one := g.anyTool(tools, func(t chat.Tool) string { return g.hole(p, body, t) })
	if p.HoleAt(body) == "call" {
		return one
	}
	s := p.Several(body)
	all := seq(lit(s.Open), one, g.more(seq(lit(s.Comma), one)), lit(s.Close))
	switch {
	case !s.OneIsBare:
		return all
	case g.single:
		return one
	}
	return alt(one, all)
}

// anyTool matches a call of any of the tools. The rules have the tools' names, so the log of a
// server that refuses a grammar says which tool it is about.
func (g *writer) anyTool(tools []chat.Tool, call func(chat.Tool) string) string {
	return alt(each(tools, func(t chat.Tool) string { return g.rule(t.Name, call(t)) })...)
}

// callObject matches a call as one JSON object. Members are in the order in which templates print
// them, the name first: with the name behind the arguments, those of all tools would have to be
// allowed up to there. The id at the end is optional, as reading needs none. command-r7b counts in
// front: {"tool_call_id": "0", "tool_name": …, "parameters": …}; mistral-v3 has the id behind.
func (g *writer) callObject(t chat.Tool, s *print.Spelling) string {
	member := func(key string) string { return lit(s.Key(key)) }
	all := []string{lit(s.Open)}
	if id := g.f.Layout.Counter; id != "" {
		all = append(all, member(id), idIn(s), lit(s.Comma))
	}
	all = append(all, member(g.f.Layout.Name), lit(s.Value(schema.Quote(t.Name))), lit(s.Comma))
	all = append(all, member(g.f.Layout.Args), g.arguments(t, s))
	if id := g.f.Layout.ID; id != "" {
		all = append(all, optional(seq(lit(s.Comma), member(id), idIn(s))))
	}
	return seq(append(all, lit(s.Close))...)
}

// messages matches calls in messages with headers, from the recipient of the first one on. The mark
// that ends the last one may end the reply, so it need not be written. The role in front of the
// recipient is not in the grammar: the trigger has matched it, where the prompt had not written it
// already. harmony's calls run " to=functions.NAME<|channel|>commentary json<|message|>{…}" up to
// <|call|>. glimmer's arguments stand in a section inside of the message, so that one is opened and
// closed with each call.
func (g *writer) messages(tools []chat.Tool) string {
	p := g.f.Message
	one := g.anyTool(tools, func(t chat.Tool) string { return g.toolCall(p, 1, t) })
	next := lit(g.f.Ends[0] + p.Printed(0))
	return seq(lit(Recipient(g.f)), one, g.more(seq(next, one)), optional(lit(g.f.Ends[1])))
}

// idIn matches the id of a call, a string.
// Its bound is that of [writer.id].
func idIn(s *print.Spelling) string {
	return seq(lit(s.Quotes[0]), "[a-zA-Z0-9_-]{1,40}", lit(s.Quotes[0]))
}
