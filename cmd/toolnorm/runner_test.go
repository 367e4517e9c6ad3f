package main

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
	"toolnorm/runner"
)

func TestARunnerFindsTheServerAndNeedsNoKey(t *testing.T) {
	clean(t, "")
	dir := t.TempDir()
	m := serving(t, io.Discard, "--data", dir, "--api-keys", "a-key-of-somebody-else")
	address, err := runner.FindAddress(dir)
	if err != nil || address.URL != m.URL() {
		t.Fatalf("found %s, %v; want %s", address.URL, err, m.URL())
	}
	own := runner.Client{Address: address}
	out, err := own.Call(t.Context(), "calculate_vacation_days", []byte(`{"employee_id":"EMP001","year":"2025"}`))
	if want := `{"success":true,"result":{"employee_id":"EMP001","year":2025,"total":19,"used":4.5,"remaining":14.5}}`; err != nil || string(out.JSON()) != want {
		t.Errorf("got %s, %v", out.JSON(), err)
	}
	id := must.Have(m.door.pending.Keep("get_employee_info", []byte(`{"employee_id":"EMP002"}`)))(t)
	if out, err := own.CallPending(t.Context(), id); err != nil || !strings.Contains(string(out.Result), "이서연") {
		t.Errorf("got %s, %v", out.JSON(), err)
	}
	for token, want := range map[string]error{"": runner.ErrNotThere, "wrong": runner.ErrNotThere, "a-key-of-somebody-else": nil} {
		other := runner.Client{Address: runner.Address{URL: m.URL(), Token: token}}
		if _, err := other.Tools(t.Context()); !errors.Is(err, want) {
			t.Errorf("with %q: %v", token, err)
		}
	}
	resp := must.Open(t, "GET", m.URL()+"/runner/tools", "", "Host: evil.example", "Authorization: Bearer "+address.Token)
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("under a foreign host: %s", resp.Status)
	}
	must.OK(t, m.Close())
	if _, err := runner.FindAddress(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the end: %v", err)
	}
}

func TestARunnerThatIsNotOnThePathIsSaid(t *testing.T) {
	clean(t, "")
	t.Setenv("PATH", t.TempDir())
	for name, row := range map[string]struct {
		args []string
		ask  string // the model that a client asks for
		said int
	}{
		"nobody uses the dialect":   {nil, "demo/hermes", 0},
		"the settings ask for it":   {[]string{"--client-form", "*=shell"}, "", 1},
		"a client does":             {nil, "demo/hermes@shell", 1},
		"both":                      {[]string{"--client-form", "*=shell"}, "demo/hermes", 1},
		"there are no tools to run": {[]string{"--client-form", "*=shell", "--no-tools"}, "", 0},
	} {
		out := new(log)
		m := serving(t, out, append(row.args, "--data", t.TempDir())...)
		for range 2 {
			if row.ask == "" {
				break
			}
			resp := must.Open(t, "POST", "http://"+m.server.listener.Addr().String()+"/v1/chat/completions", `{"model":"`+row.ask+`","messages":[{"role":"user","content":"hi"}]}`, "Content-Type: application/json")
			resp.Body.Close()
		}
		if got := strings.Count(out.String(), "not on PATH"); got != row.said {
			t.Errorf("%s: said %d times, want %d: %s", name, got, row.said, out)
		}
	}
}

func TestWhereThisMachineReachesAListener(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:80": "127.0.0.1:80", "0.0.0.0:81": "127.0.0.1:81", "[::]:82": "127.0.0.1:82", "[::1]:83": "[::1]:83", "192.168.1.2:84": "192.168.1.2:84",
	} {
		addr := must.Have(net.ResolveTCPAddr("tcp", listen))(t)
		if got := reachable(addr); got != want {
			t.Errorf("reachable(%s) = %s, want %s", listen, got, want)
		}
	}
}
