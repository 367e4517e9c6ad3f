package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolnorm/internal/test/must"
	"toolnorm/runner"
)

// asProgram is the variable that makes this file the program.
const asProgram = "RUN_AS_TOOLNORM"

// process is a toolnorm of its own.
type process struct {
	cmd  *exec.Cmd
	log  *log
	url  string
	done chan error
}

// startProcess starts one and waits until it serves.
func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	self := must.Have(os.Executable())(t)
	p := &process{cmd: exec.Command(self, append(args, "--listen=127.0.0.1:0", "--ollama=127.0.0.1:1")...), log: new(log), done: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), asProgram+"=1")
	p.cmd.Stderr = p.log
	must.OK(t, p.cmd.Start())
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	p.says(t, `"message":"serving"`)
	for line := range strings.Lines(p.log.String()) {
		var said struct{ URL, Message string }
		if json.Unmarshal([]byte(line), &said) == nil && said.Message == "serving" {
			p.url = strings.TrimSuffix(said.URL, "/v1")
		}
	}
	return p
}

// says waits until the log has a text.
func (p *process) says(t *testing.T, text string) {
	t.Helper()
	eventually(t, "the log lacks "+text+":\n"+p.log.String(), func() bool { return strings.Contains(p.log.String(), text) })
}

// ends waits for the end, and gives the status.
func (p *process) ends(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(time.Minute):
		t.Fatalf("it does not end:\n%s", p.log)
	}
	return p.cmd.ProcessState.ExitCode()
}

// eventually waits until something is so.
func eventually(t *testing.T, otherwise string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(otherwise)
		}
	}
}

// TestTwoServersOnOneFolderAreBothFound starts two: the address of the first stays as long as that
// lives, and is the second one's behind it, whether it ended or was killed.
func TestTwoServersOnOneFolderAreBothFound(t *testing.T) {
	clean(t, "")
	dir := t.TempDir()
	found := func() string {
		a, err := runner.FindAddress(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return a.URL
	}
	one := startProcess(t, "--data="+dir)
	eventually(t, "the first writes no address", func() bool { return found() == one.url })
	two := startProcess(t, "--data="+dir)
	two.says(t, "another toolnorm uses this data folder")
	if got := found(); got != one.url {
		t.Errorf("found %s, want the first, %s", got, one.url)
	}
	_ = one.cmd.Process.Kill()
	one.ends(t)
	eventually(t, "the second is never found", func() bool { return found() == two.url })
	three := startProcess(t, "--data="+dir)
	must.OK(t, three.cmd.Process.Signal(syscall.SIGTERM))
	if status := three.ends(t); status != 0 || found() != two.url {
		t.Errorf("status %d, found %s, want %s", status, found(), two.url)
	}
	_ = two.cmd.Process.Signal(syscall.SIGTERM)
	two.ends(t)
	if left, _ := filepath.Glob(filepath.Join(dir, "runner.json*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
