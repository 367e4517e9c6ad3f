//go:build !linux

package main

import "runtime/debug"

// giveBack returns to the system what the start took and a server at rest does not need.
func giveBack() { debug.FreeOSMemory() }
