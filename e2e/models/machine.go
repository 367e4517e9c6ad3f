package models

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// Machine describes in a line what the figures were measured on.
func Machine() string {
	name := "unknown processor"
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			name = strings.TrimSpace(value)
		}
	}
	return fmt.Sprintf("%s, %d cores, %s/%s, no GPU", name, runtime.NumCPU(), runtime.GOOS,
		runtime.GOARCH)
}

// Load returns the machine's load average over the last minute; 0 where it is not known.
func Load() float64 {
	b, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(b), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}

// Revision returns the commit of the source that is measured. It ends in -dirty if files were
// changed, since then nobody could repeat the measurement.
func Revision() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
