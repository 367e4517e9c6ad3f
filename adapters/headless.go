package adapters

import (
	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
)

// Models leave out the mark that opens a call, and servers hide it. The rest is a call if the
// family's own marks follow: the mark that closes it, or a mark after its name.

// headlessCall reads a call whose opening mark is missing. The call begins here, at the start of a
// line, with the character c. It reports whether the call was taken. Servers hide control tokens,
// and then LFM2's call is [get_weather(city="Oslo")]<|tool_call_end|>, and Kimi's is
// functions.get_weather:0<|tool_call_argument_begin|>{…}<|tool_call_end|>. The call is read whole
// as a draft, and must be complete and closed by a mark, because a sentence that begins with a
// tool's name is not a call.
func (um *unmarked) headlessCall(c int) bool {
	named := scan.IsWord(c) && um.names.wordNames()
	for _, p := range um.marks.index.Headless {
		placeholder := p.PlaceholderAt(0)
		if p.Headless && um.marks.in.whole {
			continue // tokens show the opening mark, so it is not missing
		}
		// without its mark a call must at least begin with an offered name
		if (placeholder == "name" || placeholder == "id") && !named || !um.mayBe(p, c) {
			continue
		}
		if um.drafts.draft(maxUnmarked, func() bool {
			return um.patterns.attempt(p) == committed && um.calls.closed && um.drafts.complete()
		}) {
			return true
		}
	}
	return false
}

// closedBySpecial skips white space and a special token here that closes calls of some family, and
// reports whether it did. The family does not matter, because ordinary text has no such token.
func (um *unmarked) closedBySpecial() bool {
	i := um.Space(0)
	for _, m := range um.marks.marksAt(i) {
		if m.Kind != declaration.CloseMark || !m.Special() {
			continue
		}
		if n, ok := um.marks.closerAt(i, m.Pattern); ok {
			um.Pos += n
			return true
		}
	}
	return false
}

// mayBe reports, after a quick look, whether a call of the pattern can begin with the character c
// here. It rejects most text. It must accept every call, but it may accept other text too, since
// the whole text is then read tentatively.
func (um *unmarked) mayBe(p *declaration.Pattern, c int) bool {
	switch p.PlaceholderAt(0) {
	case "":
		_, a := um.marks.literal(0, p.Parts[0].Lit)
		return a == matched
	case "name", "id":
		return true
	case declaration.FormPlaceholder:
		return p.Family == um.marks.f
	// [f(a=1)]<|tool_call_end|>
	case "python":
		return (c == '[' || scan.IsWord(c)) && um.names.callAhead(c, true)
	// {"NAME": {…}}<|tools_suffix|>
	case "named":
		return c == '[' || c == '{'
	}
	return (c == '[' || c == '{') && um.names.callAhead(c, true)
}
