package transcript

import (
	"path/filepath"
	"testing"

	"toolnorm/internal/test/must"
)

func TestOutputIsFoundInTheComment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "main.go")
	must.Write(t, file, "// Command x says a.\n//\n//\t$ go run x\n//\ta\n//\n//\t\tb\npackage main // c\n")
	if got, err := Of(file, "go run x"); err != nil || got != "a\n\n\tb\n" {
		t.Errorf("Of = %q, %v", got, err)
	}
	if got, err := Of(file, "go run y"); err == nil {
		t.Errorf("Of another command = %q", got)
	}
}
