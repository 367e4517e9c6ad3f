package lenient

import (
	"slices"
	"strings"

	"toolnorm/chat/schema"
)

// Meant is the member of t that a key stands for: itself when the schema has it, else the only one that is spelled alike
// but for case, _ and -, unless that one was written already (it is among seen).
// Models write fileName or file-name for file_name. Only equality counts, never distance: a near miss of one parameter may
// be another one. Where two members are spelled alike (a_b and aB), and where the true name has been written already, the
// key stays as it is, and the schema says what comes of it.
func (r *Reader) Meant(t *schema.Type, key string, seen []string) string {
	if t.Has(key) {
		return key
	}
	alike := slices.DeleteFunc(slices.Clone(t.Members()), func(name string) bool { return !strings.EqualFold(letters(name), letters(key)) })
	// of two that are spelled alike, which one is meant cannot be told
	if len(alike) != 1 || slices.Contains(seen, alike[0]) {
		return key
	}
	r.Repaired("key-spelling")
	return alike[0]
}

// letters is a name without its separators.
// Dots and blanks are no separators here: a.b is a path in some schemas, and no other spelling of ab.
func letters(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(name)
}

// nullWords are the words for null that the text of a tag may be.
// Qwen3.5 and Step-5 write Python's scalars into their tags, <parameter=days>\nNone\n</parameter>, Spark the word null for
// any type. Other spellings, as Null, are more likely texts.
var nullWords = []string{"null", "None", "nil"}

// IsNull says whether the text of a tag is a word for null.
func IsNull(text string) bool { return slices.Contains(nullWords, strings.TrimSpace(text)) }

// NullAhead says whether the text that begins here begins with a word for null.
// It is a quick look: whether the word is all of the value is seen only when the value has ended.
// It is asked under a schema that allows null beside text, where a stream of the text must not begin.
func (r *Reader) NullAhead() bool {
	n := r.Space(0)
	return slices.ContainsFunc(nullWords, func(word string) bool { return r.Has(n, word) })
}

// Omitted says whether a member is left out because it is null where the schema neither allows null nor asks for the member.
// Models fill every parameter they know of, the optional ones with null; strict clients then refuse the whole call. One that
// is required stays null, since leaving it out would be no better and what was written would be gone.
func (r *Reader) Omitted(t *schema.Type, key string) bool {
	typ := t.Prop(key)
	// null is a value here, or leaving the member out would break the call
	if typ.Allows(schema.Null) || slices.Contains(t.Required(), key) {
		return false
	}
	r.Repaired("null-omitted")
	return true
}
