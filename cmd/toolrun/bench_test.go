package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"toolnorm/internal/test/must"
)

// build makes the program once more, as it is installed.
func build(t testing.TB) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "toolrun")
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// BenchmarkToolrun is what a command costs from its start to its end: a tool on SQLite, and help,
// which is the start alone. Run it by: go test ./cmd/toolrun -run '^$' -bench Toolrun -benchtime
// 50x
func BenchmarkToolrun(b *testing.B) {
	path, data := build(b), b.TempDir()
	for name, args := range map[string][]string{
		"start": {"-h"},
		"tool":  {"--data", data, "calculate_vacation_days", `{"employee_id":"EMP001","year":2025}`},
	} {
		b.Run(name, func(b *testing.B) {
			if out, err := exec.Command(path, args...).CombinedOutput(); err != nil { // makes the data
				b.Fatalf("%v\n%s", err, out)
			}
			for b.Loop() {
				must.OK(b, exec.Command(path, args...).Run())
			}
		})
	}
}
