package mcpserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ended are the sessions that their clients have given up, and when: their ids are signed, and would be good again after a restart.
// They are kept in a file, one a line, until they are too old to be good anyway.
type ended struct {
	path string // empty: no file
	at   map[string]time.Time
}

// maxEnded is how many are known. Of one too many the oldest tenth is forgotten.
const maxEnded = 100_000

// newEnded reads the file, if there is one. An error means that nothing is known, and that nothing will be written.
func newEnded(path string, now time.Time) (*ended, error) {
	e := &ended{path: path, at: map[string]time.Time{}}
	if path == "" {
		return e, nil
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.path = ""
		return e, err
	}
	lines := 0
	for line := range bytes.Lines(text) {
		var name string
		var seconds int64
		lines++
		if n, _ := fmt.Sscanf(string(line), "%32s %d", &name, &seconds); n == 2 && now.Sub(time.Unix(seconds, 0)) <= sessionLife {
			e.at[name] = time.Unix(seconds, 0)
		}
	}
	if lines > len(e.at) {
		err = e.rewrite()
	} else {
		err = nil
	}
	return e, err
}

// nameOf stands for an id: whoever reads the file learns none.
func nameOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

// has says that an id was given up.
func (e *ended) has(id string) bool {
	_, ok := e.at[nameOf(id)]
	return ok
}

// add makes an id void.
func (e *ended) add(id string, now time.Time) error {
	name := nameOf(id)
	e.at[name] = now
	if len(e.at) > maxEnded {
		e.forget(now)
		return e.rewrite()
	}
	if e.path == "" {
		return nil
	}
	f, err := os.OpenFile(e.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %d\n", name, now.Unix()) // one write, so that of two programs both lines stand
	return errors.Join(err, f.Close())
}

// forget drops the oldest tenth, and what is too old.
func (e *ended) forget(now time.Time) {
	all := make([]time.Time, 0, len(e.at))
	for _, at := range e.at {
		all = append(all, at)
	}
	slices.SortFunc(all, time.Time.Compare)
	last := all[len(all)/10]
	for name, at := range e.at {
		if !at.After(last) || now.Sub(at) > sessionLife {
			delete(e.at, name)
		}
	}
}

// rewrite writes the file anew.
func (e *ended) rewrite() error {
	if e.path == "" {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(e.path), filepath.Base(e.path)+".*") // made with mode 0600
	if err != nil {
		return err
	}
	var b strings.Builder
	for name, at := range e.at {
		fmt.Fprintf(&b, "%s %d\n", name, at.Unix())
	}
	_, err = f.WriteString(b.String())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), e.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
