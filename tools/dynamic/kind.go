package dynamic

import (
	"slices"
	"strings"
)

// The types of parameters, as the table names them. A list is LIST<TYPE>.
const (
	typeString    = "STRING"
	typeInteger   = "INTEGER"
	typeNumber    = "NUMBER"
	typeBoolean   = "BOOLEAN"
	typeDate      = "DATE"
	typeTimestamp = "TIMESTAMP"
	typeUUID      = "UUID"
	typeEnum      = "ENUM"
	typeObject    = "OBJECT"
)

// baseTypes lists the types that are not lists.
var baseTypes = []string{
	typeString, typeInteger, typeNumber, typeBoolean, typeDate, typeTimestamp, typeUUID, typeEnum,
	typeObject,
}

// otherNames maps names of types in other programs to ours.
var otherNames = map[string]string{
	"TEXT": typeString, "VARCHAR": typeString, "INT": typeInteger, "BIGINT": typeInteger,
	"FLOAT":  typeNumber,
	"DOUBLE": typeNumber, "DECIMAL": typeNumber, "NUMERIC": typeNumber, "BOOL": typeBoolean,
	"DATETIME": typeTimestamp, "TIMESTAMPTZ": typeTimestamp, "MAP": typeObject, "JSON": typeObject,
}

// deepestList is how deeply lists may be nested.
const deepestList = 3

// kind is a parsed type. For example, LIST<LIST<DATE>> is the base type DATE with two levels of
// lists.
type kind struct {
	base  string
	lists int
}

// kindOf parses a type, in upper or lower case: LIST<STRING>, also written list[string], LIST OF
// STRING or string[]. It returns false if the text is not a type.
func kindOf(text string) (kind, bool) {
	text = strings.ToUpper(strings.Join(strings.Fields(text), ""))
	var k kind
	for {
		inner, ok := listOf(text)
		if !ok {
			break
		}
		k.lists, text = k.lists+1, inner
	}
	if other := otherNames[text]; other != "" {
		text = other
	}
	k.base = text
	return k, slices.Contains(baseTypes, text) && k.lists <= deepestList
}

// listOf returns the type of the elements if text names a list type, and otherwise "" and false.
func listOf(text string) (inner string, ok bool) {
	if inner, ok = strings.CutSuffix(text, "[]"); ok {
		return inner, true
	}
	for _, name := range []string{"LIST", "ARRAY"} {
		rest, is := strings.CutPrefix(text, name)
		if !is || rest == "" {
			continue
		}
		if inner, ok = strings.CutPrefix(rest, "OF"); ok {
			return inner, true
		}
		for _, pair := range []string{"<>", "[]", "()"} {
			if rest[0] == pair[0] && rest[len(rest)-1] == pair[1] {
				return rest[1 : len(rest)-1], true
			}
		}
	}
	return "", false
}

// String implements fmt.Stringer. It returns the type in its stored form.
func (k kind) String() string {
	return strings.Repeat("LIST<", k.lists) + k.base + strings.Repeat(">", k.lists)
}

// typeName returns a type as the store writes it, such as LIST<STRING> for list[string]. A text
// that is not a type is returned in upper case, so that an error can show it.
func typeName(text string) string {
	if k, ok := kindOf(text); ok {
		return k.String()
	}
	return strings.ToUpper(strings.TrimSpace(text))
}

// kind returns the parsed type of a parameter, or STRING if the type is invalid.
func (p *Param) kind() kind {
	if k, ok := kindOf(p.Type); ok {
		return k
	}
	return kind{base: typeString}
}
