package mcpserver

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

func TestASessionThatWasEndedStaysSo(t *testing.T) {
	cfg := Config{Key: bytes.Repeat([]byte("k"), 32), Ended: filepath.Join(t.TempDir(), "mcp.ended")}
	first := serve(t, cfg)
	h, other := first.initialized("2025-06-18", "x", "1"), first.initialized("2025-06-18", "x", "1")
	if resp := first.do(http.MethodDelete, "/mcp", "", h); resp.StatusCode != 204 {
		t.Fatalf("DELETE: %s", resp.Status)
	}
	again := serve(t, cfg)
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	if status, _ := again.post(ping, h); status != 404 {
		t.Errorf("after a restart: %d, want 404", status)
	}
	if status, _ := again.post(ping, other); status != 200 {
		t.Errorf("the other one: %d, want 200", status)
	}
	text, err := os.ReadFile(cfg.Ended)
	if info, e := os.Stat(cfg.Ended); err != nil || e != nil || info.Mode().Perm() != 0o600 || strings.Contains(string(text), h["Mcp-Session-Id"]) {
		t.Errorf("%v %v %v %s", err, e, info.Mode(), text)
	}
}

func TestWhatIsTooOldIsForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.ended")
	now := time.Unix(1_800_000_000, 0)
	for id, at := range map[string]time.Time{"old": now.Add(-sessionLife - time.Second), "young": now.Add(-sessionLife + time.Hour)} {
		e, err := newEnded(path, at)
		if err = errorOf(err, e.add(id, at)); err != nil {
			t.Fatal(err)
		}
	}
	must.OK(t, appendTo(path, "not a line\n\xff\n"))
	e, err := newEnded(path, now)
	if err != nil || e.has("old") || !e.has("young") || e.has("other") {
		t.Errorf("%v %v", e.at, err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != fmt.Sprintf("%s %d\n", nameOf("young"), now.Add(-sessionLife+time.Hour).Unix()) {
		t.Errorf("%q, %v", text, err)
	}
}

func TestWhatIsEndedIsBounded(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	e, err := newEnded("", now)
	for i := 0; i <= maxEnded && err == nil; i++ {
		err = e.add(fmt.Sprint(i), now.Add(time.Duration(i)*time.Second))
	}
	if err != nil || len(e.at) > maxEnded || len(e.at) < maxEnded*8/10 || !e.has(fmt.Sprint(maxEnded)) || e.has("0") {
		t.Errorf("%d are known, %v", len(e.at), err)
	}
}

func TestAFileThatCannotBeReadIsNoEnd(t *testing.T) {
	if e, err := newEnded(t.TempDir(), time.Now()); err == nil || e.add("a", time.Now()) != nil || !e.has("a") {
		t.Errorf("%+v, %v", e, err)
	}
}

// errorOf is the first error.
func errorOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// appendTo writes behind a file's end.
func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errorOf(err, f.Close())
}
