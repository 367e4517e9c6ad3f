package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/test/locked"
	"toolnorm/internal/test/must"
)

// log is what the program may write while the test reads.
type log = locked.Buffer

// clean gives the test an environment without settings, and the path of a settings file with that
// text.
func clean(t *testing.T, text string) (path string) {
	t.Helper()
	for _, env := range os.Environ() {
		if name, value, _ := strings.Cut(env, "="); strings.HasPrefix(name, "TOOLNORM_") || name == "OLLAMA_HOST" {
			os.Unsetenv(name)
			t.Cleanup(func() { os.Setenv(name, value) })
		}
	}
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("XDG_DATA_HOME", dir)
	path = filepath.Join(dir, "settings.yaml")
	must.Write(t, path, text)
	return path
}

// parsed returns the program with the settings of a command line.
func parsed(t *testing.T, args ...string) *Main {
	t.Helper()
	m := NewMain(io.Discard, io.Discard)
	must.OK(t, m.ParseFlags(args))
	return m
}

// started is the program with some settings beside those of a test.
func started(t *testing.T, out io.Writer, args ...string) (*Main, error) {
	t.Helper()
	m := NewMain(io.Discard, out)
	must.OK(t, m.ParseFlags(append(args, "--ollama", "127.0.0.1:1")))
	t.Cleanup(func() { m.Close() })
	return m, m.Run()
}

// serving is the program, at work.
func serving(t *testing.T, out io.Writer, args ...string) *Main {
	t.Helper()
	return must.Have(started(t, out, append([]string{"--listen=127.0.0.1:0"}, args...)...))(t)
}

// fresh is the program at work in an environment without settings.
func fresh(t *testing.T, args ...string) *Main {
	t.Helper()
	clean(t, "")
	return serving(t, io.Discard, args...)
}

// replicas are two programs on one PostgreSQL, at where, with no file in common.
func replicas(t *testing.T, args ...string) (first, second *Main, where string) {
	t.Helper()
	where = databases.Postgres(t)
	args = append(args, "--store", where, "--ollama=127.0.0.1:1")
	return fresh(t, append(args, "--data", t.TempDir())...), serving(t, io.Discard, append(args, "--data", t.TempDir())...), where
}

// ran runs a command to its end, and returns what it wrote and its error.
func ran(t *testing.T, in string, args ...string) (out, log string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	m := NewMain(&stdout, &stderr)
	m.In = strings.NewReader(in)
	if err = m.ParseFlags(args); err == nil {
		err = m.instead()
	}
	if errors.Is(err, errDone) {
		err = nil
	}
	return stdout.String(), stderr.String(), err
}

// wants returns a function that reports an error unless an answer has a status and holds some texts.
func wants(status int, body string) func(t *testing.T, want int, texts ...string) {
	return func(t *testing.T, want int, texts ...string) {
		t.Helper()
		lacks := func(text string) bool { return !strings.Contains(body, text) }
		if status != want || slices.ContainsFunc(texts, lacks) {
			t.Errorf("%d %.1000s, want %d with %q", status, body, want, texts)
		}
	}
}

// ask sends a request and gives the answer's status and body.
func ask(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	resp, text := must.Ask(t, method, url, body, "Accept: application/json", "Content-Type: application/json")
	return resp.StatusCode, text
}
