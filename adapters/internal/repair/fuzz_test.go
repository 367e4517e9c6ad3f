package repair

import (
	"encoding/json"
	"testing"
)

// FuzzReadings reads texts that nobody has thought of: every reading is strict JSON, lies in the
// text, and is there once.
func FuzzReadings(f *testing.F) {
	for _, text := range []string{`{"title": "a "b" c", 'tags': [x, "y}`, `{"title": "C:\new", // "x"` + "\n" + `"count": 1}`, `title="a" 'b', tags=(1,), where={"city": f"x"})`, `{"a": [[{"b", (1, "\\"c\\""]}`} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, python bool) {
		g := Args{Type: planType, Python: python}
		seen := map[string]bool{}
		for _, r := range g.Read(text) {
			switch {
			case !json.Valid([]byte(r.Text)):
				t.Errorf("%q is no JSON", r.Text)
			case seen[r.Text]:
				t.Errorf("%q comes twice", r.Text)
			case r.End > len(text) || r.Cost > Most:
				t.Errorf("%+v", r)
			}
			seen[r.Text] = true
		}
	})
}
