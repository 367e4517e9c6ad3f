// Package odd makes odd members for tests that hold one law: what cannot be used is left out, and
// everything else works.
//
// A reader of many things (the entries of a file, the tools of a server, the rows of a table) is
// given good ones with odd ones among them, and has to use every good one. The odd ones are made of
// a good one by what programs, people and other encodings do: a value of another type, one that is
// missing, null, huge or deep, a member twice, a name in another spelling, bytes that are no UTF-8.
// The same seed makes the same members.
package odd

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// New returns a source of odd members by a seed.
func New(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// huge is how long a huge text is, in bytes: longer than any bound of a description, and short
// enough for many tests.
const huge = 200_000

// latin stands in a value for bytes that are not UTF-8, which encoding/json would not write.
const latin = "odd-latin-1"

// values are odd values, each with what it is.
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

// Value returns an odd value, as encoding/json has it, and what it is. Bytes that are no UTF-8 are
// in the text of Member alone.
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

// Member returns a good JSON object made odd in one place or as a whole, as JSON, and what was
// done.
func Member(r *rand.Rand, good string) (why, text string) {
	var tree map[string]any
	if err := json.Unmarshal([]byte(good), &tree); err != nil {
		return "no JSON in the test", good // what is not good is odd as it is
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

// place chooses a member of a tree, at any depth.
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

// spellKey returns a key as another language writes it.
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

// twice puts a member in front of an object that has it.
func twice(object, key, value string) string {
	name, _ := json.Marshal(key) // texts always encode
	return "{" + string(name) + ":" + value + "," + strings.TrimPrefix(object, "{")
}

// encode returns a value as JSON. A number that no float64 holds stays as it is written.
func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // every value here encodes
	return strings.ReplaceAll(strings.TrimSpace(b.String()), latin, "\xfc\xe4")
}

// Column returns an odd value as it may stand in a column of a database, and what it is. A database
// refuses some of them.
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

// File returns a good file made odd, and what was done.
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

// Line returns a good line made odd, and what was done.
func Line(r *rand.Rand, good string) (why, line string) {
	why, text := File(r, []byte(good))
	return why, strings.NewReplacer("\n", " ", "\r", " ").Replace(string(text))
}
