package adapters

import (
	"slices"
	"strings"

	"toolnorm/chat"
)

// startBehind takes over what the prompt has opened at its end: reasoning, a plain reply, the header of a message. The marks
// of the format that is read come first; those of others count too, since a prompt that ends with one was made for them.
func (d *decoder) startBehind(prompt string) {
	text := strings.TrimRight(prompt, " \t\r\n")
	if text == "" {
		return
	}
	d.openedHeader(text)
	if p := d.v.opened(text); p != nil {
		d.state, d.thinks = chat.Reasoning, p.f.think
		d.skipOpener(p, strings.HasSuffix(prompt, "\n"))
		return
	}
	for _, f := range d.v.formats {
		for _, p := range f.plain {
			if d.reply == nil && endsWith(text, p.openMark()) && (f == d.f || p.special()) {
				d.reply = p
			}
		}
		if d.ahead == nil && slices.ContainsFunc(f.ahead, func(mark string) bool { return strings.HasSuffix(text, mark) }) {
			d.ahead = f
		}
	}
}

// opened is the think pattern whose opener the prompt ends with, nil when the reply begins outside reasoning.
func (v *view) opened(prompt string) *pattern {
	prompt = strings.TrimRight(prompt, " \t\r\n")
	for i, f := range v.formats {
		for _, p := range f.think {
			if words := isProse(p.openMark()) && isProse(p.closeMark()); endsWith(prompt, p.openMark()) && (i == 0 || !words) {
				return p
			}
		}
	}
	return nil
}

// openMark and closeMark are the marks around the reasoning, or the plain reply, of a pattern.
func (p *pattern) openMark() string  { return strings.TrimSpace(p.parts[0].lit.text) }
func (p *pattern) closeMark() string { return strings.TrimSpace(p.parts[len(p.parts)-1].lit.text) }

// special says whether the pattern begins with a special token.
func (p *pattern) special() bool {
	key := p.parts[0].lit.key()
	return len(key) > 1 && (&mark{key: key}).special()
}

// endsWith says whether a text ends with a mark, which may have a suffix in it.
func endsWith(text, mark string) bool {
	before, after, _ := strings.Cut(mark, suffixHole)
	rest, ok := strings.CutSuffix(text, after)
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && after != "" && strings.HasSuffix(rest[:i], before) {
		return ok && len(rest)-i < maxSuffix
	}
	return ok && strings.HasSuffix(rest, before)
}

// beginning reads what the prompt has opened and the reply goes on with: a message's header, a plain reply or a call.
func (d *decoder) beginning() {
	d.firstMessage()
	if f := d.ahead; f != nil {
		d.behindPrompt(f)
	} else if len(d.f.ahead) > 0 {
		d.behindPrompt(d.f)
	}
}

// begun are the calls and plain replies of a family whose marks every prompt of it opens already, without what the prompt
// says of them.
func (f *Format) begun(list []*pattern) []*pattern {
	var out []*pattern
	for _, p := range list {
		for _, mark := range f.ahead {
			if rest, ok := strings.CutPrefix(p.parts[0].lit.text, mark); ok {
				q := *p
				q.parts = slices.Clone(p.parts)
				if q.parts[0].lit = (literal{text: rest, units: units(rest, "", p.holeAt(1))}); rest == "" {
					q.parts = q.parts[1:]
				}
				out = append(out, &q)
			}
		}
	}
	return out
}

// wordLine says whether a single word stands on the line that begins here.
func (d *decoder) wordLine() bool {
	n := 0
	for c := d.at(n); n < maxName && (isWord(c) || c == '-' || c == '.'); c = d.at(n) {
		n++
	}
	c := d.at(n)
	return n > 0 && (c == '\n' || c < 0)
}

// behindPrompt reads what the prompt has opened: a plain reply or a call. What is neither stays text.
func (d *decoder) behindPrompt(f *Format) {
	for _, p := range f.begun(f.plain) {
		if n, a := d.literal(0, p.parts[0].lit); a == yes {
			d.pos += n
			d.textFrom, d.textTo = d.pos, d.pos
			return
		}
	}
	if d.tools == nil || !d.wordLine() {
		return
	}
	for _, p := range f.begun(f.call) {
		switch d.attempt(p) {
		case committed:
			return
		case cut:
			if d.lengthCut() {
				d.dropRest(0)
				return
			}
		}
	}
}
