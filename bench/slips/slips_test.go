package main

import (
	"testing"

	"toolnorm/internal/test/must"
)

// A kind that no call has a place for, or a family whose strict reading does not know its own
// form, would leave gaps that no figure shows.

func TestEveryKindMakesASlip(t *testing.T) {
	l := must.Have(newLab(""))(t)
	made := map[string]bool{}
	for seed := range int64(3) {
		for _, g := range l.families {
			r := source(seed, g.Name)
			w := l.clean(r, g)
			if w == nil {
				continue
			}
			for _, k := range l.kinds {
				made[k.name] = made[k.name] || k.slip(r, w) != nil
			}
		}
	}
	for _, k := range l.kinds {
		if !made[k.name] {
			t.Errorf("no call has a place for %q", k.name)
		}
	}
}

// unknown are families without a strict reading: all their texts with slips count. One repeats
// keys in closers, the other writes Python's quotes in JSON's place.
var unknown = map[string]bool{"minimax-m3": true, "sarashina": true}

func TestStrictReadsWhatFamiliesWrite(t *testing.T) {
	l := must.Have(newLab(""))(t)
	read, all := map[string]int{}, map[string]int{}
	for _, g := range l.families {
		r := source(1, g.Name)
		for range 4 {
			if w := l.clean(r, g); w != nil {
				all[g.Name]++
				if args, ok := g.strict(w, w.fill()); ok && same(args, w.meant()) {
					read[g.Name]++
				}
			}
		}
	}
	for name, n := range all {
		if read[name]*2 < n && !unknown[name] {
			t.Errorf("%s: %d of %d", name, read[name], n)
		}
	}
}
