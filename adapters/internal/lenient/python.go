package lenient

import (
	"encoding/json"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// pythonWords maps Python's words for values to JSON.
var pythonWords = map[string]string{"True": "true", "False": "false", "None": "null"}

// pythonQuotes converts the content of a Python string to that of a JSON string.
var pythonQuotes = strings.NewReplacer(`\\`, `\\`, `\'`, `'`, `\"`, `\"`, `"`, `\"`)

// IsPython reports whether a text is one complete literal as Python writes it, and has the same
// value as the JSON that was read from it. Such a text has no slip, so it cannot mean anything
// else.
func IsPython(text, read string) bool {
	var strict []byte
	for i := 0; i < len(text); {
		n := i + 1
		switch c := text[i]; {
		case c == '"' || c == '\'':
			for n < len(text) && text[n] != c {
				if text[n] == '\\' {
					n++
				}
				n++
			}
			if n >= len(text) {
				return false
			}
			strict = append(strict, `"`+pythonQuotes.Replace(text[i+1:n])+`"`...)
			n++
		case scan.IsLetter(c):
			for n < len(text) && scan.IsLetter(text[n]) {
				n++
			}
			word, ok := pythonWords[text[i:n]]
			if !ok {
				word = text[i:n] // the e of a number; any other word is not JSON
			}
			strict = append(strict, word...)
		default:
			strict = append(strict, c)
		}
		i = n
	}
	return json.Valid(strict) && SameJSON(string(strict), read)
}
