package adapters

import (
	"slices"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/golden"
)

// ofReplies are repairs of a reply as a whole, which its end alone tells (counted.go).
var ofReplies = []string{SameCalls, "repeated-call", "invented-result"}

// TestRepairsAreToldWhenTheyAreDecided has every case of every family read: what is told before the
// end is what the end says, and a repair of a call is told before its end leaves.
func TestRepairsAreToldWhenTheyAreDecided(t *testing.T) {
	early := 0
	for _, c := range goldens(t) {
		var told []string
		o := Options{Tools: testTools(t), Repaired: func(code string) { told = append(told, code) }}
		for e, err := range Named(c.format).Decode(golden.Source([]string{c.Raw}, chat.Stop), o) {
			if err != nil {
				break
			}
			if e.Kind == chat.CallEnd && len(told) > 0 {
				early++
			}
			if e.Kind != chat.Finish {
				continue
			}
			for _, code := range told {
				if !slices.Contains(e.Meta.Repairs, code) {
					t.Errorf("%s, %s: %s was told, and the end says %v", c.format, c.Name, code, e.Meta.Repairs)
				}
			}
			for _, code := range e.Meta.Repairs {
				if !slices.Contains(told, code) && !slices.Contains(ofReplies, code) {
					t.Errorf("%s, %s: %s was not told (%v)", c.format, c.Name, code, told)
				}
			}
		}
	}
	if early < 100 {
		t.Errorf("only %d calls ended with their repairs told", early)
	}
}
