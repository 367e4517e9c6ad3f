package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheDocumentsCommandsPrintWhatItSays runs the lines of docs/mcp.md that begin with a dollar sign.
func TestTheDocumentsCommandsPrintWhatItSays(t *testing.T) {
	l := openMCP(t)
	base := l.toolnorm(t)
	doc, err := os.ReadFile("../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := strings.Split(string(doc), "\n    $ ")[1:]
	if len(commands) < 3 {
		t.Fatalf("%d commands", len(commands))
	}
	for _, block := range commands {
		block, _, _ = strings.Cut(block, "\n\n")
		command, want, _ := strings.Cut(strings.ReplaceAll(block, "\n    ", "\n"), "\n")
		cmd := exec.Command("sh", "-c", strings.ReplaceAll(command, "http://127.0.0.1:11435", base))
		cmd.Env = append(l.env(), "PATH="+filepath.Dir(l.binary)+":"+os.Getenv("PATH"), "XDG_DATA_HOME="+t.TempDir())
		got, err := cmd.Output()
		if err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("%s\nprints %s %v\nthe document says %s", command, got, err, want)
		}
	}
}
