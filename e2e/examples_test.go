package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"
	"toolnorm/internal/test/transcript"
)

// readmes are the examples that are no Go programs, each with the environment of Python that it
// needs.
var readmes = map[string]string{"curl": "", "custom-tools": "", "python-openai": "clients", "langchain": "clients"}

// TestExamplesPrintWhatTheirReadmesShow types what the README of an example tells its reader to
// type, line by line, and compares what it prints. Servers are started and packages installed by
// the lane instead. The examples in Go have tests of their own.
func TestExamplesPrintWhatTheirReadmesShow(t *testing.T) {
	l := &lane{}
	demand(t, nil, l.scratch())
	t.Cleanup(l.stop)
	demand(t, nil, l.build())
	out, err := exec.Command("go", "build", "-o", filepath.Join(l.dir, "toolrun"), "toolnorm/cmd/toolrun").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for folder, environment := range readmes {
		t.Run(folder, func(t *testing.T) {
			path := l.dir + ":" + os.Getenv("PATH")
			if environment != "" {
				python, missing := sdkPython(environment)
				demand(t, missing, nil)
				path = filepath.Dir(python) + ":" + path
			}
			addr, err := freeAddr()
			demand(t, nil, err)
			env := append(l.env(), "PATH="+path, "TOOLNORM_DATA="+filepath.Join(l.dir, logName(addr)), "TOOLNORM_URL=http://"+addr+"/v1",
				"NO_PROXY=127.0.0.1", "PYTHONDONTWRITEBYTECODE=1", "LANGSMITH_TRACING=false")
			l.typeReadme(t, filepath.Join("../examples", folder), addr, env)
		})
	}
}

// typeReadme runs a README's commands in its folder.
func (l *lane) typeReadme(t *testing.T, folder, addr string, env []string) {
	t.Helper()
	page := must.Read(t, filepath.Join(folder, "README.md"))
	started, ran := 0, 0
	for _, c := range transcript.Commands(string(page)) {
		switch {
		case c.Text == "toolnorm &":
			must.Have(l.startToolnormAt(addr, "--ollama", "127.0.0.1:1"))(t)
			started++
			continue
		case strings.HasPrefix(c.Text, "pip install "):
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, "sh", "-c", strings.ReplaceAll(c.Text, "127.0.0.1:11435", addr))
		cmd.Dir, cmd.Env = folder, env
		got, err := cmd.CombinedOutput()
		cancel()
		if err != nil || !c.Prints(string(got)) {
			t.Errorf("%s\nprints %v\n%s\nits README shows\n%s", c.Text, err, got, c.Output)
		}
		ran++
	}
	if started != 1 || ran == 0 {
		t.Errorf("%s starts %d servers and asks %d times", folder, started, ran)
	}
}
