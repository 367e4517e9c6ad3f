package adapters

import (
	"strconv"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// appendTags writes each argument by the family's first arg line, strings raw and everything else as JSON.
func (f *Format) appendTags(dst []byte, c chat.Call, lines bool) []byte {
	for i, m := range membersOf(objectText(c.Args)) {
		if f.Args[0].Keyed() && m.value == "null" {
			continue // such families leave it out
		}
		if i > 0 && lines {
			dst = append(dst, '\n')
		}
		dst = f.appendTag(dst, m)
	}
	return dst
}

// appendTag writes one argument.
func (f *Format) appendTag(dst []byte, m field) []byte {
	before := "" // the literal in front of a hole
	for _, part := range f.Args[0].Parts {
		switch part.Hole {
		case "":
			before = f.Printed(part.Lit.Text)
			dst = append(dst, before...)
		case "key":
			dst = append(dst, f.attribute(m.key)...)
		case "type":
			dst = appendType(dst, m.value, strings.HasSuffix(before, `string="`))
		case "value":
			dst = append(dst, f.tagText(m.value)...)
		}
	}
	return dst
}

// attribute is a key as it stands in a tag.
func (f *Format) attribute(key string) string {
	if f.Flags.Entities {
		return entities.Replace(key)
	}
	return key
}

// entities escapes what may not stand in an attribute, plainly undoes it.
var (
	entities = strings.NewReplacer("&", "&amp;", `"`, "&quot;")
	plainly  = strings.NewReplacer("&amp;", "&", "&quot;", `"`)
)

// appendType writes the type of a value: whether it is a string, or its name.
func appendType(dst []byte, value string, isString bool) []byte {
	if isString {
		return strconv.AppendBool(dst, value[0] == '"')
	}
	switch schema.KindOf(value) {
	case schema.String:
		return append(dst, "string"...)
	case schema.Boolean:
		return append(dst, "boolean"...)
	case schema.Null:
		return append(dst, "null"...)
	case schema.Object:
		return append(dst, "object"...)
	case schema.Array:
		return append(dst, "array"...)
	}
	return append(dst, "number"...)
}

// tagText is a value as a tag of the family holds it.
func (f *Format) tagText(value string) string {
	if f.Args[0].Keyed() {
		return string(appendTree(f.Args[0], nil, value))
	}
	if value[0] == '"' && f.Flags.CDATA {
		return inCDATA(unquote([]byte(value)))
	}
	if value[0] != '"' && f.Layout.Words == declaration.PythonObjects {
		return string(appendRepr(nil, value))
	}
	if value[0] != '"' && f.Layout.Words == declaration.PythonScalars {
		return string(appendScalar(nil, value))
	}
	return rawText(value)
}

// rawText is a value as a tag holds it: a string without quotes, anything else as JSON with blanks.
func rawText(value string) string {
	if value[0] == '"' {
		return unquote([]byte(value))
	}
	return string(appendSpaced(nil, value))
}
