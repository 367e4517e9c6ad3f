package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/prose"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
)

// drafts reads calls tentatively: it sends nothing before it is known that they are calls. Such a
// call is a draft. A function reads it with the same code as any other call, and returns whether
// the calls are to be sent.
type drafts struct {
	below
	heard   heard
	weighed int // how many announcements were weighed
}

// maxWeighed bounds the announcements of a reply that are weighed. The cost of one is up to a
// millisecond. Further calls without marks stay text.
const maxWeighed = 256

// progress is the part of the decoder's state that is restored after a failed attempt to read a
// call, in addition to the position and the repairs. The state of a part is copied as a whole, so a
// new field is restored without further code.
type progress struct {
	textState
	codeState
	trialState
	callCount
}

// checkpoint is a place in the reply to which reading can go back, with the repairs up to there.
// Later repairs are appended to that list, so going back shortens the list.
type checkpoint struct {
	progress
	pos     int
	repairs []string
	drafted int // how many events the open draft had
}

// checkpoint returns the current place in the reply, for restore.
func (dr *drafts) checkpoint() checkpoint {
	now := progress{dr.page.textState, dr.code.codeState, dr.trial.trialState, dr.calls.callCount}
	return checkpoint{now, dr.Pos, dr.Repairs, len(dr.out.drafted)}
}

// restore goes back to the checkpoint c. What was read from the source since then stays buffered.
func (dr *drafts) restore(c *checkpoint) {
	dr.page.textState, dr.code.codeState = c.textState, c.codeState
	dr.trial.trialState, dr.calls.callCount = c.trialState, c.callCount
	dr.Pos, dr.Repairs = c.pos, c.repairs
	dr.out.drafted = dr.out.drafted[:min(c.drafted, len(dr.out.drafted))]
}

// draft calls the function read, which reads calls without sending anything, and reports whether
// the calls are taken. If the function returns true, the calls are sent; otherwise everything is
// restored. A draft sees a virtual end of the text after size bytes, and fails if it reaches that
// end. This bounds how much text is held back and how much may be read in vain. Readers return at
// that end as at a real one, so they need no code for drafts. Drafts are not nested, since the
// limit of the outer draft would depend on the inner, so a draft inside a draft fails at once. So
// does a draft after too many failures.
func (dr *drafts) draft(size int, read func() bool) bool {
	if dr.out.drafting || dr.trial.exhausted() {
		return false
	}
	dr.calls.flush()
	before := dr.checkpoint()
	dr.out.drafting, dr.out.drafted, dr.out.draftGlue = true, dr.out.drafted[:0], -1
	dr.SetLimit(dr.Pos + size)
	dr.Hit = false
	// the buffer must keep the bytes that may be read again as text
	if dr.trial.pin < 0 {
		dr.trial.pin = dr.page.gapAt
	}
	ok := read() && !dr.Hit && !dr.calls.wasCut && dr.calls.done > before.done
	dr.out.drafting, dr.Hit = false, false
	dr.SetLimit(scan.Unlimited)
	if !ok {
		dr.undo(&before)
		return false
	}
	dr.page.acceptText(&before.textState, dr.out.draftGlue)
	dr.trial.pin = -1
	if dr.page.state == chat.Reasoning {
		dr.page.state, dr.page.fresh = chat.Text, true
	}
	for _, e := range dr.out.drafted {
		dr.out.emit(e)
	}
	return true
}

// undo goes back to the place where a failed draft began, and restores the state there. Text read
// from the source meanwhile stays buffered. The bytes read in vain are counted, and beyond a limit
// no more drafts are begun, so that hostile text costs linear time.
func (dr *drafts) undo(before *checkpoint) {
	dr.trial.waste += dr.Pos - before.pos
	dr.restore(before)
	dr.Out = nil
	dr.Reset()
}

// complete reports whether every call of the draft has the parameters that its tool requires and no
// others. A call with marks is accepted as the model wrote it and is checked later, but without
// marks this is part of the evidence: `{"name": "get_weather"}` with nothing else is more often a
// record about a tool than a call of it. The events that would be sent are checked, so a repaired
// call is judged as repaired.
func (dr *drafts) complete() bool {
	return !slices.ContainsFunc(dr.made(), func(c chat.Call) bool {
		return !dr.tools.Named(c.Name).Takes(scan.Fields(string(c.Args)))
	})
}

// announcement is the text before a call that is read tentatively, with how well it announces the
// call.
type announcement struct {
	said prose.Kind
	text string
}

// alone is the announcement of a call without text before it.
var alone = announcement{said: prose.Surely}

// announcedBy reports whether the text before the draft announces the draft's first call. If the
// words alone do not decide that, the values of the call and the conversation do. In that case it
// returns false for a draft without a complete call.
func (dr *drafts) announcedBy(front announcement) bool {
	if front.said == prose.Surely {
		return true
	}
	all := dr.made()
	if len(all) == 0 {
		return false
	}
	behind := strings.TrimSpace(string(dr.page.behind()))
	if strings.Contains(behind, "```") || strings.Contains(behind, `{"`) {
		behind = "" // it leads to another call, for which it is weighed
	}
	return dr.announces(front.said, dr.around(front.text, behind, all[0]))
}

// wanted reports whether the user's last message asks for what the first call of the draft does. It
// returns false if no call of the draft is complete.
func (dr *drafts) wanted() bool {
	all := dr.made()
	return len(all) > 0 && dr.heard.wanted(all[0])
}

// made returns the complete calls of the draft, the part of the reply that is being read
// tentatively.
func (dr *drafts) made() []chat.Call {
	var draft chat.Collector
	for _, e := range dr.out.drafted {
		draft.Add(e)
	}
	return draft.Complete()
}

// announces reports whether a call is meant by its surroundings, where a sentence of the given kind
// is before it.
func (dr *drafts) announces(kind prose.Kind, around *prose.Surroundings) bool {
	if kind <= prose.Surely {
		return kind == prose.Surely
	}
	dr.weighed++
	return dr.weighed <= maxWeighed && around.Announces()
}

// around returns the surroundings of a call, which is between two texts and after the conversation.
func (dr *drafts) around(front, behind string, call chat.Call) *prose.Surroundings {
	tool := prose.Tool{Name: call.Name, Description: dr.tools.Named(call.Name).Description,
		Args: string(call.Args), Values: leaves(string(call.Args))}
	return &prose.Surroundings{Front: front, Behind: behind, Tool: tool,
		Heard: dr.heard.evidence(call), Question: dr.heard.asked()}
}
