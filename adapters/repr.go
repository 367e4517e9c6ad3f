package adapters

import (
	"encoding/json"
	"fmt"
	"strings"
)

// appendRepr writes a JSON value as Python prints it: True, False and None, single quotes unless the string has some and
// no double ones.
func appendRepr(dst []byte, value string) []byte {
	switch value[0] {
	case '{':
		dst = append(dst, '{')
		for i, m := range membersOf(value) {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(appendReprString(dst, m.key), ": "...)
			dst = appendRepr(dst, m.value)
		}
		return append(dst, '}')
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal([]byte(value), &list)
		dst = append(dst, '[')
		for i, v := range list {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendRepr(dst, string(v))
		}
		return append(dst, ']')
	case '"':
		return appendReprString(dst, unquote([]byte(value)))
	}
	return appendScalar(dst, value)
}

func appendReprString(dst []byte, s string) []byte {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	dst = append(dst, quote)
	for i := range len(s) {
		switch c := s[i]; {
		case c == quote || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c < ' ' || c == 0x7f:
			dst = fmt.Appendf(dst, `\u%04x`, c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, quote)
}
