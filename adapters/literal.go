package adapters

import (
	"strings"
)

// literal is a fixed piece of an example: as it is printed, and as it is matched.
type literal struct {
	text  string
	units []unit
}

// unit is the smallest thing a literal matches: a byte, or one of the elastic places below.
type unit struct {
	kind unitKind
	b    byte
}

type unitKind uint8

const (
	exact      unitKind = iota
	anySpace            // white space or none, also the two characters \ n
	blanks              // the same, but inside a mark: no border between two
	pad                 // the same where the example has none: models put blanks inside a mark that is made of several tokens
	someSpace           // at least one white space
	oneNewline          // a newline or none: it belongs to the mark, more of them to the value
	aQuote              // ", ', \" or nothing
	anEquals            // = with white space around it
	suffix              // a colon and a word, or nothing
	aBar                // a full-width bar, or the ASCII one that models write for it
)

// suffixHole stands inside a literal for a suffix of its checkpoint: <tool_call{sfx}> is also <tool_call:opensource>.
const suffixHole = "{sfx}"

// wideBar is the bar in DeepSeek's marks.
const wideBar = "｜"

// maxSuffix bounds a suffix, in bytes.
const maxSuffix = 32

// newLiteral compiles a text that stands between two holes, "" for none.
func newLiteral(text, before, after string) literal {
	return literal{text: text, units: units(text, before, after)}
}

// exactly is a literal without elastic places.
func exactly(text string) literal {
	l := literal{text: text}
	for i := range len(text) {
		l.units = append(l.units, unit{b: text[i]})
	}
	return l
}

// units compiles a literal that stands between two holes (or the pattern's ends).
func units(text, before, after string) []unit {
	var out []unit
	for i := 0; i < len(text); i++ {
		c := text[i]
		first, last := i == 0, i == len(text)-1
		switch {
		case strings.HasPrefix(text[i:], suffixHole):
			out = append(out, unit{kind: suffix})
			i += len(suffixHole) - 1
		case strings.HasPrefix(text[i:], wideBar):
			out = append(out, unit{kind: aBar})
			i += len(wideBar) - 1
		case c == '\n' && last && after == "text" && !first && latin(text[i-1]):
			out = append(out, unit{kind: exact, b: c}) // it ends the word
		case c == '\n' && (first && rawHole(before) || last && rawHole(after)):
			out = append(out, unit{kind: oneNewline})
		case c == '\n':
			out = appendSpace(out, anySpace)
		case c == ' ' && !first && !last && latin(text[i-1]) && latin(text[i+1]):
			out = appendSpace(out, someSpace)
		case c == ' ':
			out = appendSpace(out, blanks)
		case c == '"' && (first && before != "" || last && after != ""):
			out = append(out, unit{kind: aQuote})
		case c == '=':
			out = append(out, unit{kind: anEquals})
		default:
			if c == '<' && !first && text[i-1] == '>' { // between two tags
				out = append(out, unit{kind: anySpace})
			} else if !first && isSeam(text[i-1], c) {
				out = append(out, unit{kind: pad})
			}
			out = append(out, unit{kind: exact, b: c})
		}
	}
	return out
}

// isSeam says whether a mark goes on from one token to the next between two bytes: <|open|>tools<|sep|>.
func isSeam(before, c byte) bool {
	word := latin(before) || before == '"'
	return before == '>' && latin(c) || word && (c == '<' || c == '[')
}

// rawHole says whether a hole's text is taken as it is, so that white space beside it is data but for one newline.
func rawHole(word string) bool { return word == "reasoning" || word == "value" || word == "text" }

func appendSpace(list []unit, k unitKind) []unit {
	if n := len(list); n > 0 && (list[n-1].kind == anySpace || list[n-1].kind == blanks) {
		if k == anySpace {
			list[n-1].kind = k
		}
		return list
	}
	return append(list, unit{kind: k})
}

func latin(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// key is the literal's first solid piece: what the index of marks looks for.
func (l literal) key() string {
	var key []byte
	for _, u := range l.units {
		switch {
		case u.kind == exact:
			key = append(key, u.b)
		case u.kind == aBar:
			key = append(key, wideBar...)
		case u.kind == pad:
		case len(key) > 0:
			return string(key)
		}
	}
	return string(key)
}

// head is the piece of the literal that key is the text of.
func (l literal) head() literal {
	for i, u := range l.units {
		if solid := u.kind == exact || u.kind == aBar || u.kind == pad; !solid && i > 0 {
			return literal{units: l.units[:i]}
		}
	}
	return l
}

// pieces splits a literal at its elastic white space: the closers of a call one by one.
func (l literal) pieces() []literal {
	var out []literal
	start := 0
	cut := func(end int) {
		if end > start {
			out = append(out, literal{units: l.units[start:end]})
		}
	}
	for i, u := range l.units {
		if u.kind == anySpace {
			cut(i)
			start = i + 1
		}
	}
	cut(len(l.units))
	return out
}

// asciiBars is a mark as models write it that have no full-width bars.
func asciiBars(key string) string { return strings.ReplaceAll(key, wideBar, "|") }
