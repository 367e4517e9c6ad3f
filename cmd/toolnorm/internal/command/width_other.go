//go:build !linux && !darwin

package command

import "os"

// terminalWidth returns 0: the terminals of these systems are not asked.
func terminalWidth(*os.File) int { return 0 }
