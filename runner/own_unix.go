//go:build unix

package runner

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a file belongs to the user and no other user can write it. In a file that
// others can write, another user could put the address of his own server, and get every call.
func isOwn(info fs.FileInfo) bool {
	of, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(of.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}
