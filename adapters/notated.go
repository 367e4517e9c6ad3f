package adapters

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"toolnorm/adapters/internal/claim"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/notation"
	"toolnorm/adapters/internal/prose"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/adapters/internal/wrapper"
	"toolnorm/chat"
)

// notated reads a reply that ends with a call in a notation that no other part reads; see
// [notation.Read]. It is tried last. A sentence that announces the call may precede it, or a short
// sentence may follow. A call between two sentences is not read, because the sentences may be about
// a call that is planned, past or refused.
type notated struct {
	below
	drafts *drafts
	doubt  *doubt
	words  *notation.Vocabulary // of the tools; nil until needed
	format *Format
	o      Options
	off    bool
}

// maxFrontText bounds, in bytes, the text of a reply before a call in an unknown notation. A longer
// text is a document.
const maxFrontText = 600

// read reads a call that begins here, at the start of a line, and is in a notation of no known
// family. It reports whether the call was taken.
func (nt *notated) read() bool {
	if nt.off || nt.tools == nil || len(nt.drafts.heard.messages) == 0 || nt.calls.done > 0 ||
		nt.page.state != chat.Text || nt.page.gapAt > maxFrontText || nt.drafts.out.drafting ||
		!nt.begins() {
		return false
	}
	front := ""
	if !nt.page.blank {
		front = string(nt.page.announcement())
	}
	said := nt.announced(front)
	if said == prose.Never {
		return false
	}
	return nt.drafts.draft(maxUnmarked, func() bool {
		end := nt.marks.replyEnd(nt.ahead())
		if end < 0 {
			return false
		}
		call, size := nt.callIn(string(nt.Slice(nt.Pos, nt.Pos+end)))
		if size == 0 || front != "" && size < end || !nt.meant(call, said, front, size < end) ||
			nt.readsElse(chat.Call{Name: call.Tool.Name, Args: []byte(call.Args)}, said, front, end) {
			return false
		}
		nt.Pos += size
		return nt.trial.attemptBy(wrapped, func() match {
			return sendCalls(nt.calls, []wrapper.Call{{Tool: call.Tool, Args: call.Args}})
		}) == committed
	})
}

// begins reports whether the line here can begin a call in an unknown notation, judging by the part
// of the line that has arrived.
func (nt *notated) begins() bool {
	if nt.words == nil {
		nt.words = notation.NewVocabulary(nt.tools)
	}
	goes := nt.ahead()
	for _, c := range nt.Window()[:min(len(nt.Window()), maxBegins)] {
		if !goes(c) {
			return false
		}
	}
	return true
}

// ahead returns a function that takes the following text byte by byte. It reports whether the text
// may still be a call in some notation or, if other text precedes it, a call in a wrapper (a text
// that names a tool and contains its arguments).
func (nt *notated) ahead() func(c byte) bool {
	own, wrap := notation.Ahead{Vocabulary: nt.words}, wrapper.NewAhead(nt.tools)
	ownGoes, wrapGoes := true, !nt.page.blank
	return func(c byte) bool {
		ownGoes, wrapGoes = ownGoes && own.Goes(c), wrapGoes && wrap.Goes(c)
		return ownGoes || wrapGoes
	}
}

// wrappedCall returns the call in a text that has one tool's name and its arguments in a form of no
// family. It returns false for a command, for several calls, and for arguments that would need a
// repair. At the start of a reply it also returns false, because [wrappers] reads such texts there.
func (nt *notated) wrappedCall(text string) (call notation.Call, ok bool) {
	if nt.page.blank {
		return call, false
	}
	found, form := wrapper.Calls(text, nt.tools)
	if len(found) != 1 || form == wrapper.Command ||
		!lenient.Fits(found[0].Args, found[0].Tool.Type()) {
		return call, false
	}
	return notation.Call{Tool: found[0].Tool, Args: found[0].Args}, true
}

// maxBegins is how many of the arrived bytes begins examines.
const maxBegins = 48

// callIn returns the call in a text that consists of a call, perhaps with one short sentence after
// it, and the length of the call. The length is 0 if there is no such call.
func (nt *notated) callIn(text string) (notation.Call, int) {
	if call, ok := notation.Read(text, nt.tools, nt.drafts.heard.said); ok {
		if claim.Speaks(withoutLabels(text, call.Tool)) {
			return notation.Call{}, 0
		}
		return call, len(text)
	}
	if call, ok := nt.wrappedCall(text); ok {
		return call, len(text)
	}
	at := strings.LastIndexByte(strings.TrimSpace(text), '\n')
	if at < 0 {
		return notation.Call{}, 0
	}
	behind := strings.TrimSpace(text[at:])
	if !farewell.MatchString(behind) || !prose.GoesOn([]byte("\n"+behind)) {
		return notation.Call{}, 0
	}
	call, ok := notation.Read(text[:at], nt.tools, nt.drafts.heard.said)
	if !ok || claim.Speaks(withoutLabels(text, call.Tool)) ||
		slices.ContainsFunc(call.Tool.Type().Members(), func(key string) bool {
			return strings.Contains(behind, key)
		}) {
		return notation.Call{}, 0
	}
	return call, len(strings.TrimRight(text[:at], " \t\r\n"))
}

// withoutLabels returns a text without words at the beginnings of its lines that label parts of the
// call: the names of parameters, and "tool" or "function" before the tool's name. If the remaining
// text mentions a result, that mention is outside of the call.
func withoutLabels(text string, t *toolset.Tool) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimLeftFunc(line, func(r rune) bool { return !partOfWord(r) })
		for _, key := range append(t.Type().Members(), "tool", "function") {
			behind, ok := strings.CutPrefix(strings.ToLower(bare), strings.ToLower(key))
			own := t.Type().Has(key) || strings.Contains(bare, t.Name)
			if first, _ := utf8.DecodeRuneInString(behind); ok && own && !partOfWord(first) {
				bare = "x" + bare[len(key):]
				break
			}
		}
		out.WriteString(bare)
	}
	return out.String()
}

// farewell matches a short sentence beside the call: words, and the punctuation that ends it.
var farewell = regexp.MustCompile(`^\pL[\pL\pM\pN ,'’-]{3,110}[.!…。！।]$`)

// writtenThought matches a thought that is written into the reply before a call.
var writtenThought = regexp.MustCompile(`(?s)^(?:\*[^*\n]+\*|\((?:thinking|thought|reasoning)[^()\n]*\)|` +
	`<(\w+)>[^<>]*</\w+>|(?:Thought|Thinking|Reasoning|Plan)s?: [^\n]+)\s*`)

// announced says how well the text front, which precedes the call, announces it.
func (nt *notated) announced(front string) prose.Kind {
	rest := front
	if nt.page.gapAt < prose.Reach {
		rest = writtenThought.ReplaceAllString(front, "")
	}
	if rest == "" {
		return prose.Surely
	}
	if strings.Contains(rest, "\n\n") || strings.ContainsAny(rest, "`{}[]<>|=") {
		return prose.Never
	}
	return nt.doubt.judged([]byte(rest))
}

// meant reports whether the call is meant. The text before it must announce it, and the
// conversation must mention its values without having shown the call. The parameter goesOn says
// that a sentence follows the call.
func (nt *notated) meant(call notation.Call, said prose.Kind, front string, goesOn bool) bool {
	made := chat.Call{Name: call.Tool.Name, Args: []byte(call.Args)}
	h := &nt.drafts.heard
	around := nt.drafts.around(front, "", made)
	heard := h.speaksOf(made)
	if heard == silent || (call.Shell || goesOn) && heard != wholly {
		return false
	}
	if heard >= mostly {
		around.Heard |= prose.Asked
	}
	return around.Heard&(prose.Pasted|prose.Taught) == 0 && nt.drafts.announces(said, around)
}

// readsElse reports whether another reader finds a call, a result, or a text that may mean a call
// in the rest of the reply, which has the given size. The rest is read twice, with the text front
// before it and without, because a call that is found only without front is merely shown. If front
// announces a call, the reader of wrappers is left out of the second reading, because it reads
// nothing after a text. A text that would announce a call to a user who asks how calls are written
// also announces one here, and so does a short statement if the user has mentioned most of the
// call's values.
func (nt *notated) readsElse(made chat.Call, said prose.Kind, front string, size int) bool {
	text := string(nt.Slice(nt.Pos, nt.Pos+size))
	if front == "" {
		return nt.finds(text, nt.o.Messages, true)
	}
	// one short statement that announces the next action, about something the user has said
	around := &prose.Surroundings{Front: front, Heard: prose.Taught}
	announces := nt.drafts.announces(said, around) ||
		said == prose.Plain && nt.page.gapAt < prose.Reach && farewell.MatchString(front) &&
			nt.drafts.heard.speaksOf(made) >= mostly
	return nt.finds(text, nil, !announces) || nt.finds(front+"\n"+text, nt.o.Messages, true)
}

// finds reports whether the decoder finds a call, a repair or a doubt in a reply with this text
// after the given messages. The readers that are tried last are turned off, except that the
// parameter wrappers says whether the reader of wrappers is used.
func (nt *notated) finds(text string, messages []chat.Message, wrappers bool) (found bool) {
	o := nt.o
	o.Prompt, o.Hold, o.HoldNow, o.Repaired, o.Messages = "", HoldCall, nil, nil, messages
	d := newDecoder(nt.format, ended(text), o, func(e chat.Event, err error) bool {
		found = found || err != nil || e.Kind == chat.CallStart || e.Kind == aside ||
			e.Meta != nil && (e.Meta.Doubt != "" || len(e.Meta.Repairs) > 0)
		return err == nil && !found
	})
	d.restored.off, d.notated.off, d.wrappers.off = true, true, !wrappers
	d.run()
	return found
}
