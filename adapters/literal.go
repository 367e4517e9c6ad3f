package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
)

// literal matches a literal at offset i and returns the offset after it. It returns mismatch if the
// text differs, and incomplete if the text ended before the literal did. The section "White space"
// of docs/families.md describes the tolerated differences: any newline of a declaration matches any
// white space or none, a quote may be another one or missing, and a bar may be ASCII's or
// DeepSeek's wide one. All other bytes must be equal, since they distinguish one mark from another.
func (ms *marks) literal(i int, l declaration.Literal) (int, match) {
	for _, u := range l.Units {
		switch u.Kind {
		case declaration.Exact:
			switch ms.At(i) {
			case int(u.Byte):
				i++
			case -1:
				return i, incomplete
			default:
				return i, mismatch
			}
		// next to a value or reasoning only one newline belongs to the mark; the rest is data
		case declaration.OneNewline:
			if ms.At(i) == '\n' {
				i++
			}
		case declaration.AnyBar:
			n, a := ms.bar(i)
			if a != matched {
				return i, a
			}
			i += n
		case declaration.AnyQuote:
			i = ms.optionalQuote(i)
		case declaration.Suffix:
			i = ms.optionalSuffix(i)
		// between two tags: <function = f>
		case declaration.Pad:
			i += ms.Space(i)
		case declaration.AnyEquals:
			i += ms.Space(i)
			if c := ms.At(i); c != '=' {
				return i, incompleteAtEnd(c, mismatch)
			}
			i++
			i += ms.Space(i)
		default:
			n := ms.Elastic(i)
			if n == 0 && u.Kind == declaration.SomeSpace {
				return i, incompleteAtEnd(ms.At(i), mismatch)
			}
			i += n
		}
	}
	return i, matched
}

// bar returns the length of the bar at offset i. It returns mismatch if there is none, and
// incomplete if the text ends in it. DeepSeek's marks have the wide bar, U+FF5C, but
// <|tool▁calls▁begin|> with ASCII's bar means the same.
func (ms *marks) bar(i int) (int, match) {
	if ms.At(i) == '|' {
		return 1, matched
	}
	for n := range len(declaration.WideBar) {
		if c := ms.At(i + n); c != int(declaration.WideBar[n]) {
			return 0, incompleteAtEnd(c, mismatch)
		}
	}
	return len(declaration.WideBar), matched
}

// hasKey reports whether the first part of the literal, up to white space or a value, is at offset
// i. Its bars may be ASCII's or DeepSeek's wide ones. The rest of the literal need not be there.
func (ms *marks) hasKey(i int, l declaration.Literal) bool {
	_, a := ms.literal(i, l.Head())
	return a == matched && len(l.Units) > 0
}

// optionalQuote returns the offset after a quote at offset i, or i if there is none. MiniMax M2 and
// Dots write name="f", name='f' and name=f. The quotes may also be curly, or be escaped as in a
// JSON string.
func (ms *marks) optionalQuote(i int) int {
	switch ms.At(i) {
	case '"', '\'':
		return i + 1
	case '\\':
		if ms.At(i+1) == '"' {
			return i + 2
		}
	case int(curly[0]):
		if c := ms.At(i + 2); ms.At(i+1) == int(curly[1]) && c >= int(curly[2]) &&
			c <= int(curly[2])+2 {
			return i + len(curly)
		}
	}
	return i
}

// curly is the first of the curly quotes “ ” „. Their last bytes are consecutive.
const curly = "“"

// optionalSuffix returns the offset after a colon and a word at offset i, or i if there is no
// colon. Hunyuan's checkpoints end every tag with a word of their own, as in
// <tool_calls:opensource> and <arg_key:6124c78e>.
func (ms *marks) optionalSuffix(i int) int {
	if ms.At(i) != ':' {
		return i
	}
	return i + 1 + ms.Run(i+1, declaration.MaxSuffix-1, func(c int) bool {
		return scan.IsWord(c) || c == '-'
	})
}

// begins reports whether a literal can begin with the byte c. It saves comparing a whole literal at
// every byte. The text may lack the white space or quote with which a literal begins, so begins
// also returns true if c is the literal's second byte.
func begins(l declaration.Literal, c int) bool {
	if len(l.Units) == 0 {
		return false
	}
	switch u := l.Units[0]; u.Kind {
	case declaration.Exact:
		return int(u.Byte) == c
	// a quote of any kind, or no quote and the text after it
	case declaration.AnyQuote:
		return c == '"' || c == '\'' || c == '\\' || c == int(curly[0]) ||
			len(l.Units) > 1 && int(l.Units[1].Byte) == c
	case declaration.AnyEquals:
		return c == '=' || scan.IsSpace(c)
	}
	return scan.IsSpace(c) || len(l.Units) > 1 && int(l.Units[1].Byte) == c
}

// skipLiteral skips a literal, and white space before it. It returns mismatch if the literal is not
// here, and incomplete if the text ends in it. If optional is true, it returns matched in both
// cases, because the literal may be missing: [TOOL_CALLS]NAME{…} has lost its [ARGS], which servers
// drop as a control token.
func (ms *marks) skipLiteral(l declaration.Literal, optional bool) match {
	n, a := ms.literal(0, l)
	// white space that the literal does not show
	if space := ms.Space(0); a == mismatch && space > 0 {
		if n, a = ms.literal(space, l); a == mismatch {
			n = 0
		}
	}
	if a == matched {
		ms.Pos += n
	} else if optional {
		return matched
	}
	return a
}

// skipDoubled skips a repetition of the opener, if there is one. Poolside's models write
// <tool_call><tool_call>f…, where the second opener has no meaning.
func (ms *marks) skipDoubled(p *declaration.Pattern) {
	if p.Markless() {
		return
	}
	n, a := ms.literal(0, p.Open)
	if a != matched {
		return
	}
	n += ms.Space(n)
	if _, a = ms.literal(n, p.Open); a == matched {
		ms.Pos += n
	}
}

// skipOpener skips what the reply repeats from the end of its prompt: the mark that opens
// reasoning, or only the newline that belongs to the mark. The parameter newline says that the
// prompt had that newline. Models repeat the mark: a prompt that ends with <think>\n gets a reply
// that begins with <think>.
func (ms *marks) skipOpener(p *declaration.Pattern, newline bool) {
	if n, a := ms.literal(ms.Space(0), p.Parts[0].Lit); a == matched {
		ms.Pos += n
	} else if !newline && ms.At(0) == '\n' && strings.HasSuffix(p.Parts[0].Lit.Text, "\n") {
		ms.Pos++
	}
}

// opens reports whether the arguments that fill placeholder i of p begin here with a brace. It
// returns false for arguments in tags, which do not begin with a fixed byte; taggedBody looks for
// their first tag.
func (ms *marks) opens(p *declaration.Pattern, i int) bool {
	switch p.PlaceholderAt(i) {
	case "json", "pseudo":
		return ms.At(0) == '{'
	}
	return false
}

// upTo returns the offset at which the literal l occurs after offset i, on the same line or after
// white space that follows the line. It returns 0 if the literal does not occur there. It also
// returns 0 if the literal's first tag occurs without the rest, since a key cannot contain a tag.
// It returns -1 if the text ends before that is known. The results 0 and -1 differ because a text
// that ends in a tag is a cut call, and a text with another tag is not a call.
func (ms *marks) upTo(i int, l declaration.Literal) int {
	for n := i; n < i+lenient.MaxKey; n++ {
		c := ms.At(n)
		if c < 0 {
			return -1
		}
		// the literal can begin here; only then is it compared
		if begins(l, c) {
			switch _, a := ms.literal(n, l); {
			case a == incomplete:
				return -1
			case a == matched && n > i:
				return n
			case c == '<' && ms.hasKey(n, l):
				return 0
			}
		}
		if c == '\n' { // only white space may be on the next lines
			end := n + ms.Space(n)
			switch _, a := ms.literal(end, l); a {
			case incomplete:
				return -1
			case matched:
				return end
			}
			break
		}
	}
	return 0
}

// messageEnds returns the offset after the end mark at offset i, or 0 if there is none. Any of the
// family's marks ends any message, because models mix up <|end|>, <|call|> and <|return|>.
func (ms *marks) messageEnds(p *declaration.Pattern, i int) int {
	for _, m := range p.Family.Ends {
		if ms.Has(i, m) {
			return i + len(m)
		}
	}
	return 0
}

// closerAt reports whether one of the pattern's closing tags is at offset i, and returns the offset
// where it ends. It takes the first that fits: </function> and </tool_call> are two such tags, and
// a model may have left out either. A message has no closing tags of its own, so any of its
// family's end marks closes it.
func (ms *marks) closerAt(i int, p *declaration.Pattern) (int, bool) {
	if p == p.Family.Header {
		n := ms.messageEnds(p, i)
		return n, n > 0
	}
	for _, l := range p.Close {
		if n, a := ms.literal(i, l); a == matched {
			return n, true
		}
	}
	return i, false
}

// sectionEnds reports whether the mark that closes a section of calls is at offset i, and returns
// the offset where it ends. Any such mark of the family ends any of its sections, because models
// open with one word and close with another. DeepSeek V4 knows two words: tool_calls, and V3.2's
// function_calls.
func (ms *marks) sectionEnds(i int, f *declaration.Family) (int, bool) {
	for _, p := range f.Sections {
		if end, ok := ms.closerAt(i, p); ok {
			return end, true
		}
	}
	return i, false
}

// cutCloser reports whether the text ends inside a closing tag of the call or of its section, such
// as </tool_call>, that begins at offset i. The text before such a tag is complete.
func (ms *marks) cutCloser(p *declaration.Pattern, i int) bool {
	if ms.At(i) < 0 {
		return false
	}
	cut := func(l declaration.Literal) bool {
		_, a := ms.literal(i, l)
		return a == incomplete
	}
	return slices.ContainsFunc(p.Close, cut) ||
		slices.ContainsFunc(p.Family.Sections, func(s *declaration.Pattern) bool {
			return slices.ContainsFunc(s.Close, cut)
		})
}
