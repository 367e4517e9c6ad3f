package declaration

import (
	"regexp"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// Literal is a fixed piece of an example: as it is printed, and as it is matched. The two differ
// since models do not write marks to the byte: where the template has <function=get_weather>, they
// write <function = "get_weather">.
type Literal struct {
	Text  string
	Units []unit
}

// unit is the smallest thing a literal matches: a byte, or one of the elastic places below. A list
// of units instead of a regular expression lets the decoder match while bytes arrive and say "so
// far it fits".
type unit struct {
	Kind UnitKind
	Byte byte
}

// UnitKind is how a unit is matched. All but Exact take what models were seen to write in that
// place, and nothing that could turn one mark into another.
type UnitKind uint8

// The places of a literal: a byte, and where models write more or less than the example.
const (
	Exact      UnitKind = iota // this byte
	anySpace                   // white space or none, also the two characters \ n: a border between two marks
	blanks                     // the same inside one mark: it is no border, so the mark is not looked for in pieces
	Pad                        // the same where the example has none: kimi-k3 writes <|open|> tools <|sep|>, too
	SomeSpace                  // at least one white space, between two words: "function call" is not "functioncall"
	OneNewline                 // a newline or none: it belongs to the mark, more of them to the value
	AnyQuote                   // ", ', “, \" or nothing: <invoke name=get_time>
	AnyEquals                  // = with white space around it: <function = get_time>
	Suffix                     // a colon and a word, or nothing: see SuffixHole
	AnyBar                     // a full-width bar, or the ASCII one that models write for it: <|tool▁calls▁begin|>
)

// SuffixHole stands inside a literal for a suffix of its checkpoint: <tool_call{sfx}> is also
// <tool_call:opensource>.
const SuffixHole = "{sfx}"

// WideBar is the bar in DeepSeek's marks, U+FF5C. Its tokenizer has <｜tool▁calls▁begin｜> as one
// token; a model that spells the mark out instead takes the bar of the keyboard.
const WideBar = "｜"

// MaxSuffix bounds a suffix, in bytes. The longest known is ":opensource"; without a bound any word
// behind a colon would have to be read to its end before a mark could be refused.
const MaxSuffix = 32

// NewLiteral compiles a text that stands between two holes, "" for none. Rests of literals, behind
// a mark that is missing or that the prompt has written, are compiled again, since what is first in
// them has changed. before and after are the words of the holes, which decide how white space and
// quotes at the edges are read.
func NewLiteral(text, before, after string) Literal {
	return Literal{Text: text, Units: units(text, before, after)}
}

// Exactly returns a literal without elastic places, for marks that no model writes otherwise:
// CDATA's are XML's, not a family's.
func Exactly(text string) Literal {
	l := Literal{Text: text}
	for i := range len(text) {
		l.Units = append(l.Units, unit{Byte: text[i]})
	}
	return l
}

// units compiles a literal that stands between two holes (or the pattern's ends). What stands
// beside it decides what its white space means: beside {value} one newline is the mark's and the
// next the value's, beside {name} all of it is nothing.
//
//	beside {value}, {reasoning}, {text}   one newline is the mark's, the rest is data
//	between two letters                   at least one white space
//	any other place                       any white space or none
func units(text, before, after string) []unit {
	var out []unit
	for i := 0; i < len(text); i++ {
		c := text[i]
		first, last := i == 0, i == len(text)-1
		switch {
		case strings.HasPrefix(text[i:], SuffixHole):
			out = append(out, unit{Kind: Suffix})
			i += len(SuffixHole) - 1
		case strings.HasPrefix(text[i:], WideBar):
			out = append(out, unit{Kind: AnyBar})
			i += len(WideBar) - 1
		case c == '\n' && last && after == "text" && !first && scan.IsLetter(text[i-1]):
			out = append(out, unit{Kind: Exact, Byte: c}) // it ends the word
		case c == '\n' && (first && rawHole(before) || last && rawHole(after)):
			out = append(out, unit{Kind: OneNewline})
		case c == '\n':
			out = appendSpace(out, anySpace)
		case c == ' ' && !first && !last && scan.IsLetter(text[i-1]) && scan.IsLetter(text[i+1]):
			out = appendSpace(out, SomeSpace)
		case c == ' ':
			out = appendSpace(out, blanks)
		case c == '"' && (first && before != "" || last && after != ""):
			out = append(out, unit{Kind: AnyQuote})
		case c == '=':
			out = append(out, unit{Kind: AnyEquals})
		default:
			if c == '<' && !first && text[i-1] == '>' { // between two tags
				out = append(out, unit{Kind: anySpace})
			} else if !first && isSeam(text[i-1], c) {
				out = append(out, unit{Kind: Pad})
			}
			out = append(out, unit{Kind: Exact, Byte: c})
		}
	}
	return out
}

// isSeam reports whether two bytes of a mark can be in different tokens: <|open|>tools<|sep|>.
// Detokenizers may put a blank there. Kimi K3's were seen to: <|open|> tools <|sep|>.
func isSeam(before, c byte) bool {
	word := scan.IsLetter(before) || before == '"'
	return before == '>' && scan.IsLetter(c) || word && (c == '<' || c == '[')
}

// rawHole reports whether a hole's text is taken as it is, so that white space beside it is data,
// except for one newline: a file's content that begins with an empty line keeps it. How many
// newlines belong to the mark is declared by the family and never guessed from the reply: when
// guessed, 22 of 122 texts of qwen3-coder went wrong.
func rawHole(word string) bool { return word == "reasoning" || word == "value" || word == "text" }

// appendSpace adds a place for white space, unless one stands there already: two would take the
// same bytes, and the second never any. The freer one stays.
func appendSpace(list []unit, k UnitKind) []unit {
	if n := len(list); n > 0 && (list[n-1].Kind == anySpace || list[n-1].Kind == blanks) {
		if k == anySpace {
			list[n-1].Kind = k
		}
		return list
	}
	return append(list, unit{Kind: k})
}

// Key returns the literal's first solid piece, which the index of marks looks for. It ends where
// models may write something else, so the bytes of the key are in every reply that has the mark. Of
// <invoke name="{name}"> it is <invoke: the blank after that may be two, and = may be written with
// blanks around it.
func (l Literal) Key() string {
	var key []byte
	for _, u := range l.Units {
		switch {
		case u.Kind == Exact:
			key = append(key, u.Byte)
		case u.Kind == AnyBar:
			key = append(key, WideBar...)
		case u.Kind == Pad:
		case len(key) > 0:
			return string(key)
		}
	}
	return string(key)
}

// Head returns the piece of the literal that [Literal.Key] is the text of, with the other spellings
// of its bars and its seams. The next argument's tag is recognised by it, <parameter= of
// <parameter=city>, where what follows is not known yet.
func (l Literal) Head() Literal {
	for i, u := range l.Units {
		if solid := u.Kind == Exact || u.Kind == AnyBar || u.Kind == Pad; !solid && i > 0 {
			return Literal{Units: l.Units[:i]}
		}
	}
	return l
}

// Pieces splits a literal at its elastic white space: </function>\n</tool_call> are two closers,
// and a model may leave out either.
func (l Literal) Pieces() []Literal {
	var out []Literal
	start := 0
	cut := func(end int) {
		if end > start {
			out = append(out, Literal{Units: l.Units[start:end]})
		}
	}
	for i, u := range l.Units {
		if u.Kind == anySpace {
			cut(i)
			start = i + 1
		}
	}
	cut(len(l.Units))
	return out
}

// asciiBars returns a mark as models write it that have no full-width bars. Both spellings are in
// the index, so that looking for one of them stays a comparison of bytes.
func asciiBars(key string) string { return strings.ReplaceAll(key, WideBar, "|") }

// Plain returns the literal as text, for comparing it with damaged ones: each elastic place is
// written in its most common form.
func (l Literal) Plain() string {
	var out []byte
	for _, u := range l.Units {
		switch u.Kind {
		case Exact:
			out = append(out, u.Byte)
		case AnyBar:
			out = append(out, WideBar...)
		case AnyQuote:
			out = append(out, '"')
		case AnyEquals:
			out = append(out, '=')
		case blanks, SomeSpace:
			out = append(out, ' ')
		case OneNewline, anySpace:
			out = append(out, '\n')
		}
	}
	return string(out)
}

// Trimmed returns the literal without the line breaks at its edges.
func (l Literal) Trimmed() Literal {
	units := l.Units
	isBreak := func(u unit) bool { return u.Kind == OneNewline || u.Kind == anySpace }
	for len(units) > 0 && isBreak(units[0]) {
		units = units[1:]
	}
	for len(units) > 0 && isBreak(units[len(units)-1]) {
		units = units[:len(units)-1]
	}
	return Literal{Units: units}
}

// suffixAtEnd is a suffix of a checkpoint at the end of a text.
var suffixAtEnd = regexp.MustCompile(`:[\w-]{1,32}$`)

// CutSuffix cuts a literal off the end of a text. It is as [Literal.Plain] has it, but for suffixes
// and white space: of that any may stand where the literal lets it pass, or none.
func (l Literal) CutSuffix(text string) (string, bool) {
	for i := len(l.Units) - 1; i >= 0; i-- {
		ok := true
		switch u := l.Units[i]; u.Kind {
		case Exact:
			if u.Byte != '\n' || strings.HasSuffix(text, "\n") {
				text, ok = strings.CutSuffix(text, string([]byte{u.Byte}))
			}
		case AnyBar:
			text, ok = strings.CutSuffix(text, WideBar)
		case AnyQuote:
			text, ok = strings.CutSuffix(text, `"`)
		case AnyEquals:
			text, ok = strings.CutSuffix(trimSpace(text), "=")
			text = trimSpace(text)
		case Suffix:
			if at := suffixAtEnd.FindStringIndex(text); at != nil {
				text = text[:at[0]]
			}
		case OneNewline:
			text = strings.TrimRight(text, "\n")
		default:
			text = trimSpace(text)
		}
		if !ok {
			return text, false
		}
	}
	return text, true
}

// trimSpace cuts white space off the end of a text.
func trimSpace(text string) string { return strings.TrimRight(text, " \t\r\n") }
