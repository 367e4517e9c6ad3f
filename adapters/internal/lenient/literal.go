package lenient

import (
	"encoding/json"
	"strconv"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
)

// parser reads values in the syntax of JSON or Python, and returns them as JSON. It does not repair
// anything. It sets the field cut if the text ends before a value does.
type parser struct {
	at    func(i int) int
	depth int
	cut   bool
}

// Literal returns the value at offset i as JSON, and the offset after it. The value must be correct
// JSON or Python. The function at returns the byte at an offset, or -1 after the end. The result
// cut is true if the text ended before a value did, and ok is false if there is no valid value.
func Literal(at func(i int) int, i int) (value string, end int, cut, ok bool) {
	p := &parser{at: at}
	value, end, ok = p.value(i)
	return value, end, p.cut, ok
}

// WholeLiteral returns the value that a text consists of, or false if it is not one valid value.
func WholeLiteral(text string) (string, bool) {
	value, end, _, ok := Literal(func(i int) int {
		if i < len(text) {
			return int(text[i])
		}
		return -1
	}, 0)
	return value, ok && end == len(text)
}

// IsPython reports whether a text is one complete value as Python writes it. The value must be the
// same as in the JSON read, which was made from the text. Such a text has no error, so it cannot
// mean anything else.
func IsPython(text, read string) bool {
	value, ok := WholeLiteral(strings.Trim(text, " \t\r\n"))
	return ok && SameJSON(value, read)
}

// value reads one value at offset i, and also returns the offset after it. It returns false if
// there is no valid value.
func (p *parser) value(i int) (string, int, bool) {
	switch c := p.at(i); {
	case c < 0:
		p.cut = true
	case c == '{':
		return p.several(i, '}')
	case c == '[':
		return p.several(i, ']')
	case c == '"' || c == '\'':
		return p.text(i)
	default:
		end := i
		for c := p.at(end); c >= 0 &&
			(scan.IsWord(c) || strings.IndexByte("+-.", byte(c)) >= 0); c = p.at(end) {
			end++
		}
		var word []byte
		for k := i; k < end && k < i+400; k++ {
			word = append(word, byte(p.at(k)))
		}
		p.cut = p.cut || p.at(end) < 0
		v, ok := LiteralWord(string(word))
		return v, end, ok
	}
	return "", 0, false
}

// words maps the literal words of both languages to JSON.
var words = map[string]string{"true": "true", "false": "false", "null": "null", "True": "true",
	"False": "false", "None": "null"}

// LiteralWord returns a number, or a word such as true or None, as JSON. It returns false for any
// other text.
func LiteralWord(text string) (string, bool) {
	if w, ok := words[text]; ok {
		return w, true
	}
	return text, text != "" && strings.IndexByte("-0123456789", text[0]) >= 0 &&
		json.Valid([]byte(text))
}

// space returns the offset after the white space at offset i.
func (p *parser) space(i int) int {
	for c := p.at(i); scan.IsSpace(c); c = p.at(i) {
		i++
	}
	return i
}

// several reads an object or a list from its opening bracket at offset i to the bracket end, and
// returns it as JSON with the offset after it. It returns false if the value is not valid or is
// nested too deeply.
func (p *parser) several(i int, end byte) (string, int, bool) {
	if p.depth++; p.depth > MaxDepth {
		return "", 0, false
	}
	defer func() { p.depth-- }()
	out := []byte{byte(p.at(i))}
	i = p.space(i + 1)
	for first := true; p.at(i) != int(end); first = false {
		if !first {
			if p.at(i) != ',' {
				p.cut = p.cut || p.at(i) < 0
				return "", 0, false
			}
			i = p.space(i + 1)
			out = append(out, ", "...)
		}
		v, n, ok := p.value(i)
		if ok && end == '}' {
			n = p.space(n)
			ok = v[0] == '"' && p.at(n) == ':'
			p.cut = p.cut || p.at(n) < 0
			out = append(append(out, v...), ": "...)
			if ok {
				v, n, ok = p.value(p.space(n + 1))
			}
		}
		if !ok {
			return "", 0, false
		}
		out = append(out, v...)
		i = p.space(n)
	}
	return string(append(out, end)), i + 1, true
}

// escapes maps the escapes of both languages to their meaning.
var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', '\\': '\\',
	'"': '"', '\'': '\'', '/': '/'}

// text reads a string whose quotation mark is at offset i, and returns it as JSON with the offset
// after it. It returns false if the string has no end, a newline, or an unknown escape.
func (p *parser) text(i int) (string, int, bool) {
	quote := p.at(i)
	var out []byte
	for i++; ; i++ {
		switch c := p.at(i); {
		case c < 0:
			p.cut = true
			return "", 0, false
		case c == quote:
			return string(chat.AppendQuoted(nil, string(out))), i + 1, true
		case c == '\n':
			return "", 0, false
		case c != '\\':
			out = append(out, byte(c))
		default:
			i++
			e := byte(max(p.at(i), 0))
			size := map[byte]int{'u': 4, 'x': 2, 'U': 8}[e]
			if plain, ok := escapes[e]; ok {
				out = append(out, plain)
				continue
			}
			r, ok := p.hex(i+1, size)
			if !ok {
				return "", 0, false
			}
			i += size
			if low, ok := p.hex(i+3, 4); e == 'u' && r >= 0xD800 && r < 0xDC00 && ok &&
				p.at(i+1) == '\\' && p.at(i+2) == 'u' && low >= 0xDC00 {
				r = 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
				i += 6
			}
			out = append(out, string(rune(r))...)
		}
	}
}

// hex reads size hexadecimal digits at offset i, and returns false if there are fewer.
func (p *parser) hex(i, size int) (int, bool) {
	var digits []byte
	for k := range size {
		if c := p.at(i + k); scan.IsHex(c) {
			digits = append(digits, byte(c))
		}
	}
	n, err := strconv.ParseUint(string(digits), 16, 32)
	return int(n), err == nil && len(digits) == size && size > 0
}
