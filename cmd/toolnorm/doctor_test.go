package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/cmd/toolnorm/internal/command"
	"toolnorm/internal/doctor"
	"toolnorm/internal/test/must"
	"toolnorm/internal/version"
)

// examines runs doctor, and gives what it prints and the status that the program would end with.
func examines(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	stdout, stderr, err := ran(t, "", append([]string{"doctor"}, args...)...)
	if err != nil {
		status = command.StatusOf(err)
	}
	return stdout, stderr, status
}

func TestDoctorEndsAsItFinds(t *testing.T) {
	path := clean(t, "upstreams: [{name: box, url: 'openai+http://127.0.0.1:1'}]\n")
	bad := filepath.Join(t.TempDir(), "questions.txt")
	must.Write(t, bad, "Hello.\n")
	for args, want := range map[string]int{
		"demo/hermes":                          0,
		"demo/hermse":                          command.StatusFailed,
		"demo/hermes --limit=1ms":              command.StatusFailed,
		"box/any":                              command.StatusUnreachable,
		"--ollama=127.0.0.1:1":                 command.StatusUnreachable,
		"demo/hermes --limit=0s":               command.StatusUsage,
		"demo/hermes --questions=" + bad:       command.StatusUsage,
		"demo/hermes --offer=/no/such/file":    command.StatusUsage,
		"demo/hermes --strategy=*=no-such-way": command.StatusUsage,
	} {
		out, _, status := examines(t, append(strings.Fields(args), "--config", path)...)
		if status != want {
			t.Errorf("doctor %s: status %d, want %d; printed\n%s", args, status, want, out)
		}
	}
}

// TestDoctorKnowsTheUsersOwnFamilies examines the demo of one, as who has just written it does.
func TestDoctorKnowsTheUsersOwnFamilies(t *testing.T) {
	clean(t, "")
	data := t.TempDir()
	must.OK(t, os.Mkdir(filepath.Join(data, "families"), 0o700))
	family := "format  mine\nmodels  mine*\ncall    <mine>{call}</mine>\n"
	must.Write(t, filepath.Join(data, "families", "mine.txt"), family)
	if out, _, status := examines(t, "demo/mine", "--data", data); status != 0 || !strings.Contains(out, "format mine") {
		t.Errorf("status %d:\n%s", status, out)
	}
}

// TestDoctorReadsTheFileOfOtherServers has one good entry among those that cannot work; nothing is
// started.
func TestDoctorReadsTheFileOfOtherServers(t *testing.T) {
	clean(t, "")
	data := t.TempDir()
	file := `{"mcpServers":{"good":{"url":"http://127.0.0.1:9/mcp"},"words":{"command":"python3 server.py"},"unset":{"url":"https://h/${NO_SUCH_VARIABLE}"},"odd":7}}`
	must.Write(t, filepath.Join(data, "mcp.json"), file)
	out, _, _ := examines(t, "--data", data, "--ollama=127.0.0.1:1")
	for _, want := range []string{"OTHER MCP SERVERS", `"args": ["server.py"]`, "has no NO_SUCH_VARIABLE", "must be an object", "1 of 4 servers"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestDoctorPrintsJSONAndSaysWhatItDoes(t *testing.T) {
	clean(t, "")
	out, progress, status := examines(t, "demo/hermes", "--json")
	var r doctor.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != 0 {
		t.Fatalf("status %d, %v:\n%s", status, err, out)
	}
	if r.Toolnorm != version.String() || r.Model == nil || r.Model.Strategy != "raw" || len(r.Model.Ways) < 3 {
		t.Errorf("read %+v", r)
	}
	if !strings.Contains(progress, "loading demo/hermes\n") || strings.Count(progress, "calls read by raw\n") != 1 {
		t.Errorf("progress is\n%s", progress)
	}
}

// TestDoctorsSettingsAreTaken pastes what doctor proposes into a settings file.
func TestDoctorsSettingsAreTaken(t *testing.T) {
	clean(t, "")
	out, _, _ := examines(t, "demo/hermes", "--json")
	var r doctor.Report
	must.OK(t, json.Unmarshal([]byte(out), &r))
	m := parsed(t, "serve", "--config", clean(t, r.Model.Settings))
	if m.Config.Strategy["demo/hermes"] != "raw" || m.Config.Format["demo/hermes"] != "hermes" {
		t.Errorf("the settings\n%swere read as %+v", r.Model.Settings, m.Config)
	}
}

// The page gets the report of the command, by the settings in force.
func TestThePageExamines(t *testing.T) {
	m := fresh(t, "--data", t.TempDir())
	for body, want := range map[string]string{
		`{}`:                      "127.0.0.1:1",
		`{"model":"demo/hermes"}`: `"problems":false`,
		`{"model":"no-such"}`:     `"problems":true`,
	} {
		resp, text := must.Ask(t, http.MethodPost, m.URL()+"/admin/api/doctor", body, "Toolnorm-Admin: 1", "Content-Type: application/json")
		if !strings.Contains(text, "event: report\n") || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", body, resp.StatusCode, text)
		}
	}
}
