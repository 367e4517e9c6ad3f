//go:build !linux && !darwin

package command

import "os"

// terminalWidth returns 0, since the width is not looked up on these systems.
func terminalWidth(*os.File) int { return 0 }
