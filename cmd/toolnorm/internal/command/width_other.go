//go:build !linux && !darwin

package command

import "os"

// widthOf returns 0: the terminals of these systems are not asked.
func widthOf(*os.File) int { return 0 }
