// Package odd generates invalid or unusual ("odd") entries for tests of one law: an entry that
// cannot be used is left out, and everything else works.
//
// A reader of many entries, such as the tools of a server or the rows of a table, gets good entries
// with odd ones among them, and must use every good one. An odd entry is a good one that was
// changed as programs, people and other encodings do. A value has another type, is missing, null,
// huge or deeply nested; a member occurs twice; a name has another spelling; bytes are not UTF-8.
// The same seed gives the same entries.
package odd

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// New returns the source of randomness for this package's functions. With the same seed, they
// return the same odd values again.
func New(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// huge is the length of a huge text, in bytes: longer than any bound of a description, and short
// enough for many tests.
const huge = 200_000

// latin is a placeholder for bytes that are not UTF-8, since encoding/json would not write those.
// encode replaces it.
const latin = "odd-latin-1"

// values are odd values, each with a description.
var values = []struct {
	why   string
	value any
}{
	{"null", nil}, {"true", true}, {"false", false}, {"a number", 7}, {"a fraction", -0.5},
	{"a large number", json.Number("123456789012345678901234567890")}, {"an exponent", json.Number(
		"1e400")},
	{"an empty text", ""}, {"a text", "odd"}, {"a text of blanks", " \t\n"},
	{"a number as text", "7"}, {"a truth as text", "yes"}, {"JSON as text", `{"type":"object"}`},
	{"an empty list", []any{}}, {"a list", []any{"odd", 7, nil}},
	{"a list of objects", []any{map[string]any{"name": "odd"}}},
	{"an empty object", map[string]any{}}, {"an object", map[string]any{"odd": nil}},
	{"a list as object", map[string]any{"0": "a", "2": "b"}},
	{"control characters", "a\x00b\x1b[31m"}, {"a direction mark", "a\u202eb"},
	{"not UTF-8", "a" + latin + "b"}, {"another script", "한글 도구"},
	{"huge text", strings.Repeat("x", huge)}, {"a huge list", slices.Repeat([]any{"x"}, huge/20)},
}

// Value returns an odd value, one that a program may not expect, as encoding/json represents it,
// and a description. A value that is not UTF-8 contains the constant latin, a placeholder.
func Value(r *rand.Rand) (why string, value any) {
	if r.IntN(len(values)+1) == 0 {
		var deep any = "odd"
		for range 200 {
			deep = map[string]any{"properties": map[string]any{"odd": deep}}
		}
		return "a deep object", deep
	}
	v := values[r.IntN(len(values))]
	return v.why, v.value
}

// Member returns a variant of a JSON object that is wrong or unusual in one member or as a whole,
// and a description. A text that is not JSON is returned unchanged.
func Member(r *rand.Rand, good string) (why, text string) {
	var tree map[string]any
	if err := json.Unmarshal([]byte(good), &tree); err != nil {
		return "no JSON in the test", good
	}
	if r.IntN(8) == 0 {
		why, v := Value(r)
		return why + " in place of the whole", encode(v)
	}
	object, key := place(r, tree)
	switch r.IntN(6) {
	case 0:
		delete(object, key)
		return key + " is missing", encode(tree)
	case 1:
		object[spellKey(r, key)] = object[key]
		delete(object, key)
		return key + " in another spelling", encode(tree)
	case 2:
		_, v := Value(r)
		return key + " twice", twice(encode(tree), key, encode(v))
	case 3:
		why, v := Value(r)
		object["odd-"+key] = v
		return why + " in a member of its own", encode(tree)
	}
	why, v := Value(r)
	object[key] = v
	return why + " in " + key, encode(tree)
}

// place chooses a random member of a tree, at any depth. It returns the object that contains the
// member, and the member's key.
func place(r *rand.Rand, tree map[string]any) (map[string]any, string) {
	for {
		all := slices.Sorted(maps.Keys(tree))
		key := all[r.IntN(len(all))]
		inner, ok := tree[key].(map[string]any)
		if !ok || len(inner) == 0 || r.IntN(3) == 0 {
			return tree, key
		}
		tree = inner
	}
}

// spellKey returns a key in another spelling, for example in capitals or in snake case.
func spellKey(r *rand.Rand, key string) string {
	var snake strings.Builder
	for i, c := range key {
		if i > 0 && c >= 'A' && c <= 'Z' {
			snake.WriteByte('_')
		}
		snake.WriteRune(c)
	}
	low := strings.ToLower(snake.String())
	return []string{strings.ToUpper(key), strings.ToLower(key), low,
		strings.ReplaceAll(low, "_", "-"), strings.ToUpper(key[:1]) + key[1:], " " + key}[r.IntN(6)]
}

// twice returns a JSON object with another member of the same key inserted at the beginning.
func twice(object, key, value string) string {
	name, _ := json.Marshal(key) // texts always encode
	return "{" + string(name) + ":" + value + "," + strings.TrimPrefix(object, "{")
}

// encode returns a value as JSON. Numbers keep all their digits. The text of the constant latin, a
// placeholder, is replaced with bytes that are not UTF-8.
func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // every value here encodes
	return strings.ReplaceAll(strings.TrimSpace(b.String()), latin, "\xfc\xe4")
}

// Column returns an odd value, one that a program may not expect, for a column of a database, and a
// description. Databases refuse some of these values.
func Column(r *rand.Rand) (why string, value any) {
	if r.IntN(6) == 0 {
		return "a blob", [][]byte{{0, 1, 0xff}, []byte("odd"), make([]byte, 16), nil}[r.IntN(4)]
	}
	why, value = Value(r)
	switch v := value.(type) {
	case nil, bool, int, float64:
	case string:
		value = strings.ReplaceAll(v, latin, "\xfc\xe4")
	default:
		value = encode(v)
	}
	return why, value
}

// File returns a damaged or unusual variant of a good file, and a description.
func File(r *rand.Rand, good []byte) (why string, text []byte) {
	n := len(good)
	hurt := slices.Clone(good)
	switch r.IntN(10) {
	case 0:
		return "empty", nil
	case 1:
		return "blanks", []byte(" \n\t\r\n")
	case 2:
		return "cut", hurt[:r.IntN(n+1)]
	case 3:
		for range 1 + n/20 {
			hurt[r.IntN(n)] = byte(r.IntN(256))
		}
		return "overwritten", hurt
	case 4:
		return "in another encoding", bytes.ReplaceAll(hurt, []byte("e"), []byte("\xe9"))
	case 5:
		wide := []byte{0xff, 0xfe}
		for _, c := range good {
			wide = append(wide, c, 0)
		}
		return "in UTF-16", wide
	case 6:
		return "of another kind",
			[]byte([]string{"\x7fELF\x02\x01\x01", "PK\x03\x04odd", "<html>", "{", "%PDF-1.4",
				"-----BEGIN"}[r.IntN(6)])
	case 7:
		return "huge", bytes.Repeat([]byte("x"), huge)
	case 8:
		at := r.IntN(n + 1)
		return "with NUL", slices.Concat(hurt[:at], make([]byte, 3), hurt[at:])
	}
	return "twice", append(hurt, good...)
}

// Line returns a damaged or unusual variant of a good line, and a description.
func Line(r *rand.Rand, good string) (why, line string) {
	why, text := File(r, []byte(good))
	return why, strings.NewReplacer("\n", " ", "\r", " ").Replace(string(text))
}
