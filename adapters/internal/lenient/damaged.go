package lenient

import (
	"bytes"
	"encoding/json"
	"slices"

	"toolnorm/adapters/internal/repair"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// Meaning is what damaged arguments were found to mean.
type Meaning struct {
	Args string // strict JSON, as the schema wants it
	Cost int    // what its cheapest reading costs
	End  int    // where the arguments end in their text
	Open bool   // the text ended before they did
}

// Meanings reads damaged arguments of the tool called name in every way that is likely, and returns what they may mean:
// each value once, those that fit the schema in front: there are fitting of them. There are none where reading takes too long.
// Values are compared, not texts: two ways to read a text that give the same arguments are no doubt.
func Meanings(text string, g repair.Args, name string) (all []Meaning, fitting int) {
	readings, ok := g.Read(text)
	if !ok {
		return nil, 0
	}
	for _, r := range readings {
		m, fits := meant(r, g.Type, name)
		if m.Args == "" || slices.ContainsFunc(all, func(o Meaning) bool { return SameJSON(o.Args, m.Args) }) {
			continue
		}
		if fits {
			all = slices.Insert(all, fitting, m)
			fitting++
		} else {
			all = append(all, m)
		}
	}
	return all, fitting
}

// meant is what one reading says in the types of the schema, and whether it fits them.
func meant(r repair.Reading, t *schema.Type, name string) (Meaning, bool) {
	doc := readDocument(r.Text, t)
	if doc == nil || !doc.whole {
		return Meaning{}, false
	}
	out := doc.out
	if args, ok := Unwrapped(name, t, out); ok {
		out = args
	}
	if out[0] != '{' {
		return Meaning{}, false
	}
	return Meaning{Args: out, Cost: r.Cost, End: r.End, Open: r.Open}, Fits(out, t)
}

// Fits reports whether a value is of the type that the schema wants, with the members that it asks for, each once.
// Members that it does not list are allowed, as most schemas do.
func Fits(value string, t *schema.Type) bool {
	kind := schema.KindOf(value)
	if t.Known() && !t.Allows(kind) {
		return false
	}
	switch kind {
	case schema.Object:
		var seen []string
		for _, m := range scan.Fields(value) {
			if slices.Contains(seen, m.Key) || !Fits(m.Value, t.Prop(m.Key)) {
				return false
			}
			seen = append(seen, m.Key)
		}
		return !slices.ContainsFunc(t.Required(), func(key string) bool { return !slices.Contains(seen, key) })
	case schema.Array:
		var list []json.RawMessage
		_ = json.Unmarshal([]byte(value), &list)
		for i, item := range list {
			if !Fits(string(item), t.ItemAt(i)) {
				return false
			}
		}
	default:
		return len(t.Enum()) == 0 || slices.Contains(t.Enum(), value)
	}
	return true
}

// SameJSON reports whether two JSON texts are one but for white space and the spelling of strings.
func SameJSON(a, b string) bool {
	if a == b {
		return true
	}
	return bytes.Equal(plainJSON(a), plainJSON(b))
}

// plainJSON is a JSON text without white space, its strings in one spelling; numbers stay as they are written.
func plainJSON(text string) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return []byte(text)
	}
	out, _ := json.Marshal(v)
	return out
}
