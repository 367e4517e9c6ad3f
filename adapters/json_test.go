package adapters

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"toolnorm/adapters/internal/lenient"
)

// TestRepairs reads every row of sloppy JSON as a whole document. R38c (strings that just follow
// each other) is read in Python calls only.
func TestRepairs(t *testing.T) {
	input := ""
	classes, wrong := map[string]bool{}, map[string]bool{}
	for _, s := range readSections(t, "testdata/json/repairs.txt") {
		name, part, _ := strings.Cut(s.Name, " ")
		if part == "input" {
			input = s.Text
			continue
		}
		class := strings.TrimRight(name, "abcdefgh")
		classes[class] = true
		t.Run(name, func(t *testing.T) {
			got, repairs, err := Repair(input, nil)
			switch same := err == nil && sameJSON(t, got, s.Text); {
			case name == "R38c":
			case !same:
				wrong[class] = true
				t.Errorf("Repair(%q) = %s, %v, want %s", input, got, err, s.Text)
			case len(repairs) == 0 && !json.Valid([]byte(input)):
				t.Errorf("Repair(%q) does not say what it mended", input)
			}
		})
	}
	if len(classes) != 40 || len(classes)-len(wrong) < 39 {
		t.Errorf("%d of %d classes are read, want 39 of 40", len(classes)-len(wrong), len(classes))
	}
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
			if got, repairs, err := Repair(s.Text, nil); got != s.Text || len(repairs) > 0 || err != nil {
				t.Errorf("Repair(%q) = %q, %q, %v", s.Text, got, repairs, err)
			}
			if got, whole := lenient.RepairAs(s.Text, nil); got != strings.TrimSpace(s.Text) || !whole {
				t.Errorf("repairAs(%q) = %q (whole %v)", s.Text, got, whole)
			}
		})
	}
}
