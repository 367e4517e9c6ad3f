package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/restore"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/adapters/internal/wrapper"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// restored reads a reply that consists of calls in the family's own form with errors in its marks,
// such as <tol_call>. It reads texts that differ from the reply in as few marks as possible. Such a
// text is taken for what the model meant if it consists of whole calls that fit, and if no other
// text with as many differences gives other calls. A reply with two such meanings is text, and the
// model is asked for it again.
//
// It is tried last, when no other reader reads the reply, and only if the reply begins with one of
// the family's own marks, whole or damaged.
type restored struct {
	below
	drafts *drafts
	format *Format
	o      Options
	off    bool // damaged marks do not count
	// a tool that is called in several readings, or with arguments that do not fit; "": none
	doubt string
}

// read reads the reply, which begins here, if it consists of calls with damaged marks such as
// <tol_call>. It reports whether it did. If the calls are not certain, the reply is sent as text
// and marked as doubtful. The reply is held back to its end, or until it can no longer be a call.
func (rs *restored) read() bool {
	if rs.off || rs.tools == nil || !rs.page.blank || rs.page.state != chat.Text ||
		rs.calls.done > 0 {
		return false
	}
	front := rs.begins()
	if front == 0 {
		return false
	}
	text := ""
	if rs.drafts.draft(maxUnmarked, func() bool {
		size := rs.size(front)
		if size < 0 {
			return false
		}
		text = string(rs.Slice(rs.Pos, rs.Pos+size))
		found := rs.meant(text)
		rs.ToEnd()
		return len(found) > 0 && rs.trial.attemptBy(wrapped, func() match {
			rs.drafts.Repaired("marks")
			return sendCalls(rs.calls, found)
		}) == committed
	}) {
		return true
	}
	if rs.doubt == "" && text != "" {
		rs.doubt = rs.calledIn(text, front == maxMarkedFront)
	}
	if rs.doubt == "" || rs.readsAsItIs(text) {
		return false
	}
	rs.drafts.Repaired("two-readings")
	rs.Pos = rs.page.gapAt
	rs.page.doubtful(rs.doubt, rs.page.restIsText)
	return true
}

// readsAsItIs reports whether the decoder finds a call in the text of a reply when it does not
// repair damaged marks such as <tol_call>.
func (rs *restored) readsAsItIs(text string) (found bool) {
	o := rs.o
	o.Prompt, o.Hold, o.HoldNow = "", HoldCall, nil
	d := newDecoder(rs.format, ended(text), o, func(e chat.Event, err error) bool {
		found = found || e.Kind == chat.CallStart
		return err == nil && !found
	})
	d.restored.off = true
	d.run()
	return found
}

// ended returns a source that yields the text and then a finish event that says that the model has
// ended by itself.
func ended(text string) chat.Source {
	return &chat.Fixed{{Kind: chat.Text, Text: text}, {Kind: chat.Finish, Text: chat.Stop}}
}

// begins returns how many bytes may precede the first name of a tool, or 0 if no call can begin
// here. A call begins with a mark of the family, whole or damaged. If the family has no marks, it
// begins with JSON or a Python call. begins reads as little as possible, since nothing of the reply
// is shown meanwhile.
func (rs *restored) begins() (front int) {
	bare := slices.ContainsFunc(rs.format.Calls, (*declaration.Pattern).Markless)
	if c := rs.At(0); bare && (c == '{' || c == '[') {
		return maxBareFront
	}
	if bare && rs.beginsPython() {
		return maxBareFront
	}
	if rs.beginsFence() || rs.format.Header != nil && rs.beginsHeader() {
		return maxMarkedFront
	}
	marks := rs.format.marks()
	for n := 1; n <= maxOpening && rs.At(n-1) >= 0; n++ {
		switch text := string(rs.Slice(rs.Pos, rs.Pos+n)); {
		case n >= minOpening && restore.Begins(text, marks):
			return maxMarkedFront
		case !restore.May(text, marks):
			return 0
		}
	}
	return 0
}

// beginsPython reports whether a reply begins with the name of an offered tool and a parenthesis,
// or with such a name, a parameter and an equals sign.
func (rs *restored) beginsPython() bool {
	n := rs.Run(0, maxOpening, scan.IsWord)
	word := string(rs.Slice(rs.Pos, rs.Pos+n))
	return n > 0 && (rs.At(n) == '(' && rs.tools.Find(word) != nil ||
		rs.At(n) == '=' && slices.ContainsFunc(rs.names(), func(name string) bool {
			key, ok := strings.CutPrefix(word, name)
			return ok && rs.tools.Find(name).Type().Has(key)
		}))
}

// beginsHeader reports whether a reply begins with the header of a message to an offered tool.
func (rs *restored) beginsHeader() bool {
	if !rs.Has(0, "to=") {
		return false
	}
	n := 3 + rs.Run(3, toolset.MaxName, func(c int) bool { return c > ' ' && c != '<' })
	return rs.tools.Recipient(string(rs.Slice(rs.Pos+3, rs.Pos+n))) != nil
}

// beginsFence reports whether a reply begins with a fence that opens calls of the family.
func (rs *restored) beginsFence() bool {
	return rs.At(0) == '`' && slices.ContainsFunc(slices.Concat(rs.format.Sections,
		rs.format.Calls), func(p *declaration.Pattern) bool {
		mark := strings.TrimSpace(p.Parts[0].Lit.Text)
		return strings.HasPrefix(mark, "```") && rs.Has(0, mark)
	})
}

// Bounds on the beginning of a reply, in bytes.
const (
	minOpening     = 4    // the least bytes of a text that can be a mark
	maxOpening     = 48   // the most bytes looked at to know whether it is a mark
	maxMarkedFront = 1024 // the most bytes before a tool's name, after a mark
	maxBareFront   = 160  // the same, without a mark
)

// size returns the length of the rest of the reply. It returns -1 if the reply was cut, or if its
// first front bytes have neither the name of a tool nor a parameter. Such a reply cannot be a call
// that is worth a repair.
func (rs *restored) size(front int) int {
	for n := 0; ; n++ {
		switch c := rs.At(n); {
		case c < 0 && rs.in.lengthCut():
			return -1
		case c < 0:
			return n
		case n == front && !rs.tools.In(rs.Slice(rs.Pos, rs.Pos+n)) &&
			len(rs.keysIn(string(rs.Slice(rs.Pos, rs.Pos+n)))) == 0:
			return -1
		}
	}
}

// meant returns the calls of the repaired text that differs from text in the fewest marks, or nil
// if no repaired text consists of calls. If several such texts have different calls, or if a call
// does not fit its tool, it returns nil and sets the field doubt.
func (rs *restored) meant(text string) []wrapper.Call {
	for degree, texts := range restore.Texts(text, rs.format.marks(), rs.names()) {
		var calls []wrapper.Call
		for _, t := range texts {
			found, ok := rs.whole(t)
			if !ok || rs.holdsMark(found, text, degree) {
				continue
			}
			if len(calls) > 0 && !slices.EqualFunc(found, calls, sameCall) {
				rs.doubt = calls[0].Tool.Name
				return nil
			}
			calls = found
		}
		if len(calls) > 0 {
			return calls
		}
	}
	return nil
}

// names returns the names of the offered tools.
func (rs *restored) names() (names []string) {
	for _, t := range rs.o.Tools {
		names = append(names, t.Name)
	}
	return names
}

// holdsMark reports whether the arguments of the found calls contain a mark of the family, such as
// <tool_call>, more often than the text does. If degree is restore.Visible or more, it reports
// whether they contain any mark. The calls were read after a repair of the text, and a repaired
// mark is never part of a value.
func (rs *restored) holdsMark(found []wrapper.Call, text string, degree int) bool {
	for _, m := range rs.format.marks() {
		n := 0
		for _, c := range found {
			n += strings.Count(c.Args, strings.Trim(schema.Quote(m), `"`))
		}
		if n > 0 && degree >= restore.Visible || n > strings.Count(text, m) {
			return true
		}
	}
	return false
}

// sameCall reports whether two calls are of one tool with the same arguments.
func sameCall(a, b wrapper.Call) bool { return a.Tool == b.Tool && a.Args == b.Args }

// whole returns the calls of a text that consists of calls in the family's own form. It returns
// false if the text has anything else or no call, or if a call does not fit its tool.
func (rs *restored) whole(text string) (found []wrapper.Call, ok bool) {
	o := Options{Tools: rs.o.Tools, Also: rs.o.Also, Known: rs.o.Known, Context: rs.o.Context,
		Which: Strict, Hold: HoldCall}
	var read chat.Collector
	for e, err := range rs.format.Decode(ended(text), o) {
		if err != nil {
			return nil, false
		}
		read.Add(e)
		if e.Meta != nil && e.Meta.Doubt != "" {
			rs.doubt = e.Meta.Doubt
		}
	}
	if strings.TrimSpace(read.Text.String()) != "" {
		return nil, false
	}
	for _, c := range read.Complete() {
		t := rs.tools.Find(c.Name)
		if !t.Takes(scan.Fields(string(c.Args))) {
			rs.doubt = t.Name
			return nil, false
		}
		found = append(found, wrapper.Call{Tool: t, ID: c.ID, Args: string(c.Args)})
	}
	return found, len(found) > 0
}

// sendCalls writes calls that are known as a whole. It always returns committed.
func sendCalls(cs *calls, found []wrapper.Call) match {
	for _, call := range found {
		cs.commitWith(call.Tool, call.ID, call.Args)
		cs.endCall(true)
	}
	return committed
}

// allFrames returns the marks around the calls of the family, such as <tool_call>, as they are
// written.
func (f *Format) allFrames() []string {
	var literals []string
	for _, list := range [][]*declaration.Pattern{f.Sections, f.Calls, f.Args,
		{f.Header, f.Message}} {
		for _, p := range list {
			if p == nil {
				continue
			}
			for _, part := range p.Parts {
				literals = append(literals,
					strings.ReplaceAll(part.Lit.Text, declaration.SuffixPlaceholder, ""))
			}
		}
	}
	return restore.Marks(append(literals, f.Ends...))
}
