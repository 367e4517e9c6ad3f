package adapters

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/restore"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/adapters/internal/wrapper"
	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/internal/jsontree"
)

// restored reads a reply that consists of calls in the family's own form with slips in its marks.
// It reads texts that differ from the reply in as few marks as possible. Such a text counts if it
// consists of whole calls that fit, and if no other text with as many differences gives other
// calls. A reply with two readings is text, and the model is asked for it again.
//
// It is tried last, when no other reader reads the reply, and only if the reply begins with one of
// the family's own marks, whole or damaged.
type restored struct {
	*scan.Buffer
	in     *input
	page   *page
	trial  *trial
	calls  *calls
	drafts *drafts
	tools  *toolset.Set
	format *Format
	o      Options
	off    bool // damaged marks do not count
	// a tool that is called in several readings, or with arguments that do not fit; "": none
	doubt string
}

// read reads a reply that consists of calls with damaged marks and begins here. It reports whether
// it did: as calls, or as text in doubt. The reply is held back to its end, or until it can no
// longer be a call.
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

// calledIn returns the name of the tool that a reply calls although no reader can read it, or "" if
// the reply may be prose. Such a reply has the name of an offered tool early in it with structure
// around the name, then one of the tool's parameters or, at its end, a mark of the family, and it
// ends in structure. The parameter marked says that it begins with a mark of the family.
func (rs *restored) calledIn(text string, marked bool) string {
	at, t := rs.firstName(text)
	if t == nil || at > maxBareFront || threeWords.MatchString(text[:at]) {
		return ""
	}
	if doc := documentAround(text, at); doc != nil && !(marked && holdsCall(doc, t)) {
		return "" // nothing is damaged: a tool's description, or another document
	}
	text = strings.TrimSpace(text[at+len(t.Name):])
	if text == "" || strings.IndexByte(">})]\"'`;", text[len(text)-1]) < 0 ||
		strings.IndexByte("\"'>]({=<[:,|`\\&", text[0]) < 0 && !beginsMember(text, t) {
		return ""
	}
	if marked && slices.ContainsFunc(rs.format.marks(), func(m string) bool {
		return strings.HasSuffix(text, m)
	}) {
		return t.Name
	}
	for _, key := range t.Type().Members() {
		if strings.Contains(text, key) {
			return t.Name
		}
	}
	return ""
}

// documentAround returns the JSON in a text that surrounds offset at, or nil if there is none or it
// is not valid.
func documentAround(text string, at int) *jsontree.Value {
	i, j := strings.IndexAny(text, "{["), strings.LastIndexAny(text, "}]")
	if i < 0 || i > at || j < at {
		return nil
	}
	doc, _ := jsontree.Parse([]byte(text[i:j+1]), maxUnmarked)
	return doc
}

// holdsCall reports whether a JSON document contains a call of the tool: an object that names the
// tool beside arguments that it takes, or in which the tool's name is the key of such arguments.
func holdsCall(doc *jsontree.Value, t *toolset.Tool) bool {
	named := slices.ContainsFunc(doc.Members, func(m jsontree.Member) bool {
		return m.Name == t.Name || m.Value.Raw[0] == '"' && strings.Contains(m.Value.Raw, t.Name)
	})
	return slices.ContainsFunc(doc.Members, func(m jsontree.Member) bool {
		return named && takes(t, m.Value) || holdsCall(m.Value, t)
	}) || slices.ContainsFunc(doc.Items, func(item *jsontree.Value) bool {
		return holdsCall(item, t)
	})
}

// takes reports whether a JSON value has members, and the tool takes them as its arguments.
func takes(t *toolset.Tool, args *jsontree.Value) bool {
	fields := make([]scan.Field, len(args.Members))
	for i, m := range args.Members {
		fields[i] = scan.Field{Key: m.Name, Value: m.Value.Raw}
	}
	return len(fields) > 0 && t.Takes(fields)
}

// beginsMember reports whether a text after the name of a tool begins directly with one of the
// tool's parameters, because what separates the two is missing.
func beginsMember(text string, t *toolset.Tool) bool {
	return slices.ContainsFunc(t.Type().Members(), func(key string) bool {
		return strings.HasPrefix(text, key)
	})
}

// threeWords matches three words of a sentence.
var threeWords = regexp.MustCompile(`[a-z]+ [a-z]+ [a-z]+`)

// firstName returns the tool whose name comes first in a text, and the position of the name. The
// tool is nil if the text names none.
func (rs *restored) firstName(text string) (at int, first *toolset.Tool) {
	for _, name := range rs.names() {
		i := strings.Index(text, name)
		end := i + len(name)
		if i < 0 || first != nil && i >= at || i > 0 && scan.IsWord(int(text[i-1])) ||
			end < len(text) && scan.IsWord(int(text[end])) &&
				!beginsMember(text[end:], rs.tools.Find(name)) {
			continue
		}
		at, first = i, rs.tools.Find(name)
	}
	return at, first
}

// readsAsItIs reports whether a call is found in the text of a reply without any mark being
// repaired.
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

// ended returns a source that yields the text, and then says that the model has ended by itself.
func ended(text string) chat.Source {
	return &chat.Fixed{{Kind: chat.Text, Text: text}, {Kind: chat.Finish, Text: chat.Stop}}
}

// begins returns how many bytes may precede the first name of a tool, or 0 if no call can begin
// here. A call begins with a mark of the family, whole or damaged, or with JSON or a Python call if
// the family has no marks. It reads as little as possible, since nothing of the reply is shown
// meanwhile.
func (rs *restored) begins() (front int) {
	bare := slices.ContainsFunc(rs.format.Calls, (*declaration.Pattern).Markless)
	if c := rs.At(0); bare && (c == '{' || c == '[') {
		return maxBareFront
	}
	if bare && rs.beginsPython() {
		return maxBareFront
	}
	if rs.beginsFence() {
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

// beginsPython reports whether a reply begins with the name of an offered tool and a parenthesis.
func (rs *restored) beginsPython() bool {
	n := rs.Run(0, maxOpening, scan.IsWord)
	return n > 0 && rs.At(n) == '(' && rs.tools.Find(string(rs.Slice(rs.Pos, rs.Pos+n))) != nil
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

// size returns the length of the rest of the reply, or -1 if the reply was cut. It also returns -1
// if the first bytes of the reply, whose number is front, do not have the name of a tool.
func (rs *restored) size(front int) int {
	for n := 0; ; n++ {
		switch c := rs.At(n); {
		case c < 0 && rs.in.lengthCut():
			return -1
		case c < 0:
			return n
		case n == front && !rs.tools.In(rs.Slice(rs.Pos, rs.Pos+n)):
			return -1
		}
	}
}

// meant returns the calls of the texts that this one may have been meant as, or nil if there are
// none. If there are several readings, or a reading whose calls do not fit their tools, it returns
// nil and sets the field doubt.
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

// holdsMark reports whether the arguments of the calls contain a mark of the family that the text
// does not show to be part of them. A repaired mark is never part of a value.
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

// whole returns the calls of a text that must consist of calls of the family that fit their tools.
// It returns false if the text has anything else, or no call.
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

// allFrames returns the marks around the calls of the family, as they are written.
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
					strings.ReplaceAll(part.Lit.Text, declaration.SuffixHole, ""))
			}
		}
	}
	return restore.Marks(append(literals, f.Ends...))
}
