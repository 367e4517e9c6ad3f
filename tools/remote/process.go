package remote

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
)

// passed are the variables that a command gets of our environment, as the official SDKs have it: what a program needs to
// start. Ours holds keys of clients and model servers, which are none of its business.
var passed = []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "TZ", "TMPDIR", "TEMP", "TMP", "SystemRoot", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "PATHEXT", "COMSPEC"}

// Hops is set in the environment of every command that is started for mcp.json. A toolnorm that finds it there connects
// with no servers itself: else a mcp.json that names toolnorm would start one program from the other without end.
const Hops = "TOOLNORM_HOPS"

// process is a server that runs as a command of ours.
type process struct {
	*transport.Stdio
	cmd   *exec.Cmd
	stdin io.Closer
	ended chan struct{} // closed when the command has ended
}

// startGrace is how long a command may take to end when its input is closed, and again when it is asked to.
const startGrace = time.Second

// start starts the entry's command. What it writes to standard error goes to told, a line at a time.
func (e Entry) start(ctx context.Context, told func(line string), lost func()) (*process, error) {
	cmd := exec.Command(e.Command, e.Args...)
	cmd.Dir, cmd.Env = e.Dir, []string{}
	for _, name := range passed {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Env = append(cmd.Env, Hops+"=1")
	for name, v := range e.Env {
		cmd.Env = append(cmd.Env, name+"="+v)
	}
	ownGroup(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	p := &process{cmd: cmd, stdin: stdin, ended: make(chan struct{})}
	heard := make(chan struct{})
	go func() { listen(stderr, told); close(heard) }() // ends with the command, as the others
	out := &watched{Reader: &bounded{ReadCloser: stdout, unit: oneLine}, ended: make(chan struct{})}
	go func() {
		<-out.ended // nothing may be read behind Wait
		<-heard
		_ = cmd.Wait()
		close(p.ended)
		lost()
	}()
	p.Stdio = transport.NewIO(out, stdin, io.NopCloser(strings.NewReader("")))
	if err := p.Stdio.Start(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// Close ends the command and all that it has started: by the end of its input, as the protocol has it, then by a signal.
func (p *process) Close() error {
	_ = p.Stdio.Close() // closes its input
	for _, end := range []func(*exec.Cmd){func(*exec.Cmd) {}, terminate, kill} {
		end(p.cmd)
		select {
		case <-p.ended:
			kill(p.cmd) // what it has left behind
			return nil
		case <-time.After(startGrace):
		}
	}
	return fmt.Errorf("%s does not end", p.cmd.Path)
}

// watched tells when what is read has ended.
type watched struct {
	io.Reader
	ended chan struct{}
	over  bool
}

// Read passes on what is read.
func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	if err != nil && !w.over {
		w.over = true
		close(w.ended)
	}
	return n, err
}

// listen reads lines to the end. What follows the beginning of a long one is dropped.
func listen(r io.Reader, told func(string)) {
	b := bufio.NewReaderSize(r, 1024)
	for {
		line, more, err := b.ReadLine()
		if err != nil {
			return
		}
		told(string(line))
		for more && err == nil {
			_, more, err = b.ReadLine()
		}
	}
}
