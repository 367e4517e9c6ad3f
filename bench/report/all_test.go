package report

import (
	"testing"
)

// A page with a figure that nobody can have measured is not written.
func TestImpossibleFiguresAreFound(t *testing.T) {
	for line, want := range map[string]bool{
		"| 10 KiB | 500 | 0.00 % | 288 ms | 500 ms | 12 ms | 2400 |\n":             true,
		"| 10 KiB | 500 | 99.10 % | 288 ms | -9223372036855 ms | 12 ms | 2400 |\n": true,
		"| 10 KiB | 500 | 99.10 % | 288 ms | 5100 ms | 12 ms | 2400 |\n":           false,
		"| toolnorm | NaN |\n":                            true,
		"| toolnorm | +Inf |\n":                           true,
		"| prose, saturated | 0.0 µs | 2.4 µs | 3.36 |\n": true,
		"| hermes | call | 1.8x (232) | 9.6x (-1) | 87x (6633) | skipped | 0.0 : 0.06 |":  true,
		"| hermes | call | 1.8x (232) | 9.6x (780) | 87x (6633) | skipped | 0.0 : 0.06 |": false,
		"| direct | 0.27 ms | 0.00 ms | 1.0 |\n":                                          false,
		"| tool call, 64 x 100 tokens/s | 53.0 µs | 59.6 µs | 1.12 |\n":                   false,
		"| toolnorm, 2026-07-28 | 484 µs | 1.81 |\n":                                      false,
		"|---|--:|--:|\n":           false,
		"What is left: -385 KiB.\n": false,
	} {
		if got := len(impossible(line)) > 0; got != want {
			t.Errorf("%q: impossible %t, want %t", line, got, want)
		}
	}
}
