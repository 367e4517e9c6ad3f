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

// passedVariables lists the variables of our environment that a command gets: those that a program
// needs to start, as with the official SDKs. Our environment also has keys of clients and model
// servers, which the command must not see. For example, npx needs PATH to find node, and HOME for
// its cache. The last variables are for Windows.
var passedVariables = []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "TZ",
	"TMPDIR", "TEMP", "TMP", "SystemRoot", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "PATHEXT", "COMSPEC"}

// Hops is an environment variable that is set for every command started for mcp.json. A toolnorm
// that finds it connects with no servers itself. Otherwise an mcp.json that names toolnorm would
// start one program from the other without end.
const Hops = "TOOLNORM_HOPS"

// process is a server that runs as a command started by us. mcp-go's own transport would start the
// command with all of our environment and in our process group, and read lines of any length. So
// mcp-go only gets the two ends of the pipes.
type process struct {
	*transport.Stdio
	cmd   *exec.Cmd
	ended chan struct{} // closed when the command has ended
	heard chan struct{} // closed when its standard error has ended
	pipes []io.Closer   // our ends
}

// startGrace is how long a command may take to end after its input is closed, and again after
// SIGTERM. Most servers end at once when their input ends, but npx and uvx do not always pass that
// on.
const startGrace = time.Second

// start starts the entry's command, or returns an error if that fails. The function told gets each
// line that the command writes to standard error. The function lost is called with the reason when
// the command's output ends. The command runs with the words from the file and without a shell, so
// nothing in them is interpreted again.
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
	// mcp-go gets an empty standard error: that of the command is read above, for the log.
	p.Stdio = transport.NewIO(newPlainer(in, oneLine), stdin, io.NopCloser(strings.NewReader("")))
	transport.WithCommandLogger(silent)(p.Stdio)
	if err := p.Stdio.Start(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// newPipe makes a pipe for the output of a command. It returns the end for reading, and stores the
// end for writing in *theirs. It returns an error if no pipe can be made.
func newPipe(theirs *io.Writer) (*os.File, error) {
	r, w, err := os.Pipe()
	*theirs = w
	return r, err
}

// Close ends the command and everything that it has started. It closes the command's input, as the
// protocol demands (Lifecycle, Shutdown), then sends SIGTERM, then SIGKILL, and waits startGrace
// after each. An error means that the command runs even after that.
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

// watched is a reader of a command's output. It calls the function lost when the output ends.
type watched struct {
	io.Reader
	heard <-chan struct{}
	lost  func(error)
}

// Read implements io.Reader. When the output ends or reading fails, it calls the function lost with
// the error. At the end of the output it first waits until standard error has ended too, but no
// longer than startGrace, because the last lines of standard error say why the command ended.
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

// listen passes each line of r to the function told until r ends. It cuts long lines. If a server
// writes too much, listen reads slowly and drops lines. It never stops reading before the end,
// because a server blocks when its standard error is a full pipe.
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

// floodPause is the pause between two reads from a standard error that floods.
const floodPause = 100 * time.Millisecond
