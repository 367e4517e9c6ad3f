package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
)

// giveBack returns to the system what the start took and a server at rest does not need: the garbage, which Go alone would keep for
// minutes, and the pages of the program itself. The start runs code all over it, and the system maps 16 pages for each that is used.
// They stay in the system's cache, and come back when they are used.
func giveBack() {
	debug.FreeOSMemory()
	program, err := os.Executable()
	if err != nil {
		return
	}
	all, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, part := range programPages(string(all), program) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, part[0], part[1]-part[0], syscall.MADV_DONTNEED) // it is only advice
	}
}

// programPages returns the addresses of a program's pages that can be read again from its file: nobody may write there, and nobody has,
// as a loader does that moves a program.
func programPages(smaps, program string) (parts [][2]uintptr) {
	var part [2]uintptr
	for line := range strings.Lines(smaps) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 3:
		case strings.Contains(fields[0], "-"):
			part = [2]uintptr{}
			if _, path, _ := strings.Cut(line, "/"); strings.TrimSpace("/"+path) == program && !strings.Contains(fields[1], "w") {
				_, _ = fmt.Sscanf(fields[0], "%x-%x", &part[0], &part[1])
			}
		case fields[0] == "Anonymous:" && fields[1] == "0" && part[1] > 0:
			parts = append(parts, part)
		}
	}
	return parts
}
