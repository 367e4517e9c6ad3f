package scan

import "strings"

// These are the classes of bytes that readers of model text use. Functions with an int parameter
// take the result of At. Its -1 is in no class, and neither are the bytes of longer runes (0x80 and
// above).

// IsLetter reports whether c is an ASCII letter.
func IsLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// IsHex reports whether c is a hexadecimal digit, as in \uXXXX.
func IsHex(c int) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// IsWord reports whether c can occur in a name in most programming languages.
func IsWord(c int) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 0 && c < 0x80 && IsLetter(byte(c))
}

// IsName reports whether c can occur in the name of an offered tool.
func IsName(c int) bool { return IsWord(c) || c == '-' || c == '.' }

// IsQuote reports whether c opens a string in JSON, Python or JavaScript.
func IsQuote(c int) bool { return c == '"' || c == '\'' || c == '`' }

// IsCloser reports whether c closes an object, a list or the arguments of a Python call.
func IsCloser(c int) bool { return c == '}' || c == ']' || c == ')' }

// IsSpace reports whether c is white space in RFC 8259. Other spaces, see OddSpaces, are left to
// the package lenient.
func IsSpace(c int) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// OddSpaces lists the spaces that JSON does not allow between tokens. They are replaced between
// tokens, but inside strings they are data. In this order they are: no-break, ideographic, line and
// paragraph separator, em, en, thin, zero-width, byte order mark.
var OddSpaces = []string{"\u00a0", "\u3000", "\u2028", "\u2029", "\u2003", "\u2002", "\u2009",
	"\u200b", "\ufeff"}

// WordSet returns the set of the words in a text that are separated by white space.
func WordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}
