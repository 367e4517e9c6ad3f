package aside

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// process is a child process that answers one request after another.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.Reader
	said   *head
	over   bool          // whether it was killed and answers no more
	exited chan struct{} // closed when it has ended
	since  time.Time     // when it became idle
	base   int64         // the bytes of memory that it had when it was ready
}

// variable is the environment variable that tells a child process which work to do.
const variable = "TOOLNORM_ASIDE"

// keptVariables are the only environment variables that a process inherits. Others may contain
// keys, which a fault in the process must not reveal.
var keptVariables = []string{"PATH", "HOME", "TMPDIR", "SQLITE_TMPDIR", "TMP", "TEMP", "SYSTEMROOT",
	"GOCOVERDIR", "TZ"}

// start starts this program again as a process for the named work. It does not wait until the
// process is ready. It fails if the system cannot start it.
func start(name string) (*process, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if runtime.GOOS == "linux" {
		path = "/proc/self/exe" // this program, even if its file was replaced by a newer one
	}
	p := &process{cmd: exec.Command(path), said: &head{}, exited: make(chan struct{})}
	p.cmd.Env = []string{variable + "=" + name}
	for _, name := range keptVariables {
		if value, ok := os.LookupEnv(name); ok {
			p.cmd.Env = append(p.cmd.Env, name+"="+value)
		}
	}
	p.cmd.Stderr = p.said
	read, write, err := os.Pipe() // not StdoutPipe, which Wait closes while it is read
	if err != nil {
		return nil, err
	}
	p.out, p.cmd.Stdout = read, write
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		_, _ = read.Close(), write.Close()
		return nil, err
	}
	err = p.cmd.Start()
	_ = write.Close()
	if err != nil {
		_ = read.Close()
		return nil, err
	}
	go func() { // ends with the process
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// lives reports whether the process is still running.
func (p *process) lives() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// kill kills the process. It does nothing if p is nil, as for a process that could not be started.
func (p *process) kill() {
	if p == nil {
		return
	}
	p.over = true
	_ = p.in.Close()
	_ = p.cmd.Process.Kill()
	if c, ok := p.out.(io.Closer); ok {
		_ = c.Close()
	}
}

// look is the interval at which the memory of a working process is read. Within it a process may
// exceed its limit by some megabytes.
const look = 5 * time.Millisecond

// ask sends a request and returns the answer. It fails if the request cannot be sent, if ctx ends,
// if the process exceeds a memory limit of w or ends, or if the work returned an error.
func (p *process) ask(ctx context.Context, request []byte, w *Worker) ([]byte, error) {
	sent := make(chan error, 1)
	go func() { // ends when the process has read it, or is killed
		sent <- send(p.in, ok, request)
	}()
	answer, err := p.answer(ctx, w)
	if p.over {
		return answer, err
	}
	if wrong := <-sent; wrong != nil && err == nil {
		err = wrong
	}
	return answer, err
}

// answer returns the next message of the process. It kills the process and fails if ctx ends, if
// the process exceeds a memory limit of w, or if its output ends; a nil w sets no limits. If the
// work returned an error, answer returns it as a Failed.
func (p *process) answer(ctx context.Context, w *Worker) ([]byte, error) {
	type message struct {
		kind byte
		text []byte
		err  error
	}
	got := make(chan message, 1)
	go func() { // ends with the message, or with the process
		kind, text, err := receive(p.out)
		got <- message{kind, text, err}
	}()
	tick := time.NewTicker(look)
	defer tick.Stop()
	exceeded := func() string { return "" }
	if w != nil {
		var release func()
		exceeded, release = w.bounds(p)
		defer release()
	}
	for {
		select {
		case m := <-got:
			switch {
			case m.err != nil:
				p.kill()
				return nil, &Ended{Why: p.last(m.err)}
			case m.kind == failed:
				return nil, Failed(m.text)
			case m.kind == last:
				p.kill()
			}
			return m.text, nil
		case <-ctx.Done():
			p.kill()
			return nil, context.Cause(ctx)
		case <-tick.C:
			if why := exceeded(); why != "" {
				p.kill()
				return nil, &Ended{Memory: true, Why: why}
			}
		}
	}
}

// last returns the reason why a process ended: the first line that it printed, since that names the
// cause of a crash, or err if it printed nothing. Messages may end before all other output was
// read, so last waits up to a second for the process to end.
func (p *process) last(err error) string {
	select {
	case <-p.exited:
	case <-time.After(time.Second):
	}
	line, _, _ := strings.Cut(p.said.String(), "\n")
	if line == "" {
		return fmt.Sprintf("its process ended: %v", err)
	}
	return "its process ended: " + line
}

// memory returns how many bytes of memory the process has, or 0 if the system does not report it.
func (p *process) memory() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	if fields := strings.Fields(string(text)); err == nil && len(fields) > 1 {
		if pages, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			return pages * int64(os.Getpagesize())
		}
	}
	return 0
}

// head stores the beginning of what a process prints, since the reason of a crash is in the first
// line.
type head struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// maxHead is how many bytes a head stores.
const maxHead = 4096

// Write stores as much of b as fits and discards the rest. It never fails, because an error would
// stop the process.
func (h *head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(b[:min(maxHead-h.text.Len(), len(b))])
	return len(b), nil
}

// String returns the beginning of what was written.
func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// The kinds of messages.
const (
	ok     = 0
	failed = 1
	last   = 2 // the answer is good, and the process ends
)

// largest is the most bytes of a message: enough for a file of 64 MiB and what is made of it.
const largest = 256 << 20

// errLarge is the error for a message that is larger than largest.
var errLarge = errors.New("the message is too large")

// send writes a message: its kind, its length and its bytes. It fails if the message is too large
// or w fails.
func send(w io.Writer, kind byte, text []byte) error {
	if len(text) > largest {
		return errLarge
	}
	head := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(text)))
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err := w.Write(text)
	return err
}

// receive reads one message. It fails if the message is too large or r ends before the message
// does.
func receive(r io.Reader) (kind byte, text []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > largest {
		return 0, nil, errLarge
	}
	text = make([]byte, n)
	_, err = io.ReadFull(r, text)
	return head[0], text, err
}
