//go:build race

package aside

// detecting reports whether the program was built with the race detector. With it a process takes
// several times the memory, so the bound for all processes together does not apply.
const detecting = true
