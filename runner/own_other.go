//go:build !unix

package runner

import "io/fs"

// isOwn trusts the folder, whose rights these systems keep elsewhere.
func isOwn(fs.FileInfo) bool { return true }
