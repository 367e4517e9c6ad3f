package adapters

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestRepairs(t *testing.T) {
	input := ""
	for _, s := range readSections(t, "testdata/json/repairs.txt") {
		name, part, _ := strings.Cut(s.Name, " ")
		if part == "input" {
			input = s.Text
			continue
		}
		if reason := elsewhere[name[:min(3, len(name))]]; reason != "" || name == "R38c" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			got, _ := repairAs(input, nil)
			if !sameJSON(t, got, s.Text) {
				t.Errorf("repair(%q) = %s, want %s", input, got, s.Text)
			}
		})
	}
}

// elsewhere are the rows that belong to whoever finds the value, by the reference; R38c (strings that just follow each
// other) is read in Python calls only.
var elsewhere = map[string]string{
	"R14": "fences", "R15": "prose around", "R27": "the object as a string", "R36": "reasoning", "R37": "what follows", "R40": "a missing brace",
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatalf("the case is wrong: %v: %s", err, b)
	}
	return json.Unmarshal([]byte(a), &x) == nil && reflect.DeepEqual(x, y)
}

func TestCleanJSONIsUntouched(t *testing.T) {
	for _, s := range readSections(t, "testdata/json/clean.txt") {
		t.Run(s.Name, func(t *testing.T) {
			if got, whole := repairAs(s.Text, nil); got != strings.TrimSpace(s.Text) || !whole {
				t.Errorf("repair(%q) = %q (whole %v)", s.Text, got, whole)
			}
		})
	}
}
