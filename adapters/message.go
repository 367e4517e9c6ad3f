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

// The other marks of a header.
const (
	startMark     = "<|start|>"
	constrainMark = "<|constrain|>"
	messageMark   = "<|message|>"
)

// message reads a message that begins with its header here: the header says what the body is.
// The body is none of the header's business before the route is known: the same marks hold calls, thoughts and answers.
func (d *decoder) message(p *declaration.Pattern) match {
	h, a := d.header(0)
	if a != matched {
		d.evidence = d.evidence || a == incomplete && d.Pos+len(declaration.ChannelMark) < d.Base+len(d.Buf)
		return a
	}
	// the family is known: its own lines say what the body is
	if p.Family == d.f {
		r, t := routeFor(p.Family, h, d.tools)
		return d.routed(p, h, r, t)
	}
	return d.anyMessage(h)
}

// anyMessage reads a message whose header is h in the family that says most of it, where none was told: one with a line for
// this very recipient in front of one that knows it for a tool or knows the channel.
// Harmony, Beam and Glimmer have one set of marks. to=self is thinking in Glimmer and a tool nobody knows in harmony, so the
// more a family's line says, the earlier it is asked: its very recipient, any tool, the channel, anybody, the rest.
// Several families may say as much; the first that commits wins.
func (d *decoder) anyMessage(h fields) match {
	for _, fields := range []string{"to", "{name}", "channel", "*", "else"} {
		for _, f := range d.index.Families {
			if f.Header == nil {
				continue
			}
			r, t := routeFor(f, h, d.tools)
			if r.Says() != fields {
				continue
			}
			start := d.Pos
			if a := d.routed(f.Header, h, r, t); a != mismatch {
				return a
			}
			d.Pos = start
		}
	}
	return mismatch
}

// routed reads a message of a family whose header took the route r.
// A route to a call whose tool is not offered is a mismatch, so the message stays text, header and all.
func (d *decoder) routed(p *declaration.Pattern, h fields, r declaration.Route, t *toolset.Tool) match {
	if r.Body == "json" || r.Body == "args" {
		if t == nil {
			return mismatch
		}
		return d.messageCall(p, h, t, r.Body)
	}
	d.leave(0)
	d.Pos += h.end
	// llm-jp's tokenizer puts one blank behind every mark
	if p.Family.Flags.Blank && d.At(0) == ' ' {
		d.Pos++
	}
	switch r.Body {
	case "calls":
		// whatever marks it holds; it is text that the next mark of a message ends
		d.anew()
	case "reasoning":
		d.messageText(p, chat.Reasoning)
	case "junk":
		d.messageText(p, chat.None)
	default:
		d.messageText(p, chat.Text)
	}
	return committed
}

// routeFor is the first route that a header takes.
// A header without a recipient never takes a route by recipient, and to=assistant or to=user is the reply itself, not a tool
// that anybody could be ("*"). With no route at all the body is text: losing an answer is worse than showing a thought.
func routeFor(f *declaration.Family, h fields, tools *toolset.Set) (declaration.Route, *toolset.Tool) {
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

// messageCall reads a message that is a call.
// The header has been read whole, so what fails here is the body, and the attempt goes back to the header's start.
func (d *decoder) messageCall(p *declaration.Pattern, h fields, t *toolset.Tool, body string) match {
	return d.attemptBy(p, func() match {
		d.Pos += h.end
		return d.enclosed(p, t, "", func() match { return d.messageBody(p, t, body) })
	})
}

// messageBody reads the body of a call's message and commits it: tags, JSON or program text. gpt-oss may write nothing at all for
// a tool without arguments, and ends the message, or the server drops the mark that does.
func (d *decoder) messageBody(p *declaration.Pattern, t *toolset.Tool, body string) match {
	if d.At(d.Elastic(0)) < 0 && !d.lengthCut() && len(t.Type().Required()) == 0 { // servers drop the mark that ends a turn
		return d.commitWith(t, "", "{}")
	}
	if body == "args" {
		return d.taggedBody(p, t, "")
	}
	start := d.Pos
	a := d.arguments(t, "", nil)
	if a == mismatch {
		d.Pos = start
		a = d.rawBody(p, t)
	}
	return a
}

// messageEnds is the offset behind the end mark at offset i, 0 when none stands there. Any of the family's marks ends any message:
// <|end|>, <|call|> and <|return|> are mixed up by models.
func (d *decoder) messageEnds(p *declaration.Pattern, i int) int {
	for _, m := range p.Family.Ends {
		if d.Has(i, m) {
			return i + len(m)
		}
	}
	return 0
}

// messageText reads the body of a message that is text or reasoning; kind None drops it. An end mark ends it only if another
// one, a header or the end of the text follows; without one, a complete header does.
// "I must not write <|call|> myself" has an end mark in the middle of its text. Text is kept byte for byte up to there.
// The state is that of plain bytes meanwhile, so flushText knows where they go.
// It is read as prose is, but for marks: what looks like a call in a message for the user is an example.
func (d *decoder) messageText(p *declaration.Pattern, kind chat.Kind) {
	d.state, d.fresh, d.blank = kind, false, false
	for c := d.plain(&messageStops); c >= 0; c = d.plain(&messageStops) {
		// <|end|> in front of a header, another end mark or nothing
		if d.bodyEnds(p, 0) {
			d.Pos += d.messageEnds(p, 0)
			break
		}
		// no end mark, and the next header is there
		if d.headerAt(0) {
			break
		}
		if (c == 't' || d.Has(0, declaration.ChannelMark)) && d.headerAhead(0) {
			break // the marks in front of it are missing
		}
		d.keep(1)
	}
	d.flushText()
	d.state = chat.Text
	d.anew()
}

// messageStops are the bytes at which a message's body is looked at: marks, and what could be a recipient. That begins with
// "to=", so t is the one letter among them, and most of a thought passes without a look ahead.
var messageStops = [256]bool{'<': true, 't': true}

// messageOver says whether a message ends at offset i: at an end mark that another message or the end of the text follows, or
// at a complete header.
// At the end of a text that was cut, an end mark alone does not say so: it may have been the value's.
func (d *decoder) messageOver(p *declaration.Pattern, i int) bool {
	if end := d.messageEnds(p, i); end > 0 {
		return d.messageFollows(p, end) && (d.At(end+d.Space(end)) >= 0 || !d.lengthCut())
	}
	return d.headerAt(i)
}

// headerAt says whether a complete header stands at offset i, from its first mark on.
func (d *decoder) headerAt(i int) bool {
	if !d.Has(i, startMark) {
		return false
	}
	_, a := d.header(i)
	return a == matched
}

// messageFollows says whether behind an end mark another one, a header or the end of the text stands.
// Without such evidence the mark is a word of the text.
// A mark of the channel counts for a header without its first mark, <|channel|>final<|message|>, which gpt-oss writes.
func (d *decoder) messageFollows(p *declaration.Pattern, i int) bool {
	i += d.Space(i)
	return d.At(i) < 0 || d.Has(i, startMark) || d.Has(i, declaration.ChannelMark) || d.messageEnds(p, i) > 0 || d.headerAhead(i)
}

// bodyStops are the bytes at which copying a message's body stops.
// Every end mark of every family of messages begins with it.
var bodyStops = lenient.StopsFor("<")

// rawBody reads the body of a call's message that is no JSON: program text, which is the value of the tool's only
// parameter. A tool with more of them, or with one that is no string, has no such calls; nor is one what holds marks.
// gpt-oss writes Python for its built-in tool as it is, <|message|>print("hi")<|call|>. With one string parameter there is only
// one place where it can go; with more, a guess would run.
// The body streams from its first byte: program text has no end of its own, only the message has.
func (d *decoder) rawBody(p *declaration.Pattern, t *toolset.Tool) match {
	// one parameter that takes a text, or there is no place for a program
	names := t.Type().Members()
	if len(names) != 1 || !t.Type().Prop(names[0]).Allows(schema.String) || !d.isProgram(p) {
		return mismatch
	}
	d.commit(t, "")
	d.Put("{" + schema.Quote(names[0]) + `:"`)
	if !d.rawText(bodyStops, true, func(int) (int, bool) { return 0, d.bodyEnds(p, 0) }) {
		d.Out.Broken = d.lengthCut()
	}
	d.Put(`"}`)
	d.Repaired("raw-arguments")
	return committed
}

// rawText copies text that is no JSON up to where ends says that it is over, behind as many bytes more. False: the reply
// ended first. ends is asked at the stops alone, so a file of megabytes costs one look-up a byte.
// Tagged values and programs differ in what ends them alone: a tag that something sensible follows, or the end of a message.
func (d *decoder) rawText(stops *[256]bool, escape bool, ends func(c int) (int, bool)) bool {
	q := lenient.Delim{Close: "<", Stops: stops}
	for {
		d.CopyPlain(q)
		c := d.At(0)
		if c < 0 {
			return false
		}
		at := d.Pos
		if n, over := ends(c); over {
			d.Pos += n
			return true
		}
		if d.Pos != at { // the value begins later
			continue
		}
		switch {
		// whole runes only, so that no split can damage one
		case c >= 0x80:
			d.Rune()
			continue
		case escape && (c < ' ' || c == '"' || c == '\\'):
			d.Out.JSON = chat.AppendEscaped(d.Out.JSON, string(rune(c)))
		default:
			d.PutByte(byte(c))
		}
		d.Pos++
	}
}

// bodyEnds says whether the body of a message ends at offset i.
func (d *decoder) bodyEnds(p *declaration.Pattern, i int) bool {
	end := d.messageEnds(p, i)
	return end > 0 && d.messageFollows(p, end)
}

// tagHeads begin the tags and marks in which other families write calls and their arguments.
// A body that begins with them is a call in another form, and as program text it would be run as one wrong argument.
var tagHeads = []string{"<|", "<｜", "<parameter", "<param ", "<arg_", "<invoke", "<function", "<tool_call"}

// isProgram says whether the body that begins here is program text rather than arguments in a form of their own: JSON, a
// string, or markup.
// <parameter name="city">Oslo</parameter> in harmony was once taken for the only parameter's value, marks and all, and fitted
// its schema. A list or a string may be half of an object.
func (d *decoder) isProgram(p *declaration.Pattern) bool {
	n := d.Space(0)
	if strings.IndexByte("{[<\"", byte(max(d.At(n), 0))) >= 0 {
		return false
	}
	if _, value := d.KeyAt(n + 1); value > 0 && d.At(n) == '(' && d.StartsString(n+1) {
		return false
	}
	for n := 0; d.At(n) >= 0 && !d.bodyEnds(p, n); n++ {
		if d.At(n) == '<' && slices.ContainsFunc(tagHeads, func(head string) bool { return d.Has(n, head) }) {
			return false
		}
	}
	return true
}
