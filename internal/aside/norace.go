//go:build !race

package aside

// detecting reports whether the program was built with the race detector.
const detecting = false
