// Package must has steps that a test cannot continue without; if one fails, it ends the test.
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

// OK ends the test if there is an error.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Have returns a function that returns the value of a call, or ends the test if there is an error:
// file := must.Have(os.Open(path))(t).
func Have[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return value
	}
}

// Read returns the contents of a file. It ends the test if the file cannot be read.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	return Have(os.ReadFile(path))(t)
}

// Write creates a file with this text, or replaces its contents.
func Write[T string | []byte](t testing.TB, path string, text T) {
	t.Helper()
	OK(t, os.WriteFile(path, []byte(text), 0o644))
}

// Update is the flag -update, with which Match writes files instead of comparing with them.
var Update = flag.Bool("update", false, "write the files with which tests compare")

// Match reports an error if the text differs from the contents of a file, and shows the difference.
// With -update it writes the text to the file instead.
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

// Listen returns a listener at an address. It tries for a second, because a server that has just
// ended may still use the address.
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

// Open sends a request and returns the response, whose body is closed when the test ends. A header
// is a text "Name: value", and is not sent if the value is empty.
func Open(t testing.TB, method, url, body string, headers ...string) *http.Response {
	t.Helper()
	r := Have(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	for _, header := range headers {
		if name, value, _ := strings.Cut(header, ": "); value != "" {
			r.Header.Set(name, value)
			if name == "Host" {
				r.Host = value
			}
		}
	}
	resp := Have(http.DefaultClient.Do(r))(t)
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// Ask sends a request as [Open] does, and returns the response and its whole body.
func Ask(t testing.TB, method, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	resp := Open(t, method, url, body, headers...)
	defer resp.Body.Close()
	return resp, string(Have(io.ReadAll(resp.Body))(t))
}
