package adapters

import (
	"strings"

	"bytes"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// names reads the names of offered tools, and ids that contain such a name. Names are checked first
// because this costs least: most text that begins like a call is rejected at the first letter that
// no offered name has there.
type names struct {
	below
}

// name reads a tool's name, which is part i of the pattern, and returns the tool. It returns
// mismatch if no offered tool is named, and incomplete if the text ends in the name. The text is
// compared byte by byte with the offered names, so the attempt ends at the first wrong byte:
// "[TOOL_CALLS] But then" is text from the B, also at the end of the reply. Names may contain - . /
// and begin with _, so a class of characters would miss some. Mistral's models sometimes write a
// bracket or quote before the name, which is skipped.
func (ns *names) name(p *declaration.Pattern, i int) (*toolset.Tool, match) {
	ns.Pos += ns.Space(0)
	// a stray character before the name: [TOOL_CALLS][get_weather[ARGS]{…}
	if c := ns.At(0); c == '[' || c == '"' {
		ns.Pos++
	}
	t, n, a := ns.offered(0, func(n, c int) bool {
		// only the name, as in [TOOL_CALLS]list_files</s>: the model ended its reply here, or a
		// mark of the turn does
		if n > 0 && ns.marks.mayEnd(n) && ns.marks.over(n) &&
			ns.tools.Find(string(ns.Slice(ns.Pos, ns.Pos+n))) != nil {
			return true
		}
		// the end of a name depends on the family: [ARGS], a newline, a brace, a tag
		return c >= 0 && ns.nameEnds(p, i, n, c)
	})
	if a != matched {
		// half a name of an offered tool: a call that was cut, not a word of prose
		ns.trial.evidence = ns.trial.evidence || a == incomplete && n > 0
		return nil, a
	}
	if ns.Pos += n; ns.At(0) == '"' {
		ns.Pos++
	}
	if size := ns.strayCloser(p, 0); size > 0 {
		ns.Pos += size
		ns.Repaired("extra-closer")
	}
	return t, matched
}

// strayCloser returns the length of the closing tag of an argument's key at offset n, where no key
// was opened. It returns 0 if there is no such tag. Models write the tool's name as if it were a
// key, as in <tool_call>get_time</arg_key><arg_key>….
func (ns *names) strayCloser(p *declaration.Pattern, n int) int {
	for _, arg := range p.Family.Args {
		if len(arg.Parts) < 4 || !strings.HasPrefix(arg.Parts[2].Lit.Text, "</") {
			continue
		}
		if end, a := ns.marks.literal(n, arg.Parts[2].Lit.Pieces()[0]); a == matched {
			return end - n
		}
	}
	return 0
}

// offered reads the name of an offered tool, which begins at offset i, and returns the tool and the
// offset where the name ends. It calls the function ends for each byte, and also at the end of the
// reply; the name ends where that function returns true. It returns mismatch at the first byte that
// no offered name has there, and incomplete if the reply ends in the name. All forms of calls use
// it, so a name costs one look-up a byte, and a text that only begins like a call is rejected
// early.
func (ns *names) offered(i int, ends func(n, c int) bool) (*toolset.Tool, int, match) {
	for n := i; n < toolset.MaxName; n++ {
		c := ns.At(n)
		switch {
		case ends(n, c):
			if t := ns.tools.Find(string(ns.Slice(ns.Pos+i, ns.Pos+n))); t != nil {
				return t, n, matched
			}
			return nil, n, mismatch
		case c < 0:
			return nil, n, incomplete
		case !ns.tools.Begins(ns.Slice(ns.Pos+i, ns.Pos+n+1)):
			return nil, n, mismatch
		}
	}
	return nil, toolset.MaxName, mismatch
}

// nameEnds reports whether the byte c at offset n ends a name that is part i of the pattern. It
// does if a newline, a tab, a brace, a quote, the next literal of the pattern, an argument or a
// closing tag begins there. A newline may also be escaped as \ and n, as some servers send it. A
// blank does not end a name, since "get weather" may be a spelling of get_weather. If the tag of a
// key or a closing tag is in place of the next literal, the model has left out the literal.
func (ns *names) nameEnds(p *declaration.Pattern, i, n, c int) bool {
	if c == '\n' || c == '\r' || c == '\t' || c == '{' || c == '"' ||
		c == '\\' && ns.At(n+1) == 'n' {
		return true
	}
	// the literal of the pattern; a cut literal counts, since only the end of the text can follow
	if l := p.Parts[i+1].Lit; begins(l, c) {
		if _, a := ns.marks.literal(n, l); a != mismatch {
			return true
		}
	}
	// the literal is missing: <tool_call>f<arg_key>…, where the newline or <tool_sep> was left out
	for _, arg := range p.Family.Args {
		l := arg.Parts[0].Lit
		if ns.marks.hasKey(n, l) || begins(l, c) && ns.marks.cutIn(n, l) {
			return true
		}
	}
	for _, l := range p.Close {
		if ns.marks.hasKey(n, l) {
			return true
		}
	}
	return c == '<' && ns.strayCloser(p, n) > 0
}

// junk skips text without a meaning, up to the literal after part i. For example, Inkling writes
// another name before its mark, and the tool's name after it. It returns mismatch if that literal
// does not follow within toolset.MaxName bytes, or if another mark comes first. Another mark is
// never skipped, because a whole message of text would be lost. It returns incomplete if the text
// ends first.
func (ns *names) junk(p *declaration.Pattern, i int) match {
	for n := 0; n < toolset.MaxName; n++ {
		switch c := ns.At(n); {
		case c < 0:
			return incomplete
		case begins(p.Parts[i+1].Lit, c):
			ns.Pos += n
			_, a := ns.marks.literal(0, p.Parts[i+1].Lit)
			return a
		case ns.marks.marksAt(n) != nil:
			return mismatch
		}
	}
	return mismatch
}

// callNumber skips the number of a call, up to the literal l. Kimi K3 counts its calls from 1, as
// in index="1". The number only repeats the order of the calls, so it is ignored, and may be any
// text. It returns mismatch if the literal does not follow on the line, and incomplete if the text
// ends first.
func (ns *names) callNumber(l declaration.Literal) match {
	n := ns.marks.upTo(0, l)
	if n <= 0 {
		return incompleteAtEnd(n, mismatch)
	}
	ns.Pos += n
	return matched
}

// count skips the number of a call, if no mark follows the number. An example is
// functions.get_weather:0{…}, Kimi K2's call without its control tokens, in which the arguments
// directly follow the 0. It returns mismatch if there is no number, and incomplete at the end of
// the text.
func (ns *names) count() match {
	n := ns.Run(0, maxWord, func(c int) bool { return scan.IsDigit(byte(c)) })
	if n == 0 {
		return incompleteAtEnd(ns.At(0), mismatch)
	}
	ns.Pos += n
	return matched
}

// meantBy returns the tool that a call's id means, for a pattern that has no name. That is the tool
// whose name is in the id. If the id is only a counter, it is the one tool that takes the arguments
// after part k of the pattern; if several do, none is chosen, since a guess might call the wrong
// one. It returns mismatch if there is no such tool, and incomplete if the arguments are cut. Kimi
// K2 writes functions.get_weather:0 and get_weather:0, but also a bare 0, call00003 or call_<uuid>.
// The arguments are only read ahead, and are read again by the pattern. Their bytes count as waste,
// like those of any attempt, so many such ids take linear time.
func (ns *names) meantBy(id string, p *declaration.Pattern, k int) (*toolset.Tool, match) {
	// functions.get_weather:0
	if t := ns.tools.InID(id); t != nil {
		return t, matched
	}
	// 0, call00003
	if !toolset.IsCounter(id) || k+1 >= len(p.Parts) {
		return nil, mismatch
	}
	start := ns.Pos
	defer func() { ns.trial.waste, ns.Pos = ns.trial.waste+ns.Pos-start, start }()
	if a := ns.marks.skipLiteral(p.Parts[k].Lit, ns.marks.opens(p, k+1)); a != matched {
		return nil, a
	}
	ns.Pos += ns.Space(0)
	if c := ns.At(0); c != '{' {
		return nil, incompleteAtEnd(c, mismatch)
	}
	args, a := ns.Capture(func() { ns.Value(nil) })
	if a != matched {
		return nil, a
	}
	t := ns.tools.Taking(scan.Fields(string(args)))
	if t == nil {
		return nil, mismatch
	}
	return t, matched
}

// id reads a call's id, which is part i of the pattern, and returns it byte for byte, for servers
// that need it again. The id ends at the next literal of the pattern. That mark may be missing, as
// in functions.f:0{…}, so a brace ends the id too, unless the call has already lost its first mark.
// It returns mismatch if the text cannot be an id, or if the id has to name an offered tool and
// does not. It returns incomplete if the text ends in the id.
func (ns *names) id(p *declaration.Pattern, i int) (string, match) {
	ns.Pos += ns.Space(0)
	for n := 0; n < toolset.MaxName; n++ {
		c := ns.At(n)
		// an id alone, after which the reply ends: the tool takes no arguments
		if n > 0 && p.Index("name") < 0 && ns.marks.mayEnd(n) && ns.marks.over(n) {
			if id := string(ns.Slice(ns.Pos, ns.Pos+n)); ns.tools.InID(id) != nil {
				ns.Pos += n
				return id, matched
			}
		}
		if c < 0 {
			return "", incomplete
		}
		// the mark after it, or the body itself if the mark was lost
		if i+1 < len(p.Parts) && n > 0 {
			skip := ns.Space(n)
			_, a := ns.marks.literal(n+skip, p.Parts[i+1].Lit)
			if a == matched || c == '{' && !p.Headless && p.PlaceholderAt(i+2) == "json" {
				id := string(bytes.TrimSpace(ns.Slice(ns.Pos, ns.Pos+n)))
				ns.Pos += n + skip
				return id, matched
			}
			// functions.get_time:1<|tool_call_arg: a mark that is cut by the end is not part of the
			// id
			if a == incomplete {
				return "", incomplete
			}
		}
		// no id contains these: the text is prose
		if scan.IsSpace(c) || c == '{' {
			return "", mismatch
		}
		// the id has to name a tool, and no longer can
		if p.Index("name") < 0 && !ns.tools.BeginsID(ns.Slice(ns.Pos, ns.Pos+n+1)) {
			return "", mismatch
		}
	}
	return "", mismatch
}

// nameString reads a quoted name of an offered tool, and returns the tool. It returns mismatch at
// the first letter that no offered name has there, so no more than that is held back: {"name":
// "Oslo"} is an answer. It returns incomplete if the text ends in the name.
func (ns *names) nameString(q lenient.Delim) (*toolset.Tool, match) {
	t, n, a := ns.offered(len(q.Open), func(n, c int) bool {
		return c == int(q.Close[0]) && ns.Has(n, q.Close)
	})
	if a == matched {
		ns.Pos += n + len(q.Close)
	}
	return t, a
}

// maxWord bounds the keys that names looks at, in bytes.
const maxWord = 24

// callAhead reports, after a quick look, whether a call may begin with the byte c here. A call
// begins as an object whose first key is known to begin calls, as a list of such objects or of
// Python calls, or with an offered name at the start of a line. Most text is rejected. callAhead is
// called at every brace, bracket and line of prose, so it looks at a few bytes and does not move.
// Runs of brackets and blanks are bounded, so that a text of a million brackets takes linear time.
func (ns *names) callAhead(c int, line bool) bool {
	i := 0
	for ; c == '[' && i < maxWord; c = ns.At(i) {
		i++
		i += ns.Run(i, maxWord, scan.IsSpace)
	}
	if c == '{' {
		return ns.envelopeAhead(i)
	}
	return (line || i > 0) && scan.IsWord(c) && ns.nameAhead(i)
}

// envelopeAhead reports whether the object at offset i begins with a key that an object around
// arguments has, such as name. Braces may be doubled, {{"name": …}}, as in a template that was
// copied.
func (ns *names) envelopeAhead(i int) bool {
	i += ns.Run(i, maxWord, func(c int) bool { return c == '{' || scan.IsSpace(c) })
	if c := ns.At(i); c == '"' || c == '\'' {
		i++
	}
	key := string(ns.Slice(ns.Pos+i, ns.Pos+i+ns.Run(i, maxWord, scan.IsWord)))
	return lenient.NameKeys[key] || lenient.ArgsKeys[key] || lenient.IdKeys[key] || wrapKeys[key] ||
		listKeys[key] || key == "type"
}

// nameAhead reports whether an offered name and the opening of its arguments are at offset i. It
// also returns true if the text ends in the name. Names are compared with the offered ones letter
// by letter, so a line of prose is rejected at its first letters.
func (ns *names) nameAhead(i int) bool {
	// models that were trained on code print the result of a tool: print(get_weather(city="Paris"))
	if ns.Has(i, "print(") {
		return true
	}
	for n := i; n < i+toolset.MaxName; n++ {
		c := ns.At(n)
		if c == '(' || c == '{' || c == ' ' || c == '\n' {
			n += ns.Space(n)
			c = ns.At(n)
			return c == '(' || c == '{'
		}
		if c < 0 {
			return n > i
		}
		// functions.NAME:0{…}, the rest of one of Kimi's calls without its control tokens
		if c == ':' && n > i {
			next := ns.At(n + 1)
			return next >= '0' && next <= '9'
		}
		if !ns.tools.Begins(ns.Slice(ns.Pos+i, ns.Pos+n+1)) {
			return ns.Has(n, "call(") && n > i
		}
	}
	return false
}

// wordNames reports whether the word here is the name of an offered tool, or an id that contains
// such a name. A word of prose differs from every offered name within a few letters, so this is
// fast.
func (ns *names) wordNames() bool {
	begun := 0
	n := ns.Run(0, toolset.MaxName, func(c int) bool {
		begun++
		return scan.IsName(c) && ns.tools.BeginsID(ns.Slice(ns.Pos, ns.Pos+begun))
	})
	return !scan.IsName(ns.At(n)) && ns.tools.InID(string(ns.Slice(ns.Pos, ns.Pos+n))) != nil
}
