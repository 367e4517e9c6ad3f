package connect

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// trial is how a client is run for one task without a terminal. The client may only read files.
type trial struct {
	args []string // the program and its arguments; {prompt}, {model} and {home} are replaced
}

// ErrCannotTry is returned by Program and Try if there is no program to run.
var ErrCannotTry = errors.New("it cannot be asked from here")

// Program returns the path of the client's program. It returns an error that wraps ErrCannotTry if
// the client cannot be run for a trial or its program is not on the PATH.
func (c Client) Program() (string, error) {
	if c.try == nil {
		return "", ErrCannotTry
	}
	path, err := exec.LookPath(c.try.args[0])
	if err != nil {
		return "", fmt.Errorf("%w: there is no %s on the PATH", ErrCannotTry, c.try.args[0])
	}
	return path, nil
}

// noteFile is the name of the file that the client is asked to read.
const noteFile = "note.txt"

// mostSaid is how many bytes from the end of a client's output are quoted in an error.
const mostSaid = 1500

// Try asks the client to read a file with a random word and to answer with that word, which it can
// only do by a tool call. The client runs in a temporary folder. It returns an error if the answer
// lacks the word, or if the client cannot be run or does not end before ctx does.
func (c Client) Try(ctx context.Context, home string, s Server) error {
	program, err := c.Program()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "toolnorm-connect-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	word := strings.ToLower(rand.Text()[:8])
	if err := os.WriteFile(filepath.Join(folder, noteFile), []byte("The word is "+word+".\n"),
		0o600); err != nil {
		return err
	}
	fill := strings.NewReplacer("{model}", s.Model, "{home}", home,
		"{prompt}", "Read the file "+filepath.Join(folder, noteFile)+
			" and answer with the word that stands in it.")
	var args []string
	for _, arg := range c.try.args[1:] {
		args = append(args, fill.Replace(arg))
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = folder
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second // a process that it started may hold its output open
	out, err := cmd.CombinedOutput()
	switch said := bytes.TrimSpace(out[max(0, len(out)-mostSaid):]); {
	case ctx.Err() != nil:
		return fmt.Errorf("%s was stopped before it had read a file: %w", c.try.args[0],
			context.Cause(ctx))
	case bytes.Contains(bytes.ToLower(out), []byte(word)):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w; it printed:\n%s", c.try.args[0], err, said)
	default:
		return fmt.Errorf("%s answered without reading the file; it printed:\n%s", c.try.args[0],
			said)
	}
}
