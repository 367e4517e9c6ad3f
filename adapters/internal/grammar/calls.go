package grammar

import (
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/print"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// calls returns an expression for all calls of a reply. It begins with mark, the tag or token with
// which the text of the calls begins. In a family with sections, which are texts around all calls,
// mark begins the section, and the first call follows it. In other families it begins the first
// call, and comes before the choice of a tool. Further calls are matched as a whole. These are
// outlines of both cases:
//
//	hermes     root ::= "<tool_call>" [ \t\n]{0,4} get-weather "\n</tool_call>" …
//	kimi-k2    root ::= "<|tool_calls_section_begin|>" [ \t\n]{0,4} … "<|tool_calls_section_end|>"
func (g *writer) calls(p *declaration.Pattern, mark string, tools []chat.Tool) string {
	opener := g.opener(p.Printed(0), mark)
	if len(g.f.Sections) == 0 {
		return seq(opener, g.inRow(p, 1, tools))
	}
	return seq(opener, g.filled(p, 1, func(int) string { return g.inRow(g.f.Calls[0], 0, tools) }))
}

// opener returns an expression for text, the fixed text with which a call begins, such as hermes's
// "<tool_call>\n". The parameter mark is the tag or token at its beginning, such as <tool_call>. If
// nothing or white space follows the mark in text, the model may write any white space there,
// because the token that ends the mark may include some. Under a stricter grammar such a reply
// would break off (docs/internal/decisions/grammars.md).
func (g *writer) opener(text, mark string) string {
	rest := strings.TrimPrefix(text, mark)
	tight := strings.TrimLeft(rest, " \n")
	// no free white space: the example continues with a sign, as <function does with "=", or the
	// mark is not a tag, as phi4's functools[
	if tight == rest && (rest != "" || mark[len(mark)-1] != '>') {
		return lit(text)
	}
	return seq(lit(mark), `[ \t\n]{0,4}`, lit(tight))
}

// inRow returns an expression for one or more calls, as the printer writes them one after the
// other. At least one call is required. The first is matched from part i of the pattern on, because
// the parts before it may already have been matched.
func (g *writer) inRow(p *declaration.Pattern, i int, tools []chat.Tool) string {
	one := g.call(p, i, tools)
	if p.HoldsSeveral() {
		return one
	}
	return seq(one, g.more(seq(lit(strings.Repeat("\n", p.Between())), g.call(p, 0, tools))))
}

// more returns an expression for any number of further calls, of which call is the expression for
// one. It returns "" if only a single call is allowed. The call becomes a rule of its own, because
// llama.cpp copies a repeated expression as often as the bound says.
func (g *writer) more(call string) string {
	if g.single {
		return ""
	}
	return repeat(g.rule("next-call", call), 0, -1)
}

// filled returns an expression for the example p from part i on. The function placeholder returns
// the expression for a placeholder, such as {name}. The texts between placeholders are exactly
// those of the printer, including white space and suffixes that models may vary. So the grammar
// forces closing tags that models forget, such as </function> before </tool_call>.
func (g *writer) filled(p *declaration.Pattern, i int, placeholder func(i int) string) string {
	var all []string
	for ; i <= len(p.Parts); i++ {
		if all = append(all, lit(p.Printed(i))); p.PlaceholderAt(i) != "" {
			all = append(all, placeholder(i))
		}
	}
	return seq(all...)
}

// call returns an expression for one call, from part i of the pattern on, or for all calls if one
// example contains all of them. A placeholder such as {call} or {calls} includes the tool's name.
// Then the choice between tools is made inside the placeholder, and the tags around it are written
// once. If the name is in a tag or the id instead, each tool has a rule with tags and arguments,
// because the arguments have to belong to the name.
func (g *writer) call(p *declaration.Pattern, i int, tools []chat.Tool) string {
	body := p.Body()
	if word := p.PlaceholderAt(body); word != "json" && word != "args" && word != "pseudo" &&
		p.Index("name") < 0 && p.Index("id") < 0 {
		return g.filled(p, i, func(i int) string {
			if i != body {
				return g.placeholder(p, i, chat.Tool{})
			}
			return g.several(p, i, tools)
		})
	}
	return g.anyTool(tools, func(t chat.Tool) string { return g.toolCall(p, i, t) })
}

// toolCall returns an expression for a call of the tool t from part i of the pattern on. The parts
// before i are matched elsewhere.
func (g *writer) toolCall(p *declaration.Pattern, i int, t chat.Tool) string {
	return g.filled(p, i, func(i int) string { return g.placeholder(p, i, t) })
}

// placeholder returns an expression for the content of placeholder i of the pattern in a call of
// one tool. For {index} it is a number from 1 to 999: kimi-k3 counts the calls of a message from 1,
// and the decoder ignores that number. Python calls have keyword arguments only, as templates print
// them, although the decoder reads others. In apertus's calls ({named}) the tool's name is the key
// of the object's only member.
func (g *writer) placeholder(p *declaration.Pattern, i int, t chat.Tool) string {
	s := print.Arguments(p, i)
	switch p.PlaceholderAt(i) {
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
			return g.filled(g.f.Sections[0], 0, func(int) string {
				return g.rule(t.Name, g.toolCall(g.f.Calls[0], 0, t))
			})
		}
		return g.callObject(t, s)
	case "named":
		return seq(lit("{"+print.JSON.Key(t.Name)), g.arguments(t, s), lit("}"))
	case "python":
		return seq(lit(print.PythonName(t.Name)+"("), g.arguments(t, s), lit(")"))
	}
	return g.arguments(t, s)
}

// id returns an expression for the id of a call. If the example has no placeholder for the name, as
// in Kimi K2's functions.get_weather:0, the id consists of the tool's name and a number. Other ids
// have no meaning, as those of solar-open and mistral-small3.2. They are bounded to forty
// characters, so that a model does not write without end.
func (g *writer) id(p *declaration.Pattern, t chat.Tool) string {
	if p.Index("name") < 0 {
		return seq(lit("functions."+t.Name+":"), "[0-9]{1,4}")
	}
	return "[a-zA-Z0-9_-]{1,40}"
}

// several returns an expression for the calls in one example: objects, or calls in Python. The
// texts around and between the calls are those of [declaration.Pattern.Several]. If the family
// writes a single call without brackets, it is allowed with and without them. If a single call is
// demanded, it is allowed only without them.
//
//	[{"name": …}, {"name": …}]      nemotron-v2, a list always
//	{"name": …}                     one call, without a list
//	[get_weather(city="Paris")]     lfm2
func (g *writer) several(p *declaration.Pattern, body int, tools []chat.Tool) string {
	one := g.anyTool(tools, func(t chat.Tool) string { return g.placeholder(p, body, t) })
	if p.PlaceholderAt(body) == "call" {
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

// anyTool returns an expression for a call of any of the tools. The function call returns the
// expression for a call of a given tool. The rules are named after the tools, so that the log of a
// server that refuses a grammar names the tool.
func (g *writer) anyTool(tools []chat.Tool, call func(chat.Tool) string) string {
	return alt(each(tools, func(t chat.Tool) string { return g.rule(t.Name, call(t)) })...)
}

// callObject returns an expression for a call as one JSON object. Members are in the order in which
// templates print them, with the name before the arguments, because the name decides which
// arguments are allowed. An id at the end is optional, because the decoder does not need it.
// command-r7b has a counter first: {"tool_call_id": "0", "tool_name": …, "parameters": …}.
// mistral-v3 has an id last.
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

// messages returns an expression for calls that are messages with headers. For example, harmony
// writes to=functions.NAME<|channel|>commentary json<|message|>{…} up to <|call|>. The expression
// begins with the recipient in the first header. The role before it is in the prompt, or in the
// text before the trigger. The token that ends the last message is optional, because it may end the
// reply. glimmer's arguments are in a section inside the message, so each call opens and closes a
// section.
func (g *writer) messages(tools []chat.Tool) string {
	p := g.f.Message
	one := g.anyTool(tools, func(t chat.Tool) string { return g.toolCall(p, 1, t) })
	next := lit(g.f.Ends[0] + p.Printed(0))
	return seq(lit(Recipient(g.f)), one, g.more(seq(next, one)), optional(lit(g.f.Ends[1])))
}

// idIn returns an expression for the id of a call in quotation marks. An id has at most forty
// characters, so that a model does not write without end.
func idIn(s *print.Spelling) string {
	return seq(lit(s.Quotes[0]), "[a-zA-Z0-9_-]{1,40}", lit(s.Quotes[0]))
}
