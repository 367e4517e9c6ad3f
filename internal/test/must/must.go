// Package must does what a test needs before it can go on, and ends the test where it fails.
package must

import (
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// Read returns what is in a file.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Write makes a file, or replaces what is in it.
func Write[T string | []byte](t testing.TB, path string, text T) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Update is the flag -update of tests that compare with files: it writes these anew.
var Update = flag.Bool("update", false, "write the files with which tests compare")

// Match reports an error if a file has another text. With -update it writes the file.
func Match(t testing.TB, path, text string) {
	t.Helper()
	if *Update {
		Write(t, path, text)
		return
	}
	was, _ := os.ReadFile(path)
	have, want := strings.Split(text, "\n"), strings.Split(string(was), "\n")
	for i := range max(len(have), len(want)) {
		if i >= len(have) || i >= len(want) || have[i] != want[i] {
			t.Errorf("%s differs from line %d on:\n%s\nwant:\n%s\ngo test -run '^%s$' -update writes it",
				path, i+1, strings.Join(have[min(i, len(have)):], "\n"),
				strings.Join(want[min(i, len(want)):], "\n"), t.Name())
			return
		}
	}
}

// Listen listens at an address, on which another server may just have ended.
func Listen(t testing.TB, address string) net.Listener {
	t.Helper()
	for i := range 50 {
		l, err := net.Listen("tcp", address)
		if err == nil {
			return l
		}
		if i == 49 {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// Open sends a request and returns the answer. Its body is closed when the test ends. Headers are
// written "Name: value"; those without a value are not sent.
func Open(t testing.TB, method, url, body string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range headers {
		if name, value, _ := strings.Cut(header, ": "); value != "" {
			r.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// Ask sends a request as [Open] does, and returns the answer with its whole body.
func Ask(t testing.TB, method, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	resp := Open(t, method, url, body, headers...)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}
