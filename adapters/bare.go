package adapters

import (
	"bytes"
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/prose"
	"toolnorm/adapters/internal/scan"
)

// unmarked reads calls that have no marks such as <tool_call>, or have lost the mark that opens
// them. They are recognised by evidence alone: an offered name, arguments that fit, and a place
// where calls are written. A text with too little evidence stays text.
type unmarked struct {
	below
	names    *names
	patterns *patterns
	drafts   *drafts
	doubt    *doubt
	openers  opener
	which    Which // which texts that look like calls are calls
}

// maxUnmarked bounds, in bytes, a call without marks that is held back until it is whole. Such a
// call is kept in memory and may be read twice, as text and as a call. A larger call after prose
// stays text.
const maxUnmarked = 1 << 16

// read reads calls that have no marks: JSON, a fence, or a name followed by its arguments. It
// reports whether it read any; if not, the position has not changed. Such calls need evidence. At
// the start of the reply (or after reasoning, or after another call) JSON is sent while it is read
// if it has an offered name and its first argument is a parameter. Everything else is held back to
// its end, and must be announced, complete and the last thing in the reply.
//
//	{"name": "get_weather", "arguments": {"city": "Rome"}}    llama3's own form, and what remains of other models' forms
//	get_weather{"city": "Rome"}   get_weather(city="Rome")    a name followed by its arguments
//	functions.get_weather:0{"city": "Rome"}                   Kimi's, where a server has hidden the control tokens
func (um *unmarked) read(c int, line bool) bool {
	switch {
	case !um.readsUnmarked():
		return false
	case c == '`' || c == '~':
		return um.fenced(um.page.blank)
	case !um.names.callAhead(c, line):
		return false
	}
	start := um.page.blank
	if start && (c == '{' || c == '[') && um.patterns.attempt(bareStream) == committed {
		return true
	}
	if start {
		return um.heldCalls(alone)
	}
	front := um.announcedHere()
	return front.said != prose.Never && um.heldCalls(front)
}

// announcedHere returns the text before this point, and a judgment of how well that text announces
// a call. The call begins here and has no marks such as <tool_call> around it.
func (um *unmarked) announcedHere() announcement {
	front := um.page.announcement()
	said := um.doubt.judged(front)
	switch {
	case um.calledInFront():
		said = prose.Never
	case said != prose.Surely && um.goesOnCalling():
		said = prose.Surely
	}
	return announcement{said, string(front)}
}

// calledInFront reports whether a call that the reply has before this point became text. In that
// case the call here is not run alone, since it may depend on the earlier one.
func (um *unmarked) calledInFront() bool {
	if um.trial.refused || um.calls.done > 0 {
		return um.trial.refused
	}
	for line := range strings.Lines(string(um.page.announcement())) {
		name, _, ok := strings.Cut(strings.TrimLeft(line, " \t["), "(")
		if ok && um.tools.Find(name) != nil {
			return true
		}
	}
	return false
}

// goesOnCalling reports whether the reply has made a call that has no marks around it, and only one
// line of prose follows that call. A model that makes such a call, and writes another after "And
// Oslo:", means the second call too.
func (um *unmarked) goesOnCalling() bool {
	front := um.page.announcement()
	return um.calls.markless &&
		prose.GoesOn(append([]byte{'\n'}, front[bytes.LastIndexByte(front, '\n')+1:]...))
}

// The patterns by which calls without marks are read. JSON at the start of the reply streams from
// its commit point, because waiting for the end would hide all progress of a model that has no
// marks, such as Llama 3. Two newlines before such a call belong to it (Glue), since templates have
// at most two.
var (
	bareStream = &declaration.Pattern{Family: new(declaration.Family), Glue: 2,
		Parts: []declaration.Part{{Placeholder: "calls"}}}
	bareObjects = &declaration.Pattern{Family: new(declaration.Family), Glue: 2,
		Parts: []declaration.Part{{Placeholder: "calls"}}}
	bareJSON = &declaration.Pattern{Family: new(declaration.Family), Glue: 2,
		Parts: []declaration.Part{{Placeholder: "name"}, {Placeholder: "json"}}}
	barePython = &declaration.Pattern{Family: new(declaration.Family), Glue: 2,
		Parts: []declaration.Part{{Placeholder: "python"}}}
	bareCounted = &declaration.Pattern{Family: new(declaration.Family), Glue: 2,
		Parts: []declaration.Part{{Placeholder: "name"},
			{Lit: declaration.NewLiteral(":", "name", "count")}, {Placeholder: "count"},
			{Placeholder: "json"}}}
)

// heldCalls reads calls without marks tentatively, as a draft, and reports whether they were taken.
// Either all of them are sent or none, because calls with text between them are alternatives to
// choose from. They are taken if the text before the first one announces it, and nothing follows
// them but white space, a special token that closes a call, the end, or prose that continues from
// them. With `--calls eager` any text may follow.
func (um *unmarked) heldCalls(front announcement) bool {
	refused := false
	taken := um.drafts.draft(maxUnmarked, func() bool {
		end := um.Pos
		for um.bareCall() {
			end = um.Pos
			um.Pos += um.Space(0)
		}
		refused = um.drafts.complete() && um.drafts.announcedBy(front)
		if !refused || um.which == Eager || um.closedBySpecial() || um.marks.over(0) {
			return refused
		}
		um.Pos = end
		return um.goesOn()
	})
	um.trial.refused = um.trial.refused || refused && !taken
	return taken
}

// goesOn reports whether the text after a draft's calls continues from them: with prose on lines of
// its own up to the end of the reply, or with more calls. What the prose says was weighed, see
// [drafts.announcedBy].
func (um *unmarked) goesOn() bool {
	behind := um.page.behind()
	prosaic := bytes.HasPrefix(behind, []byte("\n")) && !bytes.Contains(behind, []byte("```"))
	return prosaic || um.callsFollow()
}

// callsFollow reports whether the reply continues in prose and more calls without marks, and ends
// with a call or with prose. In that case the calls here are meant as well. For example, a model
// that reads a file, describes its contents and sends a mail must read the file first, so taking
// only the last call would be wrong. The position is restored.
func (um *unmarked) callsFollow() bool {
	start := um.drafts.checkpoint()
	found, proseAt := false, start.pos
	plain := func() bool {
		return prose.GoesOn(append([]byte{'\n'}, um.Slice(proseAt, um.Pos)...))
	}
	for !found && um.At(0) >= 0 && !um.trial.exhausted() {
		n := um.Run(0, scan.Unlimited, func(c int) bool { return c >= 0 && c != '\n' })
		um.Pos += n
		um.Pos += um.Space(0)
		done := um.calls.done
		if c := um.At(0); c == '`' {
			n = um.fenceLine()
			found = n > 0 && plain() && um.fenceOfCalls(n)
		} else {
			found = c >= 0 && um.names.callAhead(c, true) && plain() && um.bareCall()
		}
		if found = found && um.calls.done > done; found {
			proseAt, found = um.Pos, um.marks.over(0)
		}
	}
	found = found || proseAt > start.pos && um.marks.over(0) && plain()
	um.trial.waste += um.Pos - start.pos
	um.drafts.restore(&start)
	return found
}

// bareCall reads one call that has no marks such as <tool_call> around it, in any form, and reports
// whether it did. JSON comes first, since a list of objects begins like a list of Python calls.
func (um *unmarked) bareCall() bool {
	done := um.calls.done
	for _, p := range []*declaration.Pattern{bareObjects, barePython, bareJSON, bareCounted} {
		if um.patterns.attempt(p) == committed && um.calls.done > done {
			return true
		}
	}
	return false
}

// readsUnmarked reports whether calls without marks are read. Under `--calls strict` they are read
// only if the family's own form has no marks or is a fence, as those of the agent and of gemma3
// are. That option runs what the family's own engine would run: bare JSON is llama3's form, but not
// hermes's.
func (um *unmarked) readsUnmarked() bool {
	if um.which != Strict {
		return true
	}
	return slices.ContainsFunc(um.marks.f.Calls, func(p *declaration.Pattern) bool {
		return p.Markless() || p.IsFence()
	})
}
