package scan

import (
	"bytes"
	"encoding/json"
	"strings"

	"toolnorm/internal/jsontree"
)

// JSON that was already read is handled as text. The reason is that printing and schema checks need
// the order of members and the spelling of numbers, and most values are only copied.

// Field is a member of an object, with its value as JSON text.
type Field struct{ Key, Value string }

// Fields returns the members of an object in their order. A repeated member is returned twice,
// because the tool decides which one to use. If the text is not an object, the result is nil. If
// the object is cut off, the result has the members that began. Values are slices of the text, so a
// file in an argument is not copied when a caller wants only the names.
func Fields(object string) (all []Field) {
	text, ok := strings.CutPrefix(TrimSpace(object), "{")
	for ok {
		var key, value string
		if key, value, ok = NextMember(text); ok {
			n := valueEnd(value)
			all = append(all, Field{Unquote(key), strings.TrimRight(value[:n], " \t\r\n")})
			text = value[n:]
		}
	}
	return all
}

// NextMember reads an optional comma, a key and a colon. It returns the key as JSON, and the text
// from the value on. It returns false at the end of the object. Missing commas and colons are not
// noticed, because the text was written by a program.
func NextMember(text string) (quoted, rest string, ok bool) {
	if text = TrimSpace(strings.TrimPrefix(TrimSpace(text), ",")); text == "" || text[0] != '"' {
		return "", text, false
	}
	n := jsontree.StringEnd(text)
	return text[:n], TrimSpace(strings.TrimPrefix(TrimSpace(text[n:]), ":")), true
}

// valueEnd returns the length of the JSON value at the start of text, which ends before the next
// comma or closing bracket. Strings are skipped as a whole, so a brace in a string closes nothing.
func valueEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += jsontree.StringEnd(text[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// TrimSpace removes JSON's white space from the start of text.
func TrimSpace(text string) string { return strings.TrimLeft(text, " \t\r\n") }

// Unquote returns the text of a JSON string. Other JSON is returned unchanged. The argument must be
// strict JSON, so that a leading quotation mark has its partner at the end. A string without
// escapes needs no decoder, which matters because Unquote is called for every key.
func Unquote[T string | []byte](quoted T) string {
	if len(quoted) < 2 || quoted[0] != '"' {
		return string(quoted)
	}
	if plain := quoted[1 : len(quoted)-1]; bytes.IndexByte([]byte(plain), '\\') < 0 {
		return string(plain)
	}
	var s string
	if json.Unmarshal([]byte(quoted), &s) != nil {
		return string(quoted[1 : len(quoted)-1])
	}
	return s
}
