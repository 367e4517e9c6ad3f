//go:build !race

package aside

// detecting reports whether the race detector is in the program.
const detecting = false
