package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// bodyStops are the bytes at which copying a message's body stops.
var bodyStops = lenient.StopsFor("<")

// rawBody reads the body of a call's message that is no JSON: program text, which is the value of the tool's only
// parameter. A tool with more of them, or with one that is no string, has no such calls; nor is one what holds marks.
func (d *decoder) rawBody(p *declaration.Pattern, t *tool) match {
	names := t.schema().Members()
	if len(names) != 1 || !t.schema().Prop(names[0]).Allows(schema.String) || !d.isProgram(p) {
		return mismatch
	}
	d.commit(t, "")
	d.Put("{" + schema.Quote(names[0]) + `:"`)
	q := lenient.Delim{Close: "<", Stops: bodyStops}
	for {
		d.CopyPlain(q)
		c := d.At(0)
		switch {
		case c < 0:
			d.Out.Broken = d.lengthCut()
		case d.bodyEnds(p, 0):
		case c >= 0x80:
			d.Rune()
			continue
		default:
			d.Out.JSON = schema.AppendEscaped(d.Out.JSON, string(rune(c)))
			d.Pos++
			continue
		}
		d.Put(`"}`)
		d.Repaired("raw-arguments")
		return committed
	}
}

// bodyEnds says whether the body of a message ends at offset i.
func (d *decoder) bodyEnds(p *declaration.Pattern, i int) bool {
	if d.At(i) != '<' {
		return false
	}
	end := d.messageEnds(p, i)
	return end > 0 && d.messageFollows(p, end)
}

// tagHeads begin the tags and marks in which other families write calls and their arguments.
var tagHeads = []string{"<|", "<｜", "<parameter", "<param ", "<arg_", "<invoke", "<function", "<tool_call"}

// isProgram says whether the body that begins here is program text rather than arguments in a form of their own: JSON, a
// string, or markup.
func (d *decoder) isProgram(p *declaration.Pattern) bool {
	n := d.Space(0)
	if n < scan.MaxSpace && strings.IndexByte("{[<\"", byte(max(d.At(n), 0))) >= 0 {
		return false
	}
	if _, isKey := d.KeyAt(n + 1); isKey && d.At(n) == '(' && d.StartsString(n+1) {
		return false
	}
	for n := 0; d.At(n) >= 0 && !d.bodyEnds(p, n); n++ {
		if d.At(n) == '<' && slices.ContainsFunc(tagHeads, func(head string) bool { return d.Has(n, head) }) {
			return false
		}
	}
	return true
}
