package adapters

import (
	"strings"

	"toolnorm/chat"
)

// channelMark is the mark in front of a channel's name, inside a header or at its start.
const channelMark = "<|channel|>"

// The other marks of a header.
const (
	startMark     = "<|start|>"
	constrainMark = "<|constrain|>"
	messageMark   = "<|message|>"
)

// fields are what a header says.
type fields struct {
	to, channel string
	end         int // offset behind the header
}

// maxHeader bounds a header, in bytes.
const maxHeader = 256

// header reads the fields of a message header that begins here, in any order, each optional.
func (d *decoder) header() (fields, answer) {
	var h fields
	words := 0
	for i := 0; i < maxHeader; {
		i += d.space(i)
		switch c := d.at(i); {
		case c < 0:
			return h, cut
		case c == '<':
			mark := d.headerMark(i)
			if mark == "" {
				return h, d.cutMark(i)
			}
			i += len(mark)
			switch mark {
			case messageMark:
				h.end = i
				return h, yes
			case channelMark:
				h.channel, i = d.word(i)
				if c := d.at(i - len(h.channel)); c >= 0 && c != '?' && !isWord(c) {
					return h, no // prose about the mark
				}
			case constrainMark:
				_, i = d.word(i)
			}
		case c == '{' && h.to != "": // the mark in front of the body is missing
			h.end = i
			return h, yes
		default:
			w, end := d.word(i)
			i = end
			if to, ok := strings.CutPrefix(w, "to="); ok {
				h.to = to
			} else if words++; w == "" || words > 3 || !headerWord(w, h) {
				return h, no
			} else if h.channel == "" && isChannel(w) {
				h.channel = w
			}
		}
	}
	return h, no
}

// isChannel says whether a word names a channel.
func isChannel(w string) bool { return w == "analysis" || w == "commentary" || w == "final" }

// headerWord says whether a plain word may stand in a header: the role in front, the content type behind.
func headerWord(w string, h fields) bool {
	switch w {
	case "assistant", "json", "code", "analysis", "commentary", "final":
		return true
	}
	return h.channel != "" || h.to != ""
}

// headerMark is the mark of a header that stands at offset i, "" when none does.
func (d *decoder) headerMark(i int) string {
	for _, m := range []string{messageMark, channelMark, constrainMark, startMark} {
		if d.has(i, m) {
			return m
		}
	}
	return ""
}

// cutMark is cut when the text ends inside a header's mark at offset i.
func (d *decoder) cutMark(i int) answer {
	for _, m := range []string{messageMark, channelMark, constrainMark, startMark} {
		n := 0
		for n < len(m) && d.at(i+n) == int(m[n]) {
			n++
		}
		if d.at(i+n) < 0 {
			return cut
		}
	}
	return no
}

// word is the word at offset i, behind blanks, and where it ends.
func (d *decoder) word(i int) (string, int) {
	for d.at(i) == ' ' {
		i++
	}
	n := i
	for c := d.at(n); c >= 0 && !isSpace(c) && c != '<' && c != '{' && n < i+maxName; c = d.at(n) {
		n++
	}
	return string(d.slice(d.pos+i, d.pos+n)), n
}

// message reads a message that begins with its header here: the header says what the body is.
func (d *decoder) message(p *pattern) answer {
	h, a := d.header()
	if a != yes {
		d.evidence = d.evidence || a == cut && d.pos+len(channelMark) < d.base+len(d.buf)
		return a
	}
	r, t := p.f.routeFor(h, d.tools)
	if r.body == "json" || r.body == "args" {
		if t == nil {
			return no
		}
		return d.messageCall(p, h, t, r.body)
	}
	d.leave(0)
	d.pos += h.end
	if p.f.flags["blank"] && d.at(0) == ' ' {
		d.pos++
	}
	d.textFrom, d.textTo = d.pos, d.pos
	switch r.body {
	case "calls": // whatever marks it holds; it is text that the next mark of a message ends
		d.blank, d.fresh = true, true
	case "reasoning":
		d.messageText(p, chat.Reasoning)
	case "junk":
		d.messageText(p, chat.None)
	default:
		d.messageText(p, chat.Text)
	}
	return committed
}

// firstMessage reads the first message of a reply whose header begins in the prompt: at a recipient or a channel's name.
func (d *decoder) firstMessage() {
	i := d.space(0)
	for _, w := range []string{"to=", messageMark, "analysis<|", "commentary<|", "commentary to=", "analysis to=", "final<|"} {
		if d.has(i, w) {
			start := d.pos
			if d.message(d.f.header) != committed {
				d.pos = start
			}
			return
		}
	}
}

// routeFor is the first route that a header takes.
func (f *Format) routeFor(h fields, tools *toolset) (route, *tool) {
	for _, r := range f.routes {
		switch r.field {
		case "to":
			if h.to == "" {
				continue
			}
			if r.value == "{name}" && tools != nil {
				if t := tools.recipient(h.to); t != nil {
					return r, t
				}
			}
			if r.value == h.to || r.value == "*" && h.to != "assistant" && h.to != "user" {
				return r, nil
			}
		case "channel":
			if h.channel == r.value {
				return r, nil
			}
		case "else":
			return r, nil
		}
	}
	return route{body: "text"}, nil
}

// recipient returns the tool that a header means by name: signs and the type of the content may be glued to it.
func (s *toolset) recipient(name string) *tool {
	if t := s.find(name); t != nil {
		return t
	}
	name = strings.TrimRight(name, "?:;,.")
	for _, glued := range []string{"", "json", "code"} {
		if base, ok := strings.CutSuffix(name, glued); ok {
			if t := s.find(base); t != nil {
				return t
			}
		}
	}
	return nil
}

// messageCall reads a message that is a call.
func (d *decoder) messageCall(p *pattern, h fields, t *tool, body string) answer {
	start, pin := d.pos, d.pin
	if pin < 0 {
		d.pin = d.gapAt
	}
	d.glue, d.closing = 0, p
	d.pos += h.end
	d.skipFence()
	d.evidence = true
	a := d.messageBody(p, t, body)
	d.closing = nil
	if a != committed {
		d.pos, d.pin = start, pin
		return a
	}
	d.extraClosers("}]")
	d.closeFence()
	n := d.messageEnds(p, d.space(0))
	d.pos += n
	d.endCall(n > 0)
	return committed
}

// messageBody reads the arguments of a call's message: tags, or JSON, or the program text that stands for it.
func (d *decoder) messageBody(p *pattern, t *tool, body string) answer {
	if n := d.messageEnds(p, d.space(0)); n > 0 {
		d.commit(t, "")
		d.put("{}")
		return committed
	}
	if body == "args" {
		if d.at(d.elastic(0)) < 0 && !d.lengthCut() && len(t.schema().Required()) == 0 { // servers drop the mark that ends a turn
			d.commit(t, "")
			d.put("{}")
			return committed
		}
		return d.taggedBody(p, t, "")
	}
	start := d.pos
	a := d.arguments(t, "", nil)
	if a == no {
		d.pos = start
		a = d.rawBody(p, t)
	}
	return a
}

// messageEnds is the offset behind the end mark at offset i, 0 when none stands there.
func (d *decoder) messageEnds(p *pattern, i int) int {
	for _, m := range p.f.ends {
		if d.has(i, m) {
			return i + len(m)
		}
	}
	return 0
}

// messageText reads the body of a message that is text or reasoning; kind None drops it. An end mark ends it only if another
// one, a header or the end of the text follows; without one, a complete header does.
func (d *decoder) messageText(p *pattern, kind chat.Kind) {
	d.state = kind
	for {
		c := d.plainBody()
		if c < 0 {
			break
		}
		if c == '<' {
			if n := d.messageEnds(p, 0); n > 0 && d.messageFollows(p, n) {
				d.pos += n
				break
			}
			if d.has(0, startMark) {
				if _, a := d.header(); a == yes {
					break
				}
			}
		}
		d.keepBody(1)
	}
	d.flushText()
	d.textFrom, d.textTo = d.pos, d.pos
	d.state, d.blank, d.fresh = chat.Text, true, true
}

// plainBody keeps a message's body up to an angle bracket and answers it, or -1.
func (d *decoder) plainBody() int {
	for {
		w := d.window()
		i := 0
		for i < len(w) && w[i] != '<' {
			i++
		}
		d.keepBody(i)
		if i < len(w) {
			return '<'
		}
		if d.at(0) < 0 {
			return -1
		}
	}
}

// keepBody keeps n bytes, or drops them when the message is for nobody.
func (d *decoder) keepBody(n int) {
	if d.state == chat.None {
		d.pos += n
		d.textFrom, d.textTo = d.pos, d.pos
		return
	}
	d.keep(n)
}

// messageOver says whether a message ends at offset i: at an end mark that another message or the end of the text follows, or
// at a complete header.
func (d *decoder) messageOver(p *pattern, i int) bool {
	if end := d.messageEnds(p, i); end > 0 {
		return d.messageFollows(p, end) && (d.at(end+d.space(end)) >= 0 || !d.lengthCut())
	}
	if !d.has(i, startMark) {
		return false
	}
	d.pos += i
	_, a := d.header()
	d.pos -= i
	return a == yes
}

// messageFollows says whether behind an end mark another one, a header or the end of the text stands.
func (d *decoder) messageFollows(p *pattern, i int) bool {
	i += d.space(i)
	return d.at(i) < 0 || d.has(i, startMark) || d.has(i, channelMark) || d.messageEnds(p, i) > 0
}
