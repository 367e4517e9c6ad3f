package adapters

import (
	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/prose"
	"toolnorm/adapters/internal/scan"
)

// unmarked reads calls that carry no marks, or lost the one that opens them.
type unmarked struct {
	*scan.Buffer
	marks    *marks
	page     *page
	calls    *calls
	names    *names
	patterns *patterns
	drafts   *drafts
	doubt    *doubt
	openers  opener
	which    Which // which texts that look like calls are calls
}

// maxUnmarked bounds a call without marks that is held until it is whole, in bytes.
// It is held in memory and may be read twice, as text and as a call. A larger one behind prose stays text.
const maxUnmarked = 1 << 16

// read reads calls that carry no marks: JSON, a fence, a name with its arguments behind it. They need evidence. At the
// start of the reply (behind reasoning, or behind another call) JSON with an offered name and a first argument that is a
// parameter streams; everything else is held to its end and must be announced, complete and the last thing.
//
//	{"name": "get_weather", "arguments": {"city": "Rome"}}    llama3's own form, and what other models leave of theirs
//	get_weather{"city": "Rome"}   get_weather(city="Rome")    a name with its arguments behind it
//	functions.get_weather:0{"city": "Rome"}                   Kimi's, where a server has hidden the control tokens
func (um *unmarked) read(c int, line bool) bool {
	switch {
	case !um.readsUnmarked():
		return false
	case c == '`':
		return um.fenced(um.page.blank)
	case !um.names.callAhead(c, line):
		return false
	}
	start := um.page.blank
	if start && (c == '{' || c == '[') && um.patterns.attempt(bareStream) == committed {
		return true
	}
	text := um.page.announcement()
	said := um.doubt.judged(text)
	return (start || said != prose.Shown) && um.heldCalls(!start && said == prose.IfNamed, string(text))
}

// The patterns that calls without marks are read by. JSON at the start of the reply streams from its commit point: to wait for the
// end would hide all progress of a model that has no marks, as Llama 3's is.
// Two newlines in front of such a call are glue, as templates have at most two.
var (
	bareStream  = &declaration.Pattern{Family: new(declaration.Family), Glue: 2, Parts: []declaration.Part{{Hole: "calls"}}}
	bareObjects = &declaration.Pattern{Family: new(declaration.Family), Glue: 2, Parts: []declaration.Part{{Hole: "calls"}}}
	bareJSON    = &declaration.Pattern{Family: new(declaration.Family), Glue: 2, Parts: []declaration.Part{{Hole: "name"}, {Hole: "json"}}}
	barePython  = &declaration.Pattern{Family: new(declaration.Family), Glue: 2, Parts: []declaration.Part{{Hole: "python"}}}
	bareCounted = &declaration.Pattern{Family: new(declaration.Family), Glue: 2, Parts: []declaration.Part{{Hole: "name"}, {Lit: declaration.NewLiteral(":", "name", "count")}, {Hole: "count"}, {Hole: "json"}}}
)

// heldCalls reads calls as a draft.
// All of them leave or none: with text between two they are alternatives to choose from.
// Behind the calls white space, a special closer, or the end: prose makes an example of them, unless `--calls eager`.
// Where the text in front announces a call only by naming its tool, it has to.
func (um *unmarked) heldCalls(named bool, text string) bool {
	return um.drafts.draft(maxUnmarked, func() bool {
		for um.bareCall() {
			um.Pos += um.Space(0)
		}
		return um.drafts.complete() && (!named || um.drafts.namedIn(text)) && (um.which == Eager || um.closedBySpecial() || um.marks.over(0))
	})
}

// bareCall reads one call without marks here, whichever form it has.
// JSON comes first, since a list of objects begins like a list of Python calls.
func (um *unmarked) bareCall() bool {
	done := um.calls.done
	for _, p := range []*declaration.Pattern{bareObjects, barePython, bareJSON, bareCounted} {
		if um.patterns.attempt(p) == committed && um.calls.done > done {
			return true
		}
	}
	return false
}

// readsUnmarked says whether calls without marks count: not where only the family's own form does, unless that is it.
// `--calls strict` runs what the family's own engine would: bare JSON is llama3's form, and hermes's it is not.
// Families whose form is a fence, the agent's and gemma3, are read in it as well.
func (um *unmarked) readsUnmarked() bool {
	if um.which != Strict {
		return true
	}
	for _, p := range um.marks.f.Calls {
		if p.Markless() || p.IsFence() {
			return true
		}
	}
	return false
}
