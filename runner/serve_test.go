package runner

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// registry has a tool that gives its arguments back, and one that ends with its context.
func registry(t *testing.T, ended chan<- struct{}) *tools.Registry {
	t.Helper()
	r := tools.New(tools.Options{})
	err := r.Set("test",
		tools.Tool{Name: "echo", Title: "Echo", Description: "Says it again.", Schema: json.RawMessage(`{"type":"object"}`), Call: tools.Typed(func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
			return args, nil
		})},
		tools.Tool{Name: "wait", Call: func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
			<-ctx.Done()
			close(ended)
			return tools.Result{}, ctx.Err()
		}})
	must.OK(t, err)
	return r
}

// serve starts the proxy's side for as long as the test runs.
func serve(t *testing.T, h http.Handler) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return &Client{Address{URL: s.URL + "/", Token: "token"}}
}

func TestACallIsRunByTheProxy(t *testing.T) {
	var pending Pending
	c := serve(t, NewServer(registry(t, nil), &pending, zerolog.Nop()))
	for args, want := range map[string]string{
		`{"a":"한글 <&> \u0000"}`: `{"success":true,"result":{"a":"한글 <&> \u0000"}}`,
		``:                      `{"success":true,"result":{}}`,
		`{'a'`:                  `{"success":false,"error":"the arguments of echo must be a JSON object: json: cannot unmarshal string into Go value of type map[string]json.RawMessage"}`,
	} {
		if out, err := c.Call(t.Context(), "echo", json.RawMessage(args)); err != nil || string(out.JSON()) != want {
			t.Errorf("Call(%s) = %s, %v; want %s", args, out.JSON(), err, want)
		}
	}
	if out, err := c.Call(t.Context(), "ecco", nil); err != nil || out.Error != `there is no tool "ecco"; did you mean echo?` {
		t.Errorf("Call = %s, %v", out.JSON(), err)
	}
	id := must.Have(pending.Keep("echo", json.RawMessage(`{"kept":true}`)))(t)
	if out, err := c.CallPending(t.Context(), id); err != nil || string(out.Result) != `{"kept":true}` {
		t.Errorf("CallPending = %s, %v", out.JSON(), err)
	}
	if _, err := c.CallPending(t.Context(), id); err == nil || errors.Is(err, ErrNotThere) || err.Error() != errNotPending.Error() {
		t.Errorf("a second time: %v", err)
	}
	all, err := c.Tools(t.Context())
	if err != nil || len(all) != 2 || all[0].Name != "echo" || all[0].Description != "Says it again." || string(all[0].Schema) != `{"type":"object"}` {
		t.Errorf("Tools = %+v, %v", all, err)
	}
}

func TestWhatIsNoCallIsRefused(t *testing.T) {
	c := serve(t, NewServer(registry(t, nil), new(Pending), zerolog.Nop()))
	for _, tt := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "runner/call", "", 405}, {"POST", "runner/tools", "", 405}, {"GET", "runner/else", "", 404},
		{"POST", "runner/call", "", 400}, {"POST", "runner/call", "[]", 400}, {"POST", "runner/call", `{"id":"x"}`, 404},
		{"POST", "runner/call", `{"name":"echo","arguments":{"a":"` + strings.Repeat("x", mostBody) + `"}}`, 413},
	} {
		resp, body := must.Ask(t, tt.method, c.URL+tt.path, tt.body)
		if resp.StatusCode != tt.status || !json.Valid([]byte(body)) {
			t.Errorf("%s %s: %s %s, want %d", tt.method, tt.path, resp.Status, body, tt.status)
		}
	}
}

func TestACallerThatGoesAwayEndsTheCall(t *testing.T) {
	ended := make(chan struct{})
	c := serve(t, NewServer(registry(t, ended), new(Pending), zerolog.Nop()))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.Call(ctx, "wait", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Call = %v", err)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the tool still runs")
	}
}

func TestWhoRunsNoCallsIsNotThere(t *testing.T) {
	answers := func(status int, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, body)
		})
	}
	for name, tt := range map[string]struct {
		h     http.Handler
		there bool
	}{
		"another server":          {answers(404, "not found"), false},
		"another token":           {answers(401, `{"error":{"message":"no such key"}}`), false},
		"a page":                  {answers(200, "<html>"), true}, // for a call: nobody knows whether it ran
		"a redirect":              {http.RedirectHandler("http://127.0.0.1:1/", http.StatusTemporaryRedirect), true},
		"a server that is broken": {answers(500, `{"error":{"message":"oh"}}`), true},
		"one that breaks off": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			panic(http.ErrAbortHandler)
		}), true},
	} {
		_, err := serve(t, tt.h).Call(t.Context(), "f", nil)
		if err == nil || errors.Is(err, ErrNotThere) == tt.there {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (&Client{Address{URL: "http://127.0.0.1:1"}}).Call(t.Context(), "f", nil); !errors.Is(err, ErrNotThere) {
		t.Errorf("nobody: %v", err)
	}
}

func TestAnAddressIsItsOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if _, err := FindAddress(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before the start: %v", err)
	}
	first, second := Address{"http://127.0.0.1:1", NewToken()}, Address{"http://127.0.0.1:2", NewToken()}
	for _, a := range []Address{first, second} {
		must.OK(t, a.Announce(dir))
		if got, err := FindAddress(dir); err != nil || got != a {
			t.Errorf("found %v, %v", got, err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, addressFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	must.OK(t, first.Withdraw(dir))
	if _, err := FindAddress(dir); err != nil {
		t.Error("the first one took the second one's address back")
	}
	must.OK(t, second.Withdraw(dir))
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	must.Write(t, filepath.Join(dir, addressFile), "{")
	if _, err := FindAddress(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a broken file: %v", err)
	}
}

// Calls go nowhere that somebody else may have named.
func TestAForeignAddressIsRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, addressFile)
	must.OK(t, (Address{"http://127.0.0.1:1", NewToken()}).Announce(dir))
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o644: true, 0o620: false, 0o602: false, 0o666: false} {
		must.OK(t, os.Chmod(path, mode))
		if _, err := FindAddress(dir); ok != (err == nil) || !ok && !errors.Is(err, ErrForeign) {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	must.OK(t, errors.Join(os.Chmod(path, 0o600), os.Rename(path, filepath.Join(dir, "other")), os.Symlink("other", path)))
	if _, err := FindAddress(dir); !errors.Is(err, ErrForeign) {
		t.Errorf("a link: %v", err)
	}
	must.OK(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700)))
	if _, err := FindAddress(dir); !errors.Is(err, ErrForeign) {
		t.Errorf("a folder: %v", err)
	}
	if os.Geteuid() != 0 {
		return // only root can give a file away
	}
	must.OK(t, errors.Join(os.Remove(path), os.Rename(filepath.Join(dir, "other"), path), os.Chown(path, 65534, 65534)))
	if _, err := FindAddress(dir); !errors.Is(err, ErrForeign) {
		t.Errorf("another's: %v", err)
	}
}

func TestATokenAdmits(t *testing.T) {
	a := Address{Token: NewToken()}
	for header, want := range map[string]bool{"Bearer " + a.Token: true, a.Token: false, "Bearer ": false, "": false, "Bearer " + a.Token + "x": false} {
		if a.Admits(header) != want {
			t.Errorf("Admits(%q) = %v", header, !want)
		}
	}
	if (Address{}).Admits("Bearer ") {
		t.Error("no token admits everyone")
	}
}
