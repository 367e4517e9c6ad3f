package connect

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// A client that reads the file is told from one that fails, one that makes the word up and one that
// is not there.
func TestTryTellsWhetherAToolWasCalled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the clients here are scripts of a shell")
	}
	codex := Client{Name: "codex", try: &trial{args: []string{"toolnorm-test-client", "{prompt}", "{model}"}}}
	for name, row := range map[string]struct{ script, wrong string }{
		"reads":    {"cat note.txt", ""},
		"shouts":   {"tr a-z A-Z <note.txt", ""},
		"guesses":  {"echo The word is banana.", "without reading the file; it printed:\nThe word is banana."},
		"fails":    {"echo no such model: $2 >&2; exit 4", "exit status 4; it printed:\nno such model: m"},
		"not here": {"", "there is no toolnorm-test-client on the PATH"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("PATH", dir+":/usr/bin:/bin")
			if row.script != "" {
				must.OK(t, os.WriteFile(filepath.Join(dir, "toolnorm-test-client"), []byte("#!/bin/sh\n"+row.script+"\n"), 0o700))
			}
			err := codex.Try(t.Context(), dir, Server{Model: "m"})
			if (err == nil) != (row.wrong == "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
				t.Errorf("Try = %v, want %q", err, row.wrong)
			}
		})
	}
	if err := (Client{}).Try(t.Context(), "", Server{}); !errors.Is(err, ErrCannotTry) {
		t.Errorf("a client without a program: %v", err)
	}
}

// Of the servers at the usual ports those count that list models.
func TestServersAreFoundByTheirModels(t *testing.T) {
	serve := func(status int, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/models" {
				t.Errorf("asked for %s", r.URL.Path)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	found := look(t.Context(), []Found{
		{Name: "two", URL: serve(200, `{"object":"list","data":[{"id":"a"},{"id":"b"}]}`)},
		{Name: "page", URL: serve(200, "<html>")},
		{Name: "other", URL: serve(200, `{"data":[1]}`)},
		{Name: "none", URL: "http://127.0.0.1:1"},
		{Name: "broken", URL: serve(500, `{"object":"list"}`)},
	})
	if len(found) != 1 || found[0].Name != "two" || found[0].Models != 2 {
		t.Errorf("found %+v", found)
	}
}
