//go:build race

package aside

// detecting reports whether the race detector is in the program. With it a process takes several
// times the memory, so there is no bound for all processes together.
const detecting = true
