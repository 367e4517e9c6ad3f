package adapters

import (
	"strings"
	"unicode/utf8"

	"toolnorm/chat"
)

// appendPython writes a call as Python does.
func (f *Format) appendPython(dst []byte, c chat.Call) []byte {
	dst = append(append(dst, pythonName(c.Name)...), '(')
	for k, m := range membersOf(objectText(c.Args)) {
		if k > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(append(dst, m.key...), '=')
		dst = f.appendKeyword(dst, m.value)
	}
	return append(dst, ')')
}

// pythonName is a tool's name as a Python call can have it: what would not be read as part of a name is an underscore, and
// the reader finds the tool all the same.
func pythonName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf {
			return r
		}
		return '_'
	}, name)
}

// appendKeyword writes a JSON value as the value of a keyword. A list becomes Python source, and a string where the family
// quotes as Python does; elsewhere it is that already. An object stays JSON, as LFM2.5 writes it.
func (f *Format) appendKeyword(dst []byte, value string) []byte {
	if value[0] == '[' || value[0] == '"' && len(f.Quotes) > 0 {
		return appendRepr(dst, value)
	}
	return appendScalar(dst, value)
}

// appendScalar writes a JSON value, its words as Python has them.
func appendScalar(dst []byte, value string) []byte {
	switch value {
	case "true":
		return append(dst, "True"...)
	case "false":
		return append(dst, "False"...)
	case "null":
		return append(dst, "None"...)
	}
	return appendSpaced(dst, value)
}
