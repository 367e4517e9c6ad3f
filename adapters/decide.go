package adapters

import (
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/repair"
	"toolnorm/adapters/internal/toolset"
)

// maxBehind bounds how far behind arguments the end of their call is looked for, in bytes.
const maxBehind = 512

// decideArguments is decide for the arguments of a call, which begin at from.
// A member of the envelope, or a tool's name as a key, may follow the arguments.
// Quotes are those of the family, where it has its own.
func (d *decoder) decideArguments(from int, t *toolset.Tool, quotes []lenient.Delim) {
	g := repair.Args{Type: t.Type(), Envelope: func(key string) bool { return lenient.OfEnvelope(key) || d.tools.Find(key) != nil }}
	for _, q := range quotes {
		g.Quotes = append(g.Quotes, q.Open)
	}
	d.decide(from, 0, t.Name, g)
}

// decide decides what JSON means in which something was odd; it begins at from, was written at at, and has just been read. What
// was read of it stands if it is the only likely reading; if another one is, that takes its place, unless something else has
// left already. Else the call can be read in two ways.
// Nothing behind an oddity leaves before (lenient.Output.Odd), so it can still become text, or something else.
func (d *decoder) decide(from, at int, name string, g repair.Args) {
	out := d.Out
	if !out.Odd {
		return
	}
	if from < d.Base || d.Pos-from > lenient.MaxMended {
		out.Doubt = true
		return
	}
	if n := out.BeforeEnd(); !d.drafting && (d.calling.released || n > d.hold) { // what has left must not depend on how the text came in
		d.sendArgs(max(n-out.Sent(), 0))
	}
	end := d.Pos
	defer out.UnseeEnd()()
	text := d.damaged(from)
	if !d.atMark(from, len(text)) && d.lengthCut() && (out.Broken || out.Doubt || d.Unclosed) {
		out.Broken, out.Doubt = true, false // the rest never came
		d.Pos = end
		return
	}
	d.Pos = from
	g.Mark = func(i int) bool { return d.IsMark(i) || d.Has(i, "```") || d.argCloser(i) }
	today := ""
	if !out.Doubt && !out.Broken {
		today = out.From(at)
	}
	m, ok := lenient.Decide(text, g, name, today)
	d.Pos = end
	switch {
	case ok && today != "" && lenient.SameJSON(m.Args, today):
	case ok && out.Replace(at, m.Args):
		out.Doubt, out.Broken, d.Unclosed = false, false, m.Open
		d.Pos = from + m.End
	default:
		// nobody knows what the rest would have been
		over := d.At(from+len(text)-d.Pos) < 0
		cut := !d.atMark(from, len(text)) && (d.Unclosed || out.Broken || over && d.lengthCut())
		out.Broken, out.Doubt = cut, !cut
	}
}

// damaged is the text of arguments that begin at position from, and what stands behind them up to the end of their call.
// Where containers are open, a mark that begins a call may be text; only the call's own closer ends it then.
// Without a mark the text is looked at for a little further, since closers may follow.
func (d *decoder) damaged(from int) string {
	n := 0
	for ; n < maxBehind && d.At(n) >= 0; n++ {
		if _, closer := d.closerAt(n, d.closing); closer || d.argCloser(n) || !d.Unclosed && d.IsMark(n) {
			break
		}
	}
	return string(d.Slice(from, d.Pos+n))
}

// atMark reports whether a mark stands n bytes behind position from.
// A text that ends without one may have been cut.
// One that a mark ends is complete, whatever is missing in it.
func (d *decoder) atMark(from, n int) bool { return d.IsMark(from + n - d.Pos) }
