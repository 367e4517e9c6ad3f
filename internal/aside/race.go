//go:build race

package aside

// detecting reports whether the race detector is in the program. What a process holds is several
// times as much then, so processes are not bounded together.
const detecting = true
