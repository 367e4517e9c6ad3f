package declaration

import (
	"regexp"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// Literal is the fixed text between two placeholders of an example, as it is printed, and the units
// by which it is matched in replies. The two differ because models vary such texts: where the
// template has <function=get_weather>, they write <function = "get_weather">.
type Literal struct {
	Text  string
	Units []unit
}

// unit is the smallest part of a literal, which is a fixed text of an example. A unit matches one
// byte, or a kind of text that may vary, such as white space or a quotation mark. Unlike a regular
// expression, a list of units can be matched while bytes arrive.
type unit struct {
	Kind UnitKind
	Byte byte
}

// UnitKind says which text a unit matches. A unit of the kind Exact matches one byte and nothing
// else. A unit of any other kind also matches other spellings that models have used, such as a
// missing quotation mark. But no kind is so loose that one mark, such as <tool_call>, could match
// another.
type UnitKind uint8

// The kinds of units: a byte, and places where models write more or less than the example.
const (
	Exact    UnitKind = iota // this byte
	anySpace                 // white space or none, or the two characters \n: between two marks
	blanks                   // the same inside one mark, which is not split into pieces there
	// Pad is the same where the example has no white space: kimi-k3 also writes <|open|> tools
	// <|sep|>.
	Pad
	SomeSpace  // at least one white space, between two words, as in "function call"
	OneNewline // a newline or none; further newlines belong to the value
	AnyQuote   // ", ', “, \" or nothing: <invoke name=get_time>
	AnyEquals  // = with white space around it: <function = get_time>
	Suffix     // a colon and a word, or nothing: see SuffixPlaceholder
	// AnyBar is a full-width bar, or the ASCII bar that models write instead: <|tool▁calls▁begin|>.
	AnyBar
)

// SuffixPlaceholder is the place for the suffix of a checkpoint in a literal. For example,
// <tool_call{sfx}> also matches <tool_call:opensource>.
const SuffixPlaceholder = "{sfx}"

// WideBar is the bar in DeepSeek's marks, U+FF5C. Its tokenizer has <｜tool▁calls▁begin｜> as one
// token. A model that spells the mark out uses the ASCII bar instead.
const WideBar = "｜"

// MaxSuffix bounds a suffix, in bytes. The longest known is ":opensource". Without a bound, any
// word after a colon would have to be read to its end before a mark could be refused.
const MaxSuffix = 32

// NewLiteral returns a literal that finds a fixed text in replies. The fixed text is a part of an
// example in a declaration: in <tool_call>{json}</tool_call>, one fixed text is before the
// placeholder {json} and one is after it. The parameters before and after are the names of the
// placeholders next to the text, such as "json", or "" if there is none. They decide how white
// space and quotation marks at the edges of the text are matched (see units).
func NewLiteral(text, before, after string) Literal {
	return Literal{Text: text, Units: units(text, before, after)}
}

// Exactly returns a literal that matches only its own text. It is for texts that models do not
// vary, such as <![CDATA[ in XML.
func Exactly(text string) Literal {
	l := Literal{Text: text}
	for i := range len(text) {
		l.Units = append(l.Units, unit{Byte: text[i]})
	}
	return l
}

// units compiles a fixed text of an example to the units that match it. The parameters before and
// after are the names of the placeholders next to it, or "" at the ends of the example. They decide
// whether white space belongs to the fixed text or to the data:
//
//	next to {value}, {reasoning}, {text}   one newline belongs to the text, the rest is data
//	between two letters                    at least one white space
//	any other place                        any white space or none
func units(text, before, after string) []unit {
	var out []unit
	for i := 0; i < len(text); i++ {
		c := text[i]
		first, last := i == 0, i == len(text)-1
		switch {
		case strings.HasPrefix(text[i:], SuffixPlaceholder):
			out = append(out, unit{Kind: Suffix})
			i += len(SuffixPlaceholder) - 1
		case strings.HasPrefix(text[i:], WideBar):
			out = append(out, unit{Kind: AnyBar})
			i += len(WideBar) - 1
		case c == '\n' && last && after == "text" && !first && scan.IsLetter(text[i-1]):
			out = append(out, unit{Kind: Exact, Byte: c}) // the newline ends the word
		case c == '\n' && (first && rawPlaceholder(before) || last && rawPlaceholder(after)):
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

// isSeam reports whether a tag such as <|open|>tools<|sep|> may be divided into tokens between two
// of its bytes, before and c. Some servers put a blank between such tokens, as in Kimi K3's
// <|open|> tools <|sep|>.
func isSeam(before, c byte) bool {
	word := scan.IsLetter(before) || before == '"'
	return before == '>' && scan.IsLetter(c) || word && (c == '<' || c == '[')
}

// rawPlaceholder reports whether the placeholder named word stands for a text that is used
// unchanged. White space at the edges of the text is data, because a file may begin with an empty
// line. Only one newline at an edge may belong to the fixed text next to the placeholder. The
// declaration says whether it does, because guessing that from the reply gave a wrong value for 22
// of 122 texts of qwen3-coder.
func rawPlaceholder(word string) bool {
	return word == "reasoning" || word == "value" || word == "text"
}

// appendSpace appends a unit that matches white space. If the list already ends with such a unit,
// only the one that matches more remains, because the second of two would never match anything.
func appendSpace(list []unit, k UnitKind) []unit {
	if n := len(list); n > 0 && (list[n-1].Kind == anySpace || list[n-1].Kind == blanks) {
		if k == anySpace {
			list[n-1].Kind = k
		}
		return list
	}
	return append(list, unit{Kind: k})
}

// Key returns the first part of the literal that models do not vary, or "" if there is none. Every
// reply that has the literal contains it, so the index of marks looks for it. For example, the key
// of <invoke name="{name}"> is <invoke, because models write two blanks after it, and blanks around
// =.
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

// Head returns the beginning of the literal as far as [Literal.Key] goes, such as <invoke of
// <invoke name="{name}">. Unlike the key, which is a text, it also matches spellings with other
// bars or blanks. By it the decoder recognises the tag of the next argument before it knows the
// parameter's name.
func (l Literal) Head() Literal {
	for i, u := range l.Units {
		if solid := u.Kind == Exact || u.Kind == AnyBar || u.Kind == Pad; !solid && i > 0 {
			return Literal{Units: l.Units[:i]}
		}
	}
	return l
}

// Pieces splits a literal (a fixed text of an example) at white space whose amount may vary, and
// returns nil if nothing is left. For example, </function>\n</tool_call> are two closing tags, and
// a model may leave out either.
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

// asciiBars returns a tag such as <｜end｜> with ASCII bars instead of full-width ones, as some
// models write it. Both are in the index, so that a look-up compares bytes only.
func asciiBars(key string) string { return strings.ReplaceAll(key, WideBar, "|") }

// Plain returns the literal as text. Where the literal matches several texts, such as any quotation
// mark, the result has the most common one. Damaged marks are compared with this text.
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

// Trimmed returns the literal (a fixed text of an example) without the line breaks at its edges.
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

// suffixAtEnd matches the suffix of a checkpoint at the end of a text.
var suffixAtEnd = regexp.MustCompile(`:[\w-]{1,32}$`)

// CutSuffix returns a text without the literal at its end, and false if the text does not end with
// the literal. Any amount of white space, and any suffix in place of {sfx}, matches. All other
// signs must be those of [Literal.Plain].
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

// trimSpace removes white space from the end of a text.
func trimSpace(text string) string { return strings.TrimRight(text, " \t\r\n") }
