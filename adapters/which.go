package adapters

import "fmt"

// Which says which texts that look like calls are calls.
type Which uint8

// The degrees, for Options.Which. What each of them takes is a table in docs/calls.md.
const (
	Normal Which = iota // marks at their places, other complete calls with evidence
	Eager               // every complete call that fits an offered tool, whatever stands around it
	Strict              // the family's own marks, and its own form where it has none
)

// whichNames are the degrees by name, in the order of their values.
var whichNames = []string{"normal", "eager", "strict"}

// ParseWhich reads a degree as people write it: eager, normal or strict.
func ParseWhich(s string) (Which, error) {
	for i, name := range whichNames {
		if s == name {
			return Which(i), nil
		}
	}
	return Normal, fmt.Errorf("must be eager, normal or strict, not %q", s)
}

// readsUnmarked says whether calls without marks count: not where only the family's own form does, unless that is it.
func (d *decoder) readsUnmarked() bool {
	if d.which != Strict {
		return true
	}
	for _, p := range d.f.Calls {
		if p.Markless() || p.IsFence() {
			return true
		}
	}
	return false
}
