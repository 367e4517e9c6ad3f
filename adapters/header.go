package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// fields are what a header says: <|start|>assistant to=functions.f<|channel|>commentary <|constrain|>json<|message|>. Content
// types are read and forgotten, since the body itself shows whether it is JSON.
type fields struct {
	to, channel string
	end         int // offset behind the header
}

// maxHeader bounds a header, in bytes.
// Real ones are below 100. Prose about the marks must not be read as a header that goes on and on.
const maxHeader = 256

// header reads the fields of a message header that begins at offset i, in any order, each optional.
// gpt-oss writes the recipient in the role or behind the channel, the type with or without its mark, and channels nobody
// named ("commentary?", "??"). A word that is no field may stand in it three times at most. Where all is said and only the
// last mark is missing, a brace behind the name of an offered tool stands for it.
func (d *decoder) header(i int) (fields, match) {
	var h fields
	words := 0
	for start := i; i < start+maxHeader; {
		i += d.Space(i)
		switch c := d.At(i); {
		case c < 0:
			return h, incomplete
		case c == '<':
			mark, a := d.headerMark(i)
			if a != matched {
				return h, a
			}
			i += len(mark)
			switch mark {
			// the last one: behind it the body begins
			case messageMark:
				h.end = i
				return h, matched
			case declaration.ChannelMark:
				h.channel, i = d.word(i)
				// "use <|channel|>, then …": a sign in the place of a channel
				if c := d.At(i - len(h.channel)); c >= 0 && c != '?' && !scan.IsWord(c) {
					return h, mismatch // prose about the mark
				}
			// <|constrain|>json: the body says so itself
			case constrainMark:
				_, i = d.word(i)
			}
		case c == '{' && d.tools != nil && d.tools.Recipient(h.to) != nil:
			// the mark in front of the body is missing
			h.end = i
			return h, matched
		default:
			w, end := d.word(i)
			i = end
			if to, ok := strings.CutPrefix(w, "to="); ok {
				h.to = to
			} else if words++; w == "" || words > 3 || !headerWord(w, h) {
				return h, mismatch
			} else if h.channel == "" && isChannel(w) {
				h.channel = w
			}
		}
	}
	return h, mismatch
}

// isChannel says whether a word names a channel.
// These three are harmony's; a header with another one is read all the same, and its body is text.
func isChannel(w string) bool { return w == "analysis" || w == "commentary" || w == "final" }

// headerWord says whether a plain word may stand in a header: the role in front, the content type behind.
// Without a channel or a recipient in front, only words that are known count: of "assistant toget_weather<|message|>" the name is
// lost, and the call in the body must not be taken for a thought.
func headerWord(w string, h fields) bool {
	switch w {
	case "assistant", "json", "code", "analysis", "commentary", "final":
		return true
	}
	return h.channel != "" || h.to != ""
}

// headerMarks are the marks of a header. All families of messages share these four, whatever their recipients and channels
// are called.
var headerMarks = []declaration.Literal{
	declaration.Exactly(messageMark), declaration.Exactly(declaration.ChannelMark), declaration.Exactly(constrainMark), declaration.Exactly(startMark),
}

// headerMark is the mark of a header that stands at offset i. Where the text ends inside one the header is structure and
// dropped; a byte that cannot be one makes it text.
// <|channel|>final<|mess at the end of a reply is the first, "<|channel|> is a mark" the second.
func (d *decoder) headerMark(i int) (mark string, a match) {
	for _, m := range headerMarks {
		_, found := d.literal(i, m)
		if found == matched {
			return m.Text, matched
		}
		a = max(a, found)
	}
	return "", a
}

// word is the word at offset i, behind white space, and where it ends.
// It ends at a mark or a brace too, since models leave the blank out: to=f<|channel|>commentary{"a": 1}.
func (d *decoder) word(i int) (string, int) {
	i += d.Space(i)
	n := i + d.Run(i, toolset.MaxName, func(c int) bool { return c >= 0 && !scan.IsSpace(c) && c != '<' && c != '{' })
	return string(d.Slice(d.Pos+i, d.Pos+n)), n
}

// openedHeader takes the header of a message that the prompt has begun, and perhaps ended, in front of the reply: it is read
// with it as one.
// Prompts of gpt-oss, Beam and Glimmer end with <|start|>assistant, some with <|channel|>analysis<|message|> behind it. Only the
// assistant's own header counts, and only when no other mark stands behind: a user may have quoted one.
func (d *decoder) openedHeader(prompt string) {
	i := strings.LastIndex(prompt, startMark)
	if i < 0 || len(prompt)-i > maxHeader || d.index.Header == nil {
		return
	}
	head, body, _ := strings.Cut(prompt[i:], messageMark)
	role, _, _ := strings.Cut(strings.TrimSpace(head[len(startMark):]), " ")
	role, _, _ = strings.Cut(role, "<")
	// the last message is not the assistant's, or it is over
	if role != "assistant" || strings.Contains(body, "<|") {
		return
	}
	d.Append(prompt[i : len(prompt)-len(body)])
}

// headerRests are what is left of a header where engines cut: behind the role, the channel's mark, or the header.
var headerRests = []string{"to=", messageMark, "analysis<|", "commentary<|", "commentary to=", "analysis to=", "final<|"}

// firstMessage reads the first message of a reply whose header begins in the prompt, or at a recipient or a channel's name.
// Engines cut the prompt at different places, so a reply may begin with " to=f", with a channel's mark or with its name alone.
// If it is no message after all, what the prompt lent is removed from the buffer again, and the reply is text from its first
// byte. A header that is cut has said nothing yet, and is dropped.
func (d *decoder) firstMessage() {
	head := len(d.Buf)
	i := head + d.Space(head)
	begins := head > 0 && d.Has(head-len(messageMark), messageMark) || slices.ContainsFunc(headerRests, func(w string) bool { return d.Has(i, w) })
	a := mismatch
	if p := d.index.Header; begins && p != nil {
		a = d.message(p)
	}
	if a == committed {
		return
	}
	d.skipLent(head)
	// cut within it
	if a == incomplete && d.halfHeader() {
		d.dropRest(0)
	}
}

// halfHeader says whether the rest of the text, which is cut inside a message's header or right behind it, is structure: it
// holds a mark, or names a tool.
// "to=get_weather" and nothing else names a tool and is a call that was cut; "to=" in front of another word is text.
func (d *decoder) halfHeader() bool {
	text := strings.TrimSpace(string(d.Window()))
	to, ok := strings.CutPrefix(text, "to=")
	return strings.Contains(text, "<|") || ok && d.tools != nil && d.tools.Recipient(to) != nil
}

// headerAhead says whether a header whose first mark is missing stands whole at offset i: it begins with the role, a recipient
// or a channel, ends with its mark, and is for somebody or some channel that is known.
// Muse thinks, and goes on with " to=time.now<|message|>" without closing the message before; gpt-oss writes
// "…Plan.<|channel|>final<|message|>Hi.". It has to be whole, and meant for a tool, a channel or a recipient that a family
// names: a text about headers is none of these.
func (d *decoder) headerAhead(i int) bool {
	if !d.Has(i, "to=") && !d.Has(i, "assistant") && !d.Has(i, declaration.ChannelMark) {
		return false
	}
	h, a := d.header(i)
	marked := a == matched && d.Has(h.end-len(messageMark), messageMark)
	if !marked || h.to == "" {
		return marked && isChannel(h.channel)
	}
	return d.tools != nil && d.tools.Recipient(h.to) != nil || slices.ContainsFunc(d.index.Families, func(f *declaration.Family) bool {
		return slices.ContainsFunc(f.Routes, func(r declaration.Route) bool { return r.Field == "to" && r.Value == h.to })
	})
}
