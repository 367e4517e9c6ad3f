package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"toolnorm/internal/test/must"
)

// terminal makes a pseudo terminal: closing keyboard is what closing a terminal's window does.
func terminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	var number, unlock int32
	for _, ask := range []struct {
		what uintptr
		with *int32
	}{{syscall.TIOCSPTLCK, &unlock}, {syscall.TIOCGPTN, &number}} {
		if _, _, no := syscall.Syscall(syscall.SYS_IOCTL, keyboard.Fd(), ask.what, uintptr(unsafe.Pointer(ask.with))); no != 0 {
			t.Skip(no)
		}
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	return keyboard, screen
}

// TestAClosedTerminalEndsTheServer starts one in a terminal: a SIGHUP while that is open reads the
// settings again, and one because it was closed ends the server well.
func TestAClosedTerminalEndsTheServer(t *testing.T) {
	clean(t, "")
	keyboard, screen := terminal(t)
	self := must.Have(os.Executable())(t)
	p := &process{cmd: exec.Command(self, "--listen=127.0.0.1:0", "--ollama=127.0.0.1:1", "--data="+t.TempDir()), log: new(log), done: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), asProgram+"=1")
	p.cmd.Stdin, p.cmd.Stderr = screen, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must.OK(t, p.cmd.Start())
	screen.Close()
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	p.says(t, `"message":"serving"`)
	must.OK(t, p.cmd.Process.Signal(syscall.SIGHUP))
	p.says(t, "nothing else has changed")
	keyboard.Close()
	if status := p.ends(t); status != 0 || strings.Contains(p.log.String(), "panic") {
		t.Errorf("status %d:\n%s", status, p.log)
	}
}
