package main

import (
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// spoken is what "toolnorm mcp" writes when its client has said that and closed the connection.
func spoken(t *testing.T, said string, flags ...string) (stdout, stderr string, err error) {
	t.Helper()
	clean(t, "")
	return ran(t, said, append([]string{"mcp"}, flags...)...)
}

func TestStandardOutputCarriesTheProtocolAlone(t *testing.T) {
	said := strings.Join([]string{
		initialize,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`no message at all`,
		`{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{"name":"calculate_vacation_days","arguments":{"employee_id":"EMP001","year":"2025"}}}`,
	}, "\n")
	stdout, stderr, err := spoken(t, said, "--log-level", "debug")
	if err != nil {
		t.Fatalf("%v, log: %s", err, stderr)
	}
	answers := map[string]string{}
	for line := range strings.Lines(stdout) {
		var m struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
			t.Errorf("standard output has %q", line)
		}
		answers[string(m.ID)] = line
	}
	for id, want := range map[string]string{"0": `"protocolVersion":"2025-03-26"`, "null": `"code":-32700`, `"call"`: `"remaining":14.5`} {
		if !strings.Contains(answers[id], want) {
			t.Errorf("the answer to %s is %q, want %s in it", id, answers[id], want)
		}
	}
}

func TestAStoreThatCannotBeOpenedEndsMCP(t *testing.T) {
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "db"), "")
	stdout, _, err := spoken(t, initialize, "--data", dir)
	if err == nil || stdout != "" {
		t.Errorf("served from a folder that holds no data: %q, %v", stdout, err)
	}
}

// TestMCPEndsWithItsClientsConnection is about a client that has gone without closing its own end:
// what is written fails.
func TestMCPEndsWithItsClientsConnection(t *testing.T) {
	clean(t, "")
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	m := NewMain(failing{}, io.Discard)
	m.In = r
	must.OK(t, m.ParseFlags([]string{"mcp"}))
	go w.Write([]byte(initialize + "\n")) // ends when it is read
	if err := m.instead(); err == nil {
		t.Error("no error, though nothing could be written")
	}
}

// failing takes nothing.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestCustomToolsAreServedOnStandardInputAsWell(t *testing.T) {
	dir := t.TempDir()
	crm := filepath.Join(dir, "db", "sample.db") // any SQLite file will do
	tool := filepath.Join(dir, "users.yaml")
	must.Write(t, tool, "name: users\ndescription_agent: x\ntool_type: SQL\ndefinition: SELECT count(*) AS n FROM h_user\noptions: {connection: crm}\n")
	clean(t, "")
	if out, log, err := ran(t, "", "tools", "import", tool, "--data", dir, "--connection", "crm="+crm); err != nil {
		t.Fatalf("%s%s%v", out, log, err)
	}
	said := initialize + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"users","arguments":{}}}`
	stdout, stderr, err := spoken(t, said, "--data", dir, "--connection", "crm="+crm)
	if err != nil || !strings.Contains(stdout, `{\"n\":5}`) || stderr != "" {
		t.Errorf("%s, log %s, %v", stdout, stderr, err)
	}
}

// TestTheFirstListHasTheToolsOfOtherServers asks at once, as clients do that ask once.
func TestTheFirstListHasTheToolsOfOtherServers(t *testing.T) {
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "mcp.json"), `[{"name":"loud","url":"`+elsewhere(t)+`"}]`)
	clean(t, "")
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	const call = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"loud.shout","arguments":{"text":"hey"}}}`
	for _, said := range []string{list, call} {
		stdout, stderr, err := spoken(t, initialize+"\n"+said, "--data", dir)
		if err != nil || !strings.Contains(stdout, map[string]string{list: `"loud.shout"`, call: `"HEY"`}[said]) {
			t.Errorf("%s: %s, log %s, %v", said, stdout, stderr, err)
		}
	}
}
