package lenient

import (
	"encoding/json"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// pythonWords are Python's words for values, in JSON.
var pythonWords = map[string]string{"True": "true", "False": "false", "None": "null"}

// pythonQuotes spells what stands in a Python string as JSON does.
var pythonQuotes = strings.NewReplacer(`\\`, `\\`, `\'`, `'`, `\"`, `\"`, `"`, `\"`)

// IsPython reports whether a text is a whole literal as Python writes it, and means what was read
// of it. Such a text has no slip, so nothing else is meant.
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
				word = text[i:n] // the e of a number; anything else is no JSON
			}
			strict = append(strict, word...)
		default:
			strict = append(strict, c)
		}
		i = n
	}
	return json.Valid(strict) && SameJSON(string(strict), read)
}
