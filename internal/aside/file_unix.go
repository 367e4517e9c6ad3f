//go:build unix

package aside

import "syscall"

// largestFile is the largest size of each file that a process writes. SQLite sorts in temporary
// files.
const largestFile = 128 << 20

// smallFiles makes the system refuse files larger than largestFile.
func smallFiles() {
	_ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: largestFile, Max: largestFile})
}
