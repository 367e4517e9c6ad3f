package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// headers looks ahead for the headers of messages and for the ends of their bodies. It does not
// move the position, since the same header is looked at by the reader of messages, in the search
// for a message's end, and at each mark.
type headers struct {
	below
}

// fields are the contents of a message header, such as <|start|>assistant
// to=functions.f<|channel|>commentary <|constrain|>json<|message|>. The content type, here json, is
// read and dropped, since the body itself shows whether it is JSON.
type fields struct {
	to, channel string
	end         int // offset after the header
}

// maxHeader bounds a header, in bytes.
// Real ones are below 100. Prose about the marks must not be read as a header without end.
const maxHeader = 256

// at reads the fields of a message header that begins at offset i. They come in any order, and each
// is optional. It returns mismatch if there is no header, and incomplete if the text ends in it.
// gpt-oss writes the recipient in the role or after the channel, the type with or without its mark,
// and channels of its own invention ("commentary?", "??"). A header may contain at most three words
// that are not fields. If only the last mark is missing, a brace after the name of an offered tool
// takes its place.
func (hs *headers) at(i int) (fields, match) {
	var h fields
	words := 0
	for start := i; i < start+maxHeader; {
		i += hs.Space(i)
		switch c := hs.At(i); {
		case c < 0:
			return h, incomplete
		case c == '<':
			mark, a := hs.headerMark(i)
			if a != matched {
				return h, a
			}
			i += len(mark)
			switch mark {
			// the last mark: the body begins after it
			case messageMark:
				h.end = i
				return h, matched
			case declaration.ChannelMark:
				h.channel, i = hs.word(i)
				// "use <|channel|>, then …": punctuation in place of a channel
				if c := hs.At(i - len(h.channel)); c >= 0 && c != '?' && !scan.IsWord(c) {
					return h, mismatch // prose about the mark
				}
			// <|constrain|>json: the body says so itself
			case constrainMark:
				_, i = hs.word(i)
			}
		case c == '{' && hs.tools != nil && hs.tools.Recipient(h.to) != nil:
			// the mark before the body is missing
			h.end = i
			return h, matched
		default:
			w, end := hs.word(i)
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

// called reports whether the header here is that of a call, that is, whether it names an offered
// tool.
func (hs *headers) called() bool {
	h, _ := hs.at(0)
	return hs.tools != nil && h.to != "" && hs.tools.Recipient(h.to) != nil
}

// isChannel reports whether a word names one of harmony's three channels. A header with another
// channel is read all the same, and its body is text.
func isChannel(w string) bool { return w == "analysis" || w == "commentary" || w == "final" }

// headerWord reports whether a plain word may occur in a header, such as the role or the content
// type. The parameter h has the fields before the word. If neither a channel nor a recipient is
// among them, only known words may occur: "assistant toget_weather<|message|>" has lost the name,
// and the call in the body must not be taken for a thought.
func headerWord(w string, h fields) bool {
	switch w {
	case "assistant", "json", "code", "analysis", "commentary", "final":
		return true
	}
	return h.channel != "" || h.to != ""
}

// headerMarks are the marks of a header. All families of messages share these four, whatever the
// names of their recipients and channels.
var headerMarks = []declaration.Literal{
	declaration.Exactly(messageMark), declaration.Exactly(declaration.ChannelMark),
	declaration.Exactly(constrainMark), declaration.Exactly(startMark),
}

// headerMark returns the mark of a header at offset i. It returns mismatch if there is none, as in
// "<|channels", which is text. It returns incomplete if the text ends inside a mark, as in
// <|channel|>final<|mess at the end of a reply; such a header is structure and is dropped.
func (hs *headers) headerMark(i int) (mark string, a match) {
	for _, m := range headerMarks {
		_, found := hs.marks.literal(i, m)
		if found == matched {
			return m.Text, matched
		}
		a = max(a, found)
	}
	return "", a
}

// word returns the word at offset i, after white space, and the offset where it ends. The word is
// empty if there is none. A mark or a brace also ends it, since models leave the blank out:
// to=f<|channel|>commentary{"a": 1}.
func (hs *headers) word(i int) (string, int) {
	i += hs.Space(i)
	n := i + hs.Run(i, toolset.MaxName, func(c int) bool {
		return c >= 0 && !scan.IsSpace(c) && c != '<' && c != '{'
	})
	return string(hs.Slice(hs.Pos+i, hs.Pos+n)), n
}

// halfHeader reports whether the rest of the text, which is cut inside a message's header or right
// after it, is structure. It is if it contains a mark or names an offered tool: "to=get_weather"
// alone is a call that was cut, but "to=" before another word is text.
func (hs *headers) halfHeader() bool {
	text := strings.TrimSpace(string(hs.Window()))
	to, ok := strings.CutPrefix(text, "to=")
	return strings.Contains(text, "<|") || ok && hs.tools != nil && hs.tools.Recipient(to) != nil
}

// headerAhead reports whether a header without its first mark is at offset i. Muse thinks, and goes
// on with " to=time.now<|message|>" without closing the previous message; gpt-oss writes
// "…Plan.<|channel|>final<|message|>Hi.". The header must begin with the role, a recipient or a
// channel and have its last mark. The recipient must be a tool, or a recipient that a family names;
// without a recipient, the channel must be one that a family names. A text that only talks about
// headers does not meet these conditions.
func (hs *headers) headerAhead(i int) bool {
	if !hs.Has(i, "to=") && !hs.Has(i, "assistant") && !hs.Has(i, declaration.ChannelMark) {
		return false
	}
	h, a := hs.at(i)
	marked := a == matched && hs.Has(h.end-len(messageMark), messageMark)
	if !marked || h.to == "" {
		return marked && isChannel(h.channel)
	}
	return hs.tools != nil && hs.tools.Recipient(h.to) != nil ||
		slices.ContainsFunc(hs.marks.index.Families, func(f *declaration.Family) bool {
			return slices.ContainsFunc(f.Routes, func(r declaration.Route) bool {
				return r.Field == "to" && r.Value == h.to
			})
		})
}

// The other marks of a header.
const (
	startMark     = "<|start|>"
	constrainMark = "<|constrain|>"
	messageMark   = "<|message|>"
)

// headerAt reports whether a complete header, including its first mark, is at offset i.
func (hs *headers) headerAt(i int) bool {
	if !hs.Has(i, startMark) {
		return false
	}
	_, a := hs.at(i)
	return a == matched
}

// messageFollows reports whether the end mark before offset i does end a message. It does if
// another end mark, a header or the end of the text is at offset i. Otherwise the end mark is a
// word of the text. A header may lack its first mark, as in <|channel|>final<|message|>, which
// gpt-oss writes.
func (hs *headers) messageFollows(p *declaration.Pattern, i int) bool {
	i += hs.Space(i)
	return hs.At(i) < 0 || hs.Has(i, startMark) || hs.Has(i, declaration.ChannelMark) ||
		hs.marks.messageEnds(p, i) > 0 || hs.headerAhead(i)
}

// bodyEnds reports whether the body of a message ends at offset i.
func (hs *headers) bodyEnds(p *declaration.Pattern, i int) bool {
	end := hs.marks.messageEnds(p, i)
	return end > 0 && hs.messageFollows(p, end)
}

// messageOver reports whether a message ends at offset i. It does at an end mark before another
// message or the end of the text, and at a complete header. At the end of a text that was cut, an
// end mark alone is not enough, because it may have been part of the value.
func (hs *headers) messageOver(p *declaration.Pattern, i int) bool {
	if end := hs.marks.messageEnds(p, i); end > 0 {
		return hs.messageFollows(p, end) && (hs.At(end+hs.Space(end)) >= 0 || !hs.in.lengthCut())
	}
	return hs.headerAt(i)
}
