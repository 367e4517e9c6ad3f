package adapters

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolnorm/chat/schema"
)

// meant is the member of t that a key stands for: itself when the schema has it, else the only one that is spelled alike
// but for case, _ and -, unless that one was written already (it is among seen).
func (d *argReader) meant(t *schema.Type, key string, seen []string) string {
	if t.Has(key) {
		return key
	}
	found := ""
	for _, name := range t.Members() {
		if strings.EqualFold(letters(name), letters(key)) {
			if found != "" {
				return key
			}
			found = name
		}
	}
	if found == "" || slices.Contains(seen, found) {
		return key
	}
	d.repaired("key-spelling")
	return found
}

// letters is a name without its separators.
func letters(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(name)
}

// nullWords are the words for null that the text of a tag may be.
var nullWords = []string{"null", "None", "nil"}

// isNull says whether the text of a tag is a word for null.
func isNull(text string) bool { return slices.Contains(nullWords, strings.TrimSpace(text)) }

// nullAhead says whether the text that begins here begins with a word for null.
func (d *argReader) nullAhead() bool {
	n := d.Space(0)
	return slices.ContainsFunc(nullWords, func(word string) bool { return d.Has(n, word) })
}

// omitted says whether a member is left out because it is null where the schema neither allows null nor asks for the member.
func (d *argReader) omitted(t *schema.Type, key string) bool {
	typ := t.Prop(key)
	if !typ.Known() || typ.Allows(schema.Null) || slices.Contains(t.Required(), key) {
		return false
	}
	d.repaired("null-omitted")
	return true
}

// field is a member of an object, its value as JSON text.
type field struct{ key, value string }

// membersOf are the members of an object in their order.
func membersOf(object string) []field {
	dec := json.NewDecoder(strings.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	var out []field
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return out
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return out
		}
		out = append(out, field{fmt.Sprint(key), string(value)})
	}
	return out
}
