package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// messages reads replies that are made of messages, each with its header. A header says whom its
// message is for: a tool, the user, or no reader. Calls, thoughts and answers have the same marks,
// so nothing is decided before the whole header was read.
type messages struct {
	below
	closers *closers
	args    *arguments
	headers *headers
	tagged  *tagged
}

// read reads a message whose header begins here. It returns mismatch or incomplete if there is no
// whole header, and mismatch if the message is to stay text.
func (mg *messages) read(p *declaration.Pattern) match {
	h, a := mg.headers.at(0)
	if a != matched {
		mg.trial.evidence = mg.trial.evidence ||
			a == incomplete && mg.Pos+len(declaration.ChannelMark) < mg.Base+len(mg.Buf)
		return a
	}
	// the family is known, so its own routes give the kind of the body
	if p.Family == mg.marks.f {
		r, t := routeFor(p.Family, h, mg.tools)
		return mg.routed(p, h, r, t)
	}
	return mg.anyMessage(h)
}

// anyMessage reads a message with the header h if no family was configured. It returns mismatch if
// no family reads it. Harmony, Beam and Glimmer have the same marks, but to=self is thinking in
// Glimmer and an unknown tool in harmony. So the families are tried in an order, by how specific
// the line of their declaration is that fits the header: a line for this recipient, for any tool,
// for the channel, for any recipient, for everything else. Of families that are equally specific,
// the first that does not return mismatch wins.
func (mg *messages) anyMessage(h fields) match {
	for _, fields := range []string{"to", "{name}", "channel", "*", "else"} {
		for _, f := range mg.marks.index.Families {
			if f.Header == nil {
				continue
			}
			r, t := routeFor(f, h, mg.tools)
			if r.Says() != fields {
				continue
			}
			start := mg.Pos
			if a := mg.routed(f.Header, h, r, t); a != mismatch {
				return a
			}
			mg.Pos = start
		}
	}
	return mismatch
}

// routed reads a message whose header h fits the route r of the family's declaration. The route
// says what the body is: a call, text, reasoning or nothing that is shown. It returns mismatch for
// a call whose tool is not offered (t is nil), so that the message stays text with its header.
// Otherwise the body is read. Only reading the body of a call can fail.
func (mg *messages) routed(p *declaration.Pattern, h fields, r declaration.Route,
	t *toolset.Tool) match {
	if r.Body == "json" || r.Body == "args" {
		if t == nil {
			return mismatch
		}
		return mg.messageCall(p, h, t, r.Body)
	}
	mg.page.leave(0)
	mg.Pos += h.end
	// llm-jp's tokenizer puts one blank after every mark
	if p.Family.Flags.Blank && mg.At(0) == ' ' {
		mg.Pos++
	}
	switch r.Body {
	case "calls":
		// whatever marks it contains, it is text up to the next mark of a message
		mg.page.anew()
	case "reasoning":
		mg.messageText(p, chat.Reasoning)
	case "junk":
		mg.messageText(p, chat.None)
	default:
		mg.messageText(p, chat.Text)
	}
	return committed
}

// routeFor returns the first route of the family that fits a header, and the tool if it is a route
// to an offered tool. A route is a line of the family's declaration that says how such messages are
// read. A route by recipient does not fit a header without a recipient. The recipients assistant
// and user mean the reply itself, and do not match "*", any tool. If no route fits, the body is
// text, because losing an answer is worse than showing a thought.
func routeFor(f *declaration.Family, h fields, tools *toolset.Set) (
	declaration.Route, *toolset.Tool) {
	for _, r := range f.Routes {
		switch r.Field {
		case "to":
			if h.to == "" {
				continue
			}
			// to=functions.get_weather
			if r.Value == "{name}" && tools != nil {
				if t := tools.Recipient(h.to); t != nil {
					return r, t
				}
			}
			if r.Value == h.to || r.Value == "*" && h.to != "assistant" && h.to != "user" {
				return r, nil
			}
		case "channel":
			if h.channel == r.Value {
				return r, nil
			}
		case "else":
			return r, nil
		}
	}
	return declaration.Route{Body: "text"}, nil
}

// messageCall reads a message whose header h says that it is a call of the tool t. It returns
// committed, or mismatch or incomplete if the body cannot be read as arguments; the position is
// then at the start of the header again. If the parameter body is "args", the arguments may be in
// tags.
func (mg *messages) messageCall(p *declaration.Pattern, h fields, t *toolset.Tool,
	body string) match {
	return mg.trial.attemptBy(p, func() match {
		mg.Pos += h.end
		return mg.closers.enclosed(p, t, "", func() match { return mg.messageBody(p, t, body) })
	})
}

// messageBody reads the body of a call's message and commits the call. The body is tags, JSON or
// program text; for anything else it returns mismatch or incomplete. For a tool without arguments
// gpt-oss may write an empty body, and the server may drop the mark that ends the message.
func (mg *messages) messageBody(p *declaration.Pattern, t *toolset.Tool, body string) match {
	// servers drop the mark that ends a turn
	if mg.At(mg.Elastic(0)) < 0 && !mg.in.lengthCut() && len(t.Type().Required()) == 0 {
		return mg.calls.commitWith(t, "", "{}")
	}
	if body == "args" {
		return mg.tagged.taggedBody(p, t, "")
	}
	start := mg.Pos
	a := mg.args.read(t, "", nil)
	if a == mismatch {
		mg.Pos = start
		a = mg.rawBody(p, t)
	}
	return a
}

// messageText reads the body of a message that is text or reasoning, as kind says. If kind is None,
// it drops the body. The body ends at a complete header, or at an end mark that is followed by
// another end mark, a header or the end of the text. Other end marks are text, as in "I must not
// write <|call|> myself". The text of the body is kept byte for byte; until its end, page.state is
// kind, so that flushText sends the bytes as that kind. Marks of calls are text, because a call in
// a message for the user is an example.
func (mg *messages) messageText(p *declaration.Pattern, kind chat.Kind) {
	mg.page.state, mg.page.fresh, mg.page.blank = kind, false, false
	for c := mg.page.plain(&messageStops); c >= 0; c = mg.page.plain(&messageStops) {
		// <|end|> before a header, another end mark or nothing
		if mg.headers.bodyEnds(p, 0) {
			mg.Pos += mg.marks.messageEnds(p, 0)
			break
		}
		// no end mark, and the next header is there
		if mg.headers.headerAt(0) {
			break
		}
		if (c == 't' || mg.Has(0, declaration.ChannelMark)) && mg.headers.headerAhead(0) {
			break // the marks before it are missing
		}
		mg.page.keep(1)
	}
	mg.page.flushText()
	mg.page.state = chat.Text
	mg.page.anew()
}

// messageStops are the bytes at which reading a message's body stops for a look: those that begin a
// mark or a recipient. A recipient begins with "to=", so t is the only letter among them, and most
// of a thought passes without a look ahead.
var messageStops = [256]bool{'<': true, 't': true}

// bodyStops are the bytes at which copying a message's body stops. Every end mark of every family
// of messages begins with <.
var bodyStops = lenient.StopsFor("<")

// rawBody reads the body of a call's message that is program text, not JSON. The program is the
// value of the tool's only parameter. It returns mismatch for a tool with several parameters, or
// with one that is not a string, and for a body that contains marks. gpt-oss writes Python for its
// built-in tool as it is, <|message|>print("hi")<|call|>. With one string parameter there is only
// one place for the program; with more, a guess would be run. The body streams from its first byte.
// It has no closer, and ends with the message.
func (mg *messages) rawBody(p *declaration.Pattern, t *toolset.Tool) match {
	// without exactly one parameter that takes a text there is no place for a program
	names := t.Type().Members()
	if len(names) != 1 || !t.Type().Prop(names[0]).Allows(schema.String) || !mg.isProgram(p) {
		return mismatch
	}
	mg.calls.commit(t, "")
	mg.Put("{" + schema.Quote(names[0]) + `:"`)
	if !mg.args.rawText(bodyStops, true, func(int) (int, bool) {
		return 0, mg.headers.bodyEnds(p, 0)
	}) {
		mg.Out.Broken = mg.in.lengthCut()
	}
	mg.Put(`"}`)
	mg.Repaired("raw-arguments")
	return committed
}

// tagHeads are the beginnings of the tags and marks in which other families write calls and their
// arguments. A body that begins with one of them is a call in another form. As program text it
// would be run as one wrong argument.
var tagHeads = []string{"<|", "<｜", "<parameter", "<param ", "<arg_", "<invoke", "<function",
	"<tool_call"}

// isProgram reports whether the body that begins here is program text. It returns false for a body
// that looks like arguments in another form: JSON, a string, or markup. For example, in harmony
// <parameter name="city">Oslo</parameter> would fit the schema as the only parameter's value, marks
// included, and be wrong. A list or a string also counts as JSON.
func (mg *messages) isProgram(p *declaration.Pattern) bool {
	n := mg.Space(0)
	if strings.IndexByte("{[<\"", byte(max(mg.At(n), 0))) >= 0 {
		return false
	}
	if _, value := mg.KeyAt(n + 1); value > 0 && mg.At(n) == '(' && mg.StartsString(n+1) {
		return false
	}
	for n := 0; mg.At(n) >= 0 && !mg.headers.bodyEnds(p, n); n++ {
		if mg.At(n) == '<' && slices.ContainsFunc(tagHeads, func(head string) bool {
			return mg.Has(n, head)
		}) {
			return false
		}
	}
	return true
}

// openedHeader prepends to the reply the header of a message that the prompt has begun or completed
// at its end, so that the reply is read with it. It does nothing if the prompt does not end in such
// a message. Prompts of gpt-oss, Beam and Glimmer end with <|start|>assistant, some with
// <|channel|>analysis<|message|> after it. Only the assistant's own header is taken, and only if no
// other mark follows, because a user may have quoted one.
func (mg *messages) openedHeader(prompt string) {
	i := strings.LastIndex(prompt, startMark)
	if i < 0 || len(prompt)-i > maxHeader || mg.marks.index.Header == nil {
		return
	}
	head, body, _ := strings.Cut(prompt[i:], messageMark)
	role, _, _ := strings.Cut(strings.TrimSpace(head[len(startMark):]), " ")
	role, _, _ = strings.Cut(role, "<")
	// the last message is not the assistant's, or it is over
	if role != "assistant" || strings.Contains(body, "<|") {
		return
	}
	mg.Append(prompt[i : len(prompt)-len(body)])
}

// headerRests are the beginnings of the rest of a header that an engine has cut after the role,
// after the channel's mark, or inside.
var headerRests = []string{"to=", messageMark, "analysis<|", "commentary<|", "commentary to=",
	"analysis to=", "final<|"}

// firstMessage reads the first message of a reply whose header begins in the prompt, or whose first
// word is a recipient or a channel's name. Engines cut the prompt at different places, so a reply
// may begin with " to=f", with a channel's mark or with the channel's name alone. If there is no
// message after all, the part copied from the prompt is removed from the buffer again, and the
// reply is text from its first byte. A header that is cut contains nothing to show, and is dropped.
func (mg *messages) firstMessage() {
	head := len(mg.Buf)
	i := head + mg.Space(head)
	begins := head > 0 && mg.Has(head-len(messageMark), messageMark) ||
		slices.ContainsFunc(headerRests, func(w string) bool { return mg.Has(i, w) })
	a := mismatch
	if p := mg.marks.index.Header; begins && p != nil {
		a = mg.read(p)
	}
	if a == committed {
		return
	}
	mg.page.skipLent(head)
	// cut within it
	if a == incomplete && mg.headers.halfHeader() {
		mg.calls.dropRest(0)
	}
}
