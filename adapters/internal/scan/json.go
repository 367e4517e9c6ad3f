package scan

import (
	"bytes"
	"encoding/json"
	"strings"

	"toolnorm/internal/jsontree"
)

// JSON that was read already is handled as text, since printing and schema checks need the order of
// members and the spelling of numbers, and most values are only copied.

// Field is a member of an object, its value as JSON text.
type Field struct{ Key, Value string }

// Fields returns the members of an object in their order. A repeated member is returned twice,
// since the tool decides which one counts. Text that is not an object has no members, and an object
// that ends early has those that began. Values are slices of the text: a file in an argument is not
// copied to find the names beside it.
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

// NextMember reads a comma, if there is one, a key and a colon. It returns false at the end of the
// object. It does not check commas and colons, since the text was written by a program.
func NextMember(text string) (quoted, rest string, ok bool) {
	if text = TrimSpace(strings.TrimPrefix(TrimSpace(text), ",")); text == "" || text[0] != '"' {
		return "", text, false
	}
	n := jsontree.StringEnd(text)
	return text[:n], TrimSpace(strings.TrimPrefix(TrimSpace(text[n:]), ":")), true
}

// valueEnd returns the length of the JSON value that text begins with, up to the comma or bracket
// after it. Strings are skipped as a whole, so a brace in a string closes nothing.
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

// TrimSpace removes JSON's white space from the front.
func TrimSpace(text string) string { return strings.TrimLeft(text, " \t\r\n") }

// Unquote returns the text of a JSON string; other JSON is returned unchanged. quoted is strict
// JSON, so a leading quote has a partner at the end. A string without escapes needs no decoder,
// which matters since Unquote is called for every key.
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
