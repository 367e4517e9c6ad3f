package adapters

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"toolnorm/chat/schema"
)

// appendSpaced writes JSON as chat templates do, with one blank after each comma and colon and none elsewhere. They read it
// first, so what could be spelled in several ways comes out in one: characters are not escaped, numbers are Python's.
// Member order stays.
func appendSpaced(dst []byte, text string) []byte {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			n := stringEnd(text[i:])
			dst = appendString(dst, text[i:i+n])
			i += n
		case c == ',' || c == ':':
			dst = append(dst, c, ' ')
			i++
		case c == '-' || c >= '0' && c <= '9':
			n := len(text[i:]) - len(strings.TrimLeft(text[i:], "0123456789+-.eE"))
			dst = appendNumber(dst, text[i:i+n])
			i += n
		case isSpace(int(c)):
			i++
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst
}

// stringEnd is the length of the JSON string that text begins with, the quotes included.
func stringEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// appendString writes a JSON string without needless escapes. Half a surrogate pair is U+FFFD.
func appendString(dst []byte, text string) []byte {
	if !strings.Contains(text, `\`) {
		return append(dst, text...)
	}
	return schema.AppendQuote(dst, unquote([]byte(text)))
}

// appendNumber writes a number as Python prints it: a whole one as it stands, any other with the fewest digits that give
// the same 64 bits.
func appendNumber(dst []byte, text string) []byte {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !strings.ContainsAny(text, ".eE") {
		return append(dst, text...)
	}
	if size := max(f, -f); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if !slices.Contains(dst[start:], '.') {
		dst = append(dst, ".0"...)
	}
	return dst
}

// appendPseudo writes JSON with bare keys, sorted, and strings between the family's own delimiters.
func appendPseudo(dst []byte, value, quote string) []byte {
	switch value[0] {
	case '{':
		members := membersOf(value)
		slices.SortStableFunc(members, func(a, b field) int { return strings.Compare(strings.ToLower(a.key), strings.ToLower(b.key)) })
		dst = append(dst, '{')
		for i, m := range members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, m.key...), ':')
			dst = appendPseudo(dst, m.value, quote)
		}
		return append(dst, '}')
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal([]byte(value), &list) // it is JSON: a member's value
		dst = append(dst, '[')
		for i, v := range list {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendPseudo(dst, string(v), quote)
		}
		return append(dst, ']')
	case '"':
		return append(append(append(dst, quote...), unquote([]byte(value))...), quote...)
	case 'n':
		return append(dst, "None"...) // as Python prints what its templates have no word for
	}
	return appendSpaced(dst, value)
}
