//go:build unix

package runner

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a file is the user's, and that nobody else can write it: with 0666 in a
// folder of everybody's, another user could name a server of his own, and get every call.
func isOwn(info fs.FileInfo) bool {
	of, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(of.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}
