package adapters

import (
	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// Models leave out the mark that opens a call, and servers hide it. What is left is a call when the family's own marks follow:
// the one that closes it, or one behind its name.

// headlessCall reads a call whose opening mark is missing and that begins with c here, at the start of a line.
// Servers hide control tokens, and then LFM2's call is [get_weather(city="Oslo")]<|tool_call_end|>, Kimi's
// functions.get_weather:0<|tool_call_argument_begin|>{…}<|tool_call_end|>. It is read as a draft, whole, and must be complete
// and closed by a mark: a sentence that begins with a tool's name is no call.
func (d *decoder) headlessCall(c int) bool {
	named := scan.IsWord(c) && d.wordNames()
	for _, p := range d.index.Headless {
		hole := p.HoleAt(0)
		// without its mark a call must at least begin with an offered name
		if (hole == "name" || hole == "id") && !named || !d.mayBe(p, c) {
			continue
		}
		if d.draft(maxUnmarked, func() bool { return d.attempt(p) == committed && d.closed && d.complete() }) {
			return true
		}
	}
	return false
}

// closedBySpecial steps over a special token that closes calls of some family and stands here, behind white space.
// Which family's it is does not matter here: no text has such a token.
func (d *decoder) closedBySpecial() bool {
	i := d.Space(0)
	for _, m := range d.marksAt(i) {
		if m.Kind != declaration.CloseMark || !m.Special() {
			continue
		}
		if n, ok := d.closerAt(i, m.Pattern); ok {
			d.Pos += n
			return true
		}
	}
	return false
}

// mayBe is a quick look at whether a call of the pattern can begin with c here. Most text ends here.
// It must not miss any, and may be wrong the other way: the draft behind it decides.
func (d *decoder) mayBe(p *declaration.Pattern, c int) bool {
	switch p.HoleAt(0) {
	case "":
		_, a := d.literal(0, p.Parts[0].Lit)
		return a == matched
	case "name", "id":
		return true
	// [f(a=1)]<|tool_call_end|>
	case "python":
		return (c == '[' || scan.IsWord(c)) && d.callAhead(c, true)
	// {"NAME": {…}}<|tools_suffix|>
	case "named":
		return c == '[' || c == '{'
	}
	return (c == '[' || c == '{') && d.callAhead(c, true)
}

// wordNames says whether the word here names an offered tool, or is an id that does.
// A word of prose differs from every offered name within a few letters, so this costs next to nothing.
func (d *decoder) wordNames() bool {
	begun := 0
	n := d.Run(0, toolset.MaxName, func(c int) bool {
		begun++
		return scan.IsName(c) && d.tools.BeginsID(d.Slice(d.Pos, d.Pos+begun))
	})
	return !scan.IsName(d.At(n)) && d.tools.InID(string(d.Slice(d.Pos, d.Pos+n))) != nil
}
