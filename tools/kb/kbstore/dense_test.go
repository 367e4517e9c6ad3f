package kbstore

import "testing"

func TestVersionsOfPgvector(t *testing.T) {
	for version, want := range map[string]bool{"": false, "0.7.4": false, "0.8.0": true, "0.8.7": true, "0.10": true, "1.0": true, "x": false} {
		if newer(version) != want {
			t.Errorf("%q is %v", version, !want)
		}
	}
}

func TestAVectorAsPgvectorReadsIt(t *testing.T) {
	if got := literal([]float32{0.1, -2, 1e-20}); got != "[0.1,-2,1e-20]" {
		t.Error(got)
	}
}
