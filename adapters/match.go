package adapters

import (
	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// patterns reads calls by the patterns of families. It goes from part to part of a pattern and
// passes each placeholder to its reader, so that a new family needs a declaration and no
// code.
type patterns struct {
	below
	names   *names
	closers *closers
	args    *arguments
	objects *objects
	python  *python
	tagged  *tagged
}

// match is the result of an attempt to read a call: mismatch, incomplete, matched or committed. It
// has a short name because every function returns one that reads a part of a possible call.
type match = scan.Match

const (
	mismatch   = scan.Mismatch
	incomplete = scan.Incomplete
	matched    = scan.Matched
	committed  = scan.Committed
)

// incompleteAtEnd returns incomplete if c is -1, the end of the text, and m otherwise. Attempts use
// it to distinguish a failure at the end of the text from one at a byte that does not match.
func incompleteAtEnd(c int, m match) match { return scan.IncompleteAtEnd(c, m) }

// attempt tries to read a call by the pattern p from here, and returns the result of the method
// match. Failed attempts together may read only a bounded number of bytes, so that hostile text
// takes linear time. While an attempt reads, no bytes after trial.pin are dropped from the buffer,
// because the next pattern may read them again. For the first call of a section of calls, the
// newlines that belong to the call are those before the section.
func (pt *patterns) attempt(p *declaration.Pattern) match {
	return pt.trial.attemptBy(p, func() match { return pt.match(p) })
}

// match reads a call by the pattern p, part by part up to the arguments. The reader of the
// arguments then commits the call. Nothing is sent before that, so all of it can be taken back; see
// the three rules in doc.go. It returns mismatch or incomplete if a part does not match. A pattern
// without a placeholder for arguments is a call without arguments.
func (pt *patterns) match(p *declaration.Pattern) match {
	if f := p.Family.Form; f != nil {
		return pt.formed(f)
	}
	var t *toolset.Tool
	id := ""
	pt.marks.skipDoubled(p)
	for i, part := range p.Parts {
		a := matched
		switch {
		// [TOOL_CALLS]list_files and the end
		case t != nil && pt.nothingMore(p, t):
			pt.calls.commitWith(t, id, "{}")
			pt.calls.endCall(false)
			return committed
		case part.Placeholder == "":
			a = pt.marks.skipLiteral(part.Lit, t != nil && !p.Headless && pt.marks.opens(p, i+1))
		case part.Placeholder == "name":
			t, a = pt.names.name(p, i)
		// Inkling's name before its mark
		case part.Placeholder == "junk":
			a = pt.names.junk(p, i)
		case part.Placeholder == "id":
			id, a = pt.names.id(p, i)
			// only the id names the tool: functions.NAME:0
			if a == matched && p.Index("name") < 0 {
				t, a = pt.names.meantBy(id, p, i+1)
			}
		case part.Placeholder == "count":
			a = pt.names.count()
		case part.Placeholder == "index":
			a = pt.names.callNumber(p.Parts[i+1].Lit)
		default:
			return pt.body(p, i, t, id)
		}
		if a != matched {
			return a
		}
	}
	if t == nil {
		return mismatch
	}
	pt.calls.commitWith(t, id, "{}")
	pt.calls.endCall(true)
	return committed
}

// nothingMore reports whether the model ended its reply after the name of the tool t, which needs
// no arguments. Models leave out the rest of such a call: a reply that ends after
// "[TOOL_CALLS]list_files" is a call of list_files with {}. It returns false if t needs arguments.
// The mark before the name must be one of the model's own family, or a special token: after another
// model's "Action: list_files" only a sentence may have ended.
func (pt *patterns) nothingMore(p *declaration.Pattern, t *toolset.Tool) bool {
	return (p.Family == pt.marks.f || p.Special()) && !p.Markless() &&
		len(t.Type().Required()) == 0 && pt.marks.over(0)
}

// body reads the arguments of a call, which are the placeholder p.Parts[i] of the pattern, and the
// rest of the call. Which reader is used depends only on the placeholder, not on the family, so all
// families share the eight forms of arguments. It returns mismatch if t is nil and the form can be
// read only with a known tool.
func (pt *patterns) body(p *declaration.Pattern, i int, t *toolset.Tool, id string) match {
	switch p.Parts[i].Placeholder {
	case "call", "calls":
		// A pair of special tokens that holds nothing is dropped, and is not a call.
		// Inkling's get_time<|content_invoke_tool_json|><|end_message|> would be markup as text. A
		// pair that looks like tags, <tool_call></tool_call>, stays text: people write about those.
		if n, ok := pt.marks.closerAt(pt.Space(0), p); ok && p.Special() {
			pt.page.afterCall = true
			return pt.page.dropMark(n, p.Glue)
		}
		return pt.objects.read(p)
	case "named":
		return pt.objects.namedObjects(p)
	case "python":
		return pt.python.read(p)
	}
	// without a tool the names of the arguments are not known
	if t == nil {
		return mismatch
	}
	if p.Parts[i].Placeholder == "args" {
		return pt.tagged.read(p, t, id)
	}
	return pt.namedCall(p, t, id)
}

// namedCall reads the arguments of a tool that is known already: a JSON object, a string or null in
// place of the object, or only a closing tag. If it does not return committed, the position is
// restored. DeepSeek V3 writes the arguments in a fence of their own, and closes it or not. A
// surplus brace after the arguments is dropped: models write it as if {"arguments": …} were around
// them.
func (pt *patterns) namedCall(p *declaration.Pattern, t *toolset.Tool, id string) match {
	start := pt.Pos
	a := pt.closers.enclosed(p, t, id, func() match {
		return pt.args.read(t, id, lenient.DelimsOf(p.Family.Quotes))
	})
	if a != committed {
		pt.Pos = start
	}
	return a
}

// anyCall tries all call patterns of a family here, since several begin with the same mark. It
// returns incomplete if none of them commits and one was incomplete, and mismatch if none matches.
func (pt *patterns) anyCall(f *declaration.Family) match {
	a := mismatch
	for _, p := range f.Calls {
		switch pt.attempt(p) {
		case committed:
			return committed
		case incomplete:
			a = incomplete
		}
	}
	return a
}
