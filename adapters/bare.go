package adapters

import (
	"bytes"
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/prose"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
)

// maxUnmarked bounds a call without marks that is held until it is whole, in bytes.
// It is held in memory and may be read twice, as text and as a call. A larger one behind prose stays text.
const maxUnmarked = 1 << 16

// unmarked reads calls that carry no marks: JSON, a fence, a name with its arguments behind it. They need evidence. At the
// start of the reply (behind reasoning, or behind another call) JSON with an offered name and a first argument that is a
// parameter streams; everything else is held to its end and must be announced, complete and the last thing.
//
//	{"name": "get_weather", "arguments": {"city": "Rome"}}    llama3's own form, and what other models leave of theirs
//	get_weather{"city": "Rome"}   get_weather(city="Rome")    a name with its arguments behind it
//	functions.get_weather:0{"city": "Rome"}                   Kimi's, where a server has hidden the control tokens
func (d *decoder) unmarked(c int, line bool) bool {
	switch {
	case !d.readsUnmarked():
		return false
	case c == '`':
		return d.fenced(d.blank)
	case !d.callAhead(c, line):
		return false
	}
	start := d.blank
	if start && (c == '{' || c == '[') && d.attempt(bareStream) == committed {
		return true
	}
	return (start || (d.announced() || d.goesOnCalling()) && !d.calledInFront()) && d.heldCalls()
}

// calledInFront says whether a call of the reply was not taken, that stands in front of here: then the one here is not run by itself,
// since it may depend on the other.
func (d *decoder) calledInFront() bool {
	if d.refused || d.done > 0 {
		return d.refused
	}
	for line := range strings.Lines(string(d.announcement())) {
		name, _, ok := strings.Cut(strings.TrimLeft(line, " \t["), "(")
		if ok && d.tools.Find(name) != nil {
			return true
		}
	}
	return false
}

// goesOnCalling says whether the last thing but a line of prose was a call without marks: who has called so, and writes another
// behind "And Oslo:", calls again.
func (d *decoder) goesOnCalling() bool {
	front := d.announcement()
	return d.markless && prose.GoesOn(append([]byte{'\n'}, front[bytes.LastIndexByte(front, '\n')+1:]...))
}

// callAhead is a quick look at what begins with c: an object whose first member means something to an envelope, a list of
// those or of Python calls, or an offered name at the start of a line. Most text ends here.
// It is asked at every brace, bracket and line of prose, so it looks at a few bytes and reads nothing.
// A run of brackets and blanks is bounded, so that a text of a million brackets costs its length.
func (d *decoder) callAhead(c int, line bool) bool {
	i := 0
	for ; c == '[' && i < maxWord; c = d.At(i) {
		i++
		i += d.Run(i, maxWord, scan.IsSpace)
	}
	if c == '{' {
		return d.envelopeAhead(i)
	}
	return (line || i > 0) && scan.IsWord(c) && d.nameAhead(i)
}

// envelopeAhead says whether the object at offset i begins with a member that means something to an envelope.
// Braces may be doubled, {{"name": …}}, as in a template that was copied.
func (d *decoder) envelopeAhead(i int) bool {
	i += d.Run(i, maxWord, func(c int) bool { return c == '{' || scan.IsSpace(c) })
	if c := d.At(i); c == '"' || c == '\'' {
		i++
	}
	key := string(d.Slice(d.Pos+i, d.Pos+i+d.Run(i, maxWord, scan.IsWord)))
	return lenient.NameKeys[key] || lenient.ArgsKeys[key] || lenient.IdKeys[key] || wrapKeys[key] || listKeys[key] || key == "type"
}

// maxWord bounds the member names of an envelope, in bytes.
const maxWord = 24

// nameAhead says whether an offered name and its arguments stand at offset i, or are cut there.
// Names go through the list of offered ones letter by letter, so a line of prose is left at its first letters.
func (d *decoder) nameAhead(i int) bool {
	// models that were trained on code print what a tool gives: print(get_weather(city="Paris"))
	if d.Has(i, "print(") {
		return true
	}
	for n := i; n < i+toolset.MaxName; n++ {
		c := d.At(n)
		if c == '(' || c == '{' || c == ' ' || c == '\n' {
			n += d.Space(n)
			c = d.At(n)
			return c == '(' || c == '{'
		}
		if c < 0 {
			return n > i
		}
		if c == ':' && n > i { // functions.NAME:0{…}, what is left of Kimi's calls without their control tokens
			next := d.At(n + 1)
			return next >= '0' && next <= '9'
		}
		if !d.tools.Begins(d.Slice(d.Pos+i, d.Pos+n+1)) {
			return d.Has(n, "call(") && n > i
		}
	}
	return false
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

// bare says whether the arguments of the call that is read must begin with a parameter of its tool, since little else says that it
// is one: {"name": "get_weather", "arguments": {"type": …}} is an echo at the start of a reply, and a word and a brace are program
// text unless a parameter follows in quotes.
func (d *decoder) bare() bool {
	return d.closing == bareStream || d.closing == bareJSON || d.closing == bareCounted
}

// heldCalls reads calls as a draft.
// All of them leave or none: with text between two they are alternatives to choose from.
// Behind the calls white space, a special closer, or the end: prose makes an example of them, unless `--calls eager`.
func (d *decoder) heldCalls() bool {
	refused := false
	taken := d.draft(maxUnmarked, func() bool {
		for d.bareCall() {
			d.Pos += d.Space(0)
		}
		refused = d.complete()
		return refused && (d.which == Eager || d.closedBySpecial() || d.over(0) || d.callsAtEnd())
	})
	d.refused = d.refused || refused && !taken
	return taken
}

// callsAtEnd says whether the reply goes on in prose and ends with more calls without marks: then those here are meant as well.
// Whoever reads a file, says what is in it and sends a mail must read it first: the last call alone is the worst choice.
func (d *decoder) callsAtEnd() bool {
	start := d.checkpoint()
	found := false
	plain := func() bool { return prose.GoesOn(append([]byte{'\n'}, d.Slice(start.pos, d.Pos)...)) }
	for !found && d.At(0) >= 0 && !d.exhausted() {
		n := d.Run(0, scan.Unlimited, func(c int) bool { return c >= 0 && c != '\n' })
		d.Pos += n
		d.Pos += d.Space(0)
		done := d.done
		if c := d.At(0); c == '`' {
			n = d.fenceLine()
			found = n > 0 && plain() && d.fenceOfCalls(n)
		} else {
			found = c >= 0 && d.callAhead(c, true) && plain() && d.bareCall()
		}
		found = found && d.done > done && d.over(0)
	}
	d.waste += d.Pos - start.pos
	d.restore(&start)
	return found
}

// over says whether the model has ended at offset i, behind white space: by itself, or with a mark of the turn that is the
// last thing.
// A reply that was cut by its length has not ended: what would have followed may have made an example of the call.
// A mark of the turn may stand there, <|im_end|>, which servers should not have let through.
func (d *decoder) over(i int) bool {
	i += d.Space(i)
	if m := d.firstMark(i, isTurn); m != nil {
		i += d.markSize(i, m)
		return d.At(i+d.Space(i)) < 0
	}
	return d.At(i) < 0 && !d.lengthCut()
}

// bareCall reads one call without marks here, whichever form it has.
// JSON comes first, since a list of objects begins like a list of Python calls.
func (d *decoder) bareCall() bool {
	done := d.done
	for _, p := range []*declaration.Pattern{bareObjects, barePython, bareJSON, bareCounted} {
		if d.attempt(p) == committed && d.done > done {
			return true
		}
	}
	return false
}

// complete says whether every call of the draft has the parameters that its tool requires and no others.
// With marks a call goes on as the model wrote it and is checked later; without them this is part of the evidence.
// `{"name": "get_weather"}` with nothing else is a record about a tool more often than a call of it.
// It reads the events that would leave, so that what was repaired on the way counts as repaired.
func (d *decoder) complete() bool {
	var draft chat.Collector
	for _, e := range d.drafted {
		draft.Add(e)
	}
	return !slices.ContainsFunc(draft.Complete(), func(c chat.Call) bool { return !d.tools.Named(c.Name).Takes(scan.Fields(string(c.Args))) })
}

// readsUnmarked says whether calls without marks count: not where only the family's own form does, unless that is it.
// `--calls strict` runs what the family's own engine would: bare JSON is llama3's form, and hermes's it is not.
// Families whose form is a fence, the agent's and gemma3, are read in it as well.
func (d *decoder) readsUnmarked() bool {
	if d.which != Strict {
		return true
	}
	for _, p := range d.f.Calls {
		if p.Markless() || p.IsFence() {
			return true
		}
	}
	return false
}
