//go:build !linux && !darwin

package command

import "os"

// terminalWidth returns 0, since the width is not determined on these systems.
func terminalWidth(*os.File) int { return 0 }
