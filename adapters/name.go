package adapters

import (
	"bytes"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// name reads a tool's name: as long as it can still become an offered one, up to what follows in the pattern.
// Comparing byte by byte with what is offered ends the attempt at the first wrong one: "[TOOL_CALLS] But then" is text at the
// B, also at the end of the reply. Names hold - . / and begin with _, so a class of characters would lose some. A bracket or
// quote in front is a slip of Mistral's models ("a stray [ after the mark").
func (d *decoder) name(p *declaration.Pattern, i int) (*toolset.Tool, match) {
	d.Pos += d.Space(0)
	// a stray sign in front: [TOOL_CALLS][get_weather[ARGS]{…}
	if c := d.At(0); c == '[' || c == '"' {
		d.Pos++
	}
	t, n, a := d.offered(0, func(n, c int) bool {
		// nothing but the name, [TOOL_CALLS]list_files</s>: the model ended its reply here, or a mark of the turn does
		if n > 0 && d.mayEnd(n) && d.over(n) && d.tools.Find(string(d.Slice(d.Pos, d.Pos+n))) != nil {
			return true
		}
		// what ends a name depends on the family: [ARGS], a newline, a brace, a tag
		return c >= 0 && d.nameEnds(p, i, n, c)
	})
	if a != matched {
		// half a name of an offered tool: a call that was cut, and no word of prose
		d.evidence = d.evidence || a == incomplete && n > 0
		return nil, a
	}
	if d.Pos += n; d.At(0) == '"' {
		d.Pos++
	}
	return t, matched
}

// offered reads the name of an offered tool from offset i on, as long as it can still become one, up to where ends says
// that it is over, and answers where that is.
// It is incomplete at the end of the reply, which ends is asked about as well.
// Whatever a family puts behind a name, it is read here: so a text that only begins like a call ends at its first wrong byte in
// every form, and a name costs one look-up a byte.
func (d *decoder) offered(i int, ends func(n, c int) bool) (*toolset.Tool, int, match) {
	for n := i; n < toolset.MaxName; n++ {
		c := d.At(n)
		switch {
		case ends(n, c):
			if t := d.tools.Find(string(d.Slice(d.Pos+i, d.Pos+n))); t != nil {
				return t, n, matched
			}
			return nil, n, mismatch
		case c < 0:
			return nil, n, incomplete
		case !d.tools.Begins(d.Slice(d.Pos+i, d.Pos+n+1)):
			return nil, n, mismatch
		}
	}
	return nil, toolset.MaxName, mismatch
}

// mayEnd is a quick look at whether the reply may end at offset i, behind a name: [over] decides.
func (d *decoder) mayEnd(i int) bool {
	c := d.At(i)
	return c < 0 || scan.IsSpace(c) || d.marksAt(i) != nil
}

// nameEnds says whether what stands at offset n ends a name: a newline, a brace, the next literal, an argument or a closer.
// A tab or newline, also one spelled as \ and n, ends every name; a blank does not, since "get weather" may be a spelling of
// get_weather. A key tag or a closer in place of the next literal says that this one was left out.
// A backslash with an n is a newline that a server has escaped.
func (d *decoder) nameEnds(p *declaration.Pattern, i, n, c int) bool {
	if c == '\n' || c == '\r' || c == '\t' || c == '{' || c == '"' || c == '\\' && d.At(n+1) == 'n' {
		return true
	}
	// the literal of the pattern; cut within it counts, since only the end of the text can follow
	if l := p.Parts[i+1].Lit; begins(l, c) {
		if _, a := d.literal(n, l); a != mismatch {
			return true
		}
	}
	// it is missing: <tool_call>f<arg_key>…, where the newline or <tool_sep> was left out
	for _, arg := range p.Family.Args {
		if d.hasKey(n, arg.Parts[0].Lit) {
			return true
		}
	}
	for _, l := range p.Close {
		if d.hasKey(n, l) {
			return true
		}
	}
	return false
}

// junk steps over what means nothing, up to the next literal; never over another mark.
// Inkling writes a name of its own in front of the mark, and the one inside counts. It must not cross a mark: it would
// swallow a whole message of text.
func (d *decoder) junk(p *declaration.Pattern, i int) match {
	for n := 0; n < toolset.MaxName; n++ {
		switch c := d.At(n); {
		case c < 0:
			return incomplete
		case begins(p.Parts[i+1].Lit, c):
			d.Pos += n
			_, a := d.literal(0, p.Parts[i+1].Lit)
			return a
		case d.marksAt(n) != nil:
			return mismatch
		}
	}
	return mismatch
}

// begins says whether a literal can begin with the byte.
// It saves comparing a whole literal at every byte. White space may stand for nothing, so then the second unit counts too.
func begins(l declaration.Literal, c int) bool {
	if len(l.Units) == 0 {
		return false
	}
	switch u := l.Units[0]; u.Kind {
	case declaration.Exact:
		return int(u.Byte) == c
	// a quote of any kind, or none and what follows it
	case declaration.AnyQuote:
		return c == '"' || c == '\'' || c == '\\' || len(l.Units) > 1 && int(l.Units[1].Byte) == c
	case declaration.AnyEquals:
		return c == '=' || scan.IsSpace(c)
	}
	return scan.IsSpace(c) || len(l.Units) > 1 && int(l.Units[1].Byte) == c
}

// callNumber steps over the number of a call, up to the next literal.
// Kimi K3 counts its calls from 1, index="1"; the number says nothing that their order does not.
// The literal behind the number ends it; a number may be any text, as only its place is known.
func (d *decoder) callNumber(l declaration.Literal) match {
	n := d.upTo(0, l)
	if n <= 0 {
		return incompleteAtEnd(n, mismatch)
	}
	d.Pos += n
	return matched
}

// count steps over the number of a call, which has no mark behind it.
// functions.get_weather:0{…} is Kimi K2's call without its control tokens: behind the number come the arguments at once.
func (d *decoder) count() match {
	n := d.Run(0, maxWord, func(c int) bool { return scan.IsDigit(byte(c)) })
	if n == 0 {
		return incompleteAtEnd(d.At(0), mismatch)
	}
	d.Pos += n
	return matched
}

// meantBy is the tool that an id without a name stands for: the one that it names or, where it is a counter, the only one
// that takes the arguments behind literal k of the pattern.
// Kimi K2 writes functions.get_weather:0, get_weather:0, but also a bare 0, call00003 or call_<uuid>. With a counter the keys of
// the arguments tell, if they fit one tool only; to guess between two would call the wrong one. They are read and given
// back: the pattern reads them once more.
// Bytes read for that count as waste, like those of any attempt, so many such ids stay linear.
func (d *decoder) meantBy(id string, p *declaration.Pattern, k int) (*toolset.Tool, match) {
	// functions.get_weather:0
	if t := d.tools.InID(id); t != nil {
		return t, matched
	}
	// 0, call00003
	if !toolset.IsCounter(id) || k+1 >= len(p.Parts) {
		return nil, mismatch
	}
	start := d.Pos
	defer func() { d.waste, d.Pos = d.waste+d.Pos-start, start }()
	if a := d.skipLiteral(p.Parts[k].Lit, d.opens(p, k+1)); a != matched {
		return nil, a
	}
	d.Pos += d.Space(0)
	if c := d.At(0); c != '{' {
		return nil, incompleteAtEnd(c, mismatch)
	}
	args, a := d.Capture(func() { d.Value(nil) })
	if a != matched {
		return nil, a
	}
	t := d.tools.Taking(scan.Fields(string(args)))
	if t == nil {
		return nil, mismatch
	}
	return t, matched
}

// id reads a call's id up to the next literal: where it has to name the tool, as long as it can.
// A server that needs its ids again gets them byte for byte. The id may have lost the mark behind it, functions.f:0{…}, so a brace
// ends it too, unless the call has lost its first mark already.
func (d *decoder) id(p *declaration.Pattern, i int) (string, match) {
	d.Pos += d.Space(0)
	for n := 0; n < toolset.MaxName; n++ {
		c := d.At(n)
		// an id alone, behind which the reply ends: the tool takes no arguments
		if n > 0 && p.Hole("name") < 0 && d.mayEnd(n) && d.over(n) {
			if id := string(d.Slice(d.Pos, d.Pos+n)); d.tools.InID(id) != nil {
				d.Pos += n
				return id, matched
			}
		}
		if c < 0 {
			return "", incomplete
		}
		// the mark behind it, or the body at once where that was lost
		if i+1 < len(p.Parts) && n > 0 {
			skip := d.Space(n)
			_, a := d.literal(n+skip, p.Parts[i+1].Lit)
			if a == matched || c == '{' && !p.Headless && p.HoleAt(i+2) == "json" {
				id := string(bytes.TrimSpace(d.Slice(d.Pos, d.Pos+n)))
				d.Pos += n + skip
				return id, matched
			}
			// functions.get_time:1<|tool_call_arg: a mark that the end cuts is none of the id
			if a == incomplete {
				return "", incomplete
			}
		}
		// no id holds these: what is read is prose
		if scan.IsSpace(c) || c == '{' {
			return "", mismatch
		}
		// it has to name a tool, and cannot any more
		if p.Hole("name") < 0 && !d.tools.BeginsID(d.Slice(d.Pos, d.Pos+n+1)) {
			return "", mismatch
		}
	}
	return "", mismatch
}
