package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"toolnorm/internal/clip"

	"github.com/mark3labs/mcp-go/client/transport"
)

// passedVariables are the variables of our environment that a command gets, as with the official
// SDKs: those that a program needs to start. Our environment has keys of clients and model servers,
// which the command must not see. Without PATH npx finds no node, without HOME it has no cache; the
// last ones are for Windows.
var passedVariables = []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "TZ",
	"TMPDIR", "TEMP", "TMP", "SystemRoot", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "PATHEXT", "COMSPEC"}

// Hops is set in the environment of every command that is started for mcp.json. A toolnorm that
// finds it there connects with no servers itself: else a mcp.json that names toolnorm would start
// one program from the other without end.
const Hops = "TOOLNORM_HOPS"

// process is a server that runs as a command of ours. mcp-go's own transport would start the
// command with all of our environment, in our process group, and read lines of any length; so it
// only gets the two ends of the pipes.
type process struct {
	*transport.Stdio
	cmd   *exec.Cmd
	ended chan struct{} // closed when the command has ended
	heard chan struct{} // closed when its standard error has
	pipes []io.Closer   // our ends
}

// startGrace is how long a command may take to end when its input is closed, and again when it is
// asked to. Most servers end with their input at once; npx and uvx do not always pass it on.
const startGrace = time.Second

// start starts the entry's command. Each line that it writes to standard error is passed to told;
// when its output has ended, lost is called with the reason. The command is started with the words
// from the file, without a shell, so nothing in them is interpreted again.
func (e Entry) start(ctx context.Context, told func(line string), lost func(error)) (
	*process, error) {
	cmd := exec.Command(e.Command, e.Args...)
	cmd.Dir, cmd.Env = e.Dir, []string{}
	for _, name := range passedVariables {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	// Before the entry's own variables, so that mcp.json has the last word on all of them.
	cmd.Env = append(cmd.Env, Hops+"=1")
	for name, v := range e.Env {
		cmd.Env = append(cmd.Env, name+"="+v)
	}
	// No CommandContext: it kills the command alone, and leaves what npx or uvx have started.
	ownGroup(cmd)
	// Pipes of our own: those of exec are closed by Wait, and then the last answer may not have
	// been read.
	out, err := newPipe(&cmd.Stdout)
	if err != nil {
		return nil, err
	}
	words, wrong := newPipe(&cmd.Stderr)
	stdin, err := cmd.StdinPipe()
	if err = errors.Join(wrong, err); err == nil {
		err = cmd.Start()
	}
	_, _ = cmd.Stdout.(*os.File).Close(), cmd.Stderr.(*os.File).Close() // the command has its own
	if err != nil {
		return nil, fmt.Errorf("start: %w", errors.Join(err, out.Close(), words.Close()))
	}
	p := &process{cmd: cmd, ended: make(chan struct{}), heard: make(chan struct{}),
		pipes: []io.Closer{out, words}}
	go func() { listen(words, told); close(p.heard) }() // ends with the command, or with Close
	go func() { _ = cmd.Wait(); close(p.ended) }()      // ends with the command
	// A server that writes without a line's end would else fill the memory.
	in := &watched{&bounded{ReadCloser: out, unit: oneLine}, p.heard, lost}
	// An empty standard error: ours is read above, so that its lines reach the log.
	p.Stdio = transport.NewIO(in, stdin, io.NopCloser(strings.NewReader("")))
	transport.WithCommandLogger(silent)(p.Stdio)
	if err := p.Stdio.Start(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// newPipe makes a pipe whose other end a command gets.
func newPipe(theirs *io.Writer) (*os.File, error) {
	r, w, err := os.Pipe()
	*theirs = w
	return r, err
}

// Close ends the command and all that it has started: by the end of its input, as the protocol has
// it (Lifecycle, Shutdown), then by SIGTERM, then by SIGKILL, each after startGrace. An error means
// that even that did not end it.
func (p *process) Close() error {
	_ = p.Stdio.Close() // closes its input
	defer func() {
		for _, pipe := range p.pipes {
			_ = pipe.Close() // a process that it has left running may hold the other end
		}
		<-p.heard
	}()
	for _, end := range []func(*exec.Cmd){func(*exec.Cmd) {}, terminate, kill} {
		end(p.cmd)
		select {
		case <-p.ended:
			kill(p.cmd) // processes that it has left running
			return nil
		case <-time.After(startGrace):
		}
	}
	return fmt.Errorf("%s does not end", p.cmd.Path)
}

// watched reports the end of the output. If the command has ended, watched waits for its last
// words, which say why; a command that has only closed its output gets startGrace to end.
type watched struct {
	io.Reader
	heard <-chan struct{}
	lost  func(error)
}

// Read reads the output. At its end it waits a moment for the last words of the command, which say
// why, and then reports the end.
func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	if err == io.EOF {
		select {
		case <-w.heard:
		case <-time.After(startGrace):
		}
	}
	if err != nil {
		w.lost(err)
	}
	return n, err
}

// listen reads lines to the end. It keeps only the beginning of a long line, and drops the lines of
// a server that floods, which it reads slowly. It must never stop reading: a server whose standard
// error is not read stops when the pipe is full.
func listen(r io.Reader, told func(string)) {
	b := bufio.NewReaderSize(r, 16<<10)
	var q quota
	for {
		line, more, err := b.ReadLine()
		if err != nil {
			return
		}
		if !q.take(1, len(line), maxNoise) {
			_, _ = b.Discard(b.Buffered())
			// lines that were dropped do not count
			q.units, q.bytes = maxNoise.units, maxNoise.bytes
			time.Sleep(floodPause)
			continue
		}
		told(clip.To(string(line), 1024))
		// ReadLine returns a long line in pieces of the buffer's size; the first is enough for a
		// log.
		for more && err == nil {
			_, more, err = b.ReadLine()
		}
	}
}

// floodPause is between two looks at a standard error that floods.
const floodPause = 100 * time.Millisecond
