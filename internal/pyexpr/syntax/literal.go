package syntax

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// String literals: prefixes r, u and f, single and triple quotes, escapes, and adjacent literals,
// which are joined. Bytes are refused, since JSON could not hold them, and so is \N{name}, which
// would need the names of all characters.

// strings parses adjacent string literals, and returns one constant or f-string for all of them.
//
//	'a' 'b' f'{1}' 'c' → 'ab1c'
func (p *parser) strings() Node {
	var parts []Node
	plain := true
	start := p.peek()
	for p.peek().kind == tokenString {
		t := p.next()
		py.Blame(p.src, t.pos, func() { parts = append(parts, p.literal(t)...) })
	}
	var joined strings.Builder
	for _, part := range parts {
		c, ok := part.(*Const)
		if !ok {
			plain = false
			break
		}
		joined.WriteString(c.Value.(string))
	}
	if plain {
		return &Const{joined.String()}
	}
	return p.place(&Joined{parts}, start.pos)
}

// literal returns the parts of one string literal. A plain literal has one part. It raises an error
// for bytes.
func (p *parser) literal(t token) []Node {
	n := strings.IndexAny(t.text, `'"`)
	prefix := strings.ToLower(t.text[:n])
	quote := t.text[n : n+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(t.text[n:], triple) {
		quote = triple
	}
	body := t.text[n+len(quote) : len(t.text)-len(quote)]
	raw := strings.Contains(prefix, "r")
	switch prefix {
	case "", "u", "r":
		return []Node{&Const{unescape(body, raw)}}
	case "f", "fr", "rf":
		return p.formatted(body, raw, t.pos+n+len(quote))
	case "b", "br", "rb":
		py.Raise(py.SyntaxError, "bytes are not available in expressions")
	}
	py.Raise(py.SyntaxError, "invalid syntax")
	return nil
}

// simpleEscapes maps the character after a backslash to the text that the escape stands for.
var simpleEscapes = map[byte]string{'\n': "", '\\': `\`, '\'': "'", '"': `"`, 'a': "\a", 'b': "\b",
	'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v"}

// unescape returns a literal's text with its escapes decoded, unless it is raw. As in Python, an
// unknown escape is left unchanged.
//
//	'\x41\u00e9\101' → 'AéA'
//	'\q' → '\\q'
//	r'\n' → '\\n'
//	'a' "b" → 'ab'
func unescape(s string, raw bool) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if raw || !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		c := s[i+1]
		if plain, ok := simpleEscapes[c]; ok {
			b.WriteString(plain)
			i += 2
			continue
		}
		r, n := numericEscape(s, i)
		if n == 0 {
			b.WriteString(s[i : i+2])
			i += 2
			continue
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

// numericEscape decodes \123, \x41, \u0041 or \U00000041 at s[i:]. It returns the character and the
// length of the escape, or 0, 0 if it is none of these. It raises an error for an invalid number
// and for \N.
//
//	'\x4' → SyntaxError: (unicode error) 'unicodeescape' codec can't decode bytes in position 0-2: truncated \xXX escape
//	'\u12' → SyntaxError: (unicode error) 'unicodeescape' codec can't decode bytes in position 0-3: truncated \uXXXX escape
//	'\U00110000' → SyntaxError: (unicode error) 'unicodeescape' codec can't decode bytes in position 0-9: illegal Unicode character
//	'\0' → '\x00'
//	'\18' → '\x018'
func numericEscape(s string, i int) (rune, int) {
	switch c := s[i+1]; {
	case c >= '0' && c <= '7':
		n := 2
		for n < 4 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
			n++
		}
		v, _ := strconv.ParseInt(s[i+1:i+n], 8, 32)
		return rune(v), n
	case c == 'x':
		return hexEscape(s, i, 2, `\xXX`)
	case c == 'u':
		return hexEscape(s, i, 4, `\uXXXX`)
	case c == 'U':
		return hexEscape(s, i, 8, `\UXXXXXXXX`)
	case c == 'N':
		py.Raise(py.SyntaxError,
			`\N{...} is not available in expressions; write \u or \U with the number`)
	}
	return 0, 0
}

// hexEscape decodes the escape at the offset i of s, such as \x41, which must have n hexadecimal
// digits. It returns the character and the length of the escape. It raises an error if the escape
// is invalid; the parameter shape, such as \xXX, is for the message. Like CPython's, the message
// names the bytes of s that could be read, "position 0-2".
//
//	'\x41\u0042\U00000043' → 'ABC'
//	'ab\xg1' → SyntaxError: (unicode error) 'unicodeescape' codec can't decode bytes in position 2-3: truncated \xXX escape
func hexEscape(s string, i, n int, shape string) (rune, int) {
	k := 0
	for k < n && i+2+k < len(s) && number.DigitValue(s[i+2+k]) < 16 {
		k++
	}
	cannot := fmt.Sprintf(
		"(unicode error) 'unicodeescape' codec can't decode bytes in position %d-%d: ", i, i+1+k)
	if k < n {
		py.Raise(py.SyntaxError, "%struncated %s escape", cannot, shape)
	}
	v, _ := strconv.ParseUint(s[i+2:i+2+n], 16, 32)
	switch {
	case v > utf8.MaxRune:
		py.Raise(py.SyntaxError, "%sillegal Unicode character", cannot)
	case !utf8.ValidRune(rune(v)):
		py.Raise(py.SyntaxError, "a surrogate is no character of its own: %s", s[i:i+2+n])
	}
	return rune(v), 2 + n
}
