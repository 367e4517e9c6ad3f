package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"toolnorm/internal/test/must"
)

// examined are the reports of doctor that are held to a file of doctor/.
var examined = []struct {
	file   string
	status int
	on     func(*lane) *server
	args   []string
	held   bool // by a grammar of its server, where a script that goes another way ends anywhere
}{
	{"ollama-0.34.3", 0, newestServer, nil, false},
	{"ollama-0.34.3-hermes", 0, newestServer, []string{"hermes"}, false},
	{"ollama-0.34.3-qwen3-coder", 0, newestServer, []string{"qwen3-coder"}, false},
	{"ollama-0.34.3-native", 0, newestServer, []string{"native"}, true},
	{"ollama-0.34.3-plain", 0, newestServer, []string{"plain"}, false},
	{"ollama-0.24.0-hermes", 0, formerServer, []string{"hermes"}, false},
	{"ollama-0.24.0-qwen3-coder", 0, formerServer, []string{"qwen3-coder"}, false},
	{"ollama-0.24.0-embed", 1, formerServer, []string{"embed"}, false},
	{"ollama-0.24.0-hremes", 1, formerServer, []string{"hremes"}, false},
	{"llama-server-native", 0, llamaServer, []string{"llama/native"}, true},
}

func newestServer(l *lane) *server { return l.newest }
func formerServer(l *lane) *server { return l.former }
func llamaServer(l *lane) *server  { return l.llama.chat }

// read is what a report says of the server's own parser.
var read = regexp.MustCompile(`(?m)^  (note +parser|the server's parser|native) .*\n( +→.*\n)?`)

// TestDoctorsReports holds what doctor says of the scripted models to files. With
// TOOLNORM_E2E_DOCTOR=write (make doctor) it writes them.
func TestDoctorsReports(t *testing.T) {
	l := open(t)
	for _, e := range examined {
		t.Run(e.file, func(t *testing.T) {
			for _, s := range append(e.on(l).setups, e.on(l).others...) {
				e.on(l).unload(s.name) // models of one file share what is loaded, under the name that was first
			}
			got, status := l.doctor(t, e.on(l), append(e.args, "--questions", "doctor/questions.txt", "--offer", "setups/tools.json")...)
			if status != e.status {
				t.Errorf("status %d, want %d", status, e.status)
			}
			if e.held {
				got = read.ReplaceAll(got, nil)
			}
			file := filepath.Join("doctor", e.file+".txt")
			if os.Getenv("TOOLNORM_E2E_DOCTOR") == "write" {
				must.Write(t, file, got)
			}
			if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v; got\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

// TestDoctorSaysThatAModelIsTooWeak asks the questions that come with the program, none of which
// the scripted model knows.
func TestDoctorSaysThatAModelIsTooWeak(t *testing.T) {
	l := open(t)
	got, status := l.doctor(t, l.newest, "hermes")
	if !bytes.Contains(got, []byte("too weak for tools: 0 of 5")) || status != 1 {
		t.Errorf("status %d:\n%s", status, got)
	}
}

// doctor is what the program prints, with what differs from run to run left out, and its status.
func (l *lane) doctor(t *testing.T, on *server, args ...string) ([]byte, int) {
	t.Helper()
	cmd := exec.Command(l.binary, append(append([]string{"doctor", "--data", t.TempDir()}, on.flags...), args...)...)
	cmd.Env = append(os.Environ(), "HOME="+l.dir, "XDG_CONFIG_HOME="+filepath.Join(l.dir, "config"))
	var progress bytes.Buffer
	cmd.Stderr = &progress
	out, err := cmd.Output()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	t.Logf("%s", progress.Bytes())
	return steady(out), cmd.ProcessState.ExitCode()
}

// steady is a report with its figures replaced by N.
func steady(report []byte) []byte {
	for _, r := range [][2]string{
		{`127\.0\.0\.1:\d+`, "127.0.0.1:N"},
		{`\d+\.\d+ s\b`, "N s"},
		{`\d+ tokens/s`, "N tokens/s"},
		{`\d+ pieces`, "N pieces"}, // those that came together are one
		{`[\d.]+ [MG]B`, "N MB"},
		{`\d+\.\d+M `, "N M "}, // the model grows with its scripts
		{`(parallel +).*\n`, "${1}N\n"},
	} {
		report = regexp.MustCompile(r[0]).ReplaceAll(report, []byte(r[1]))
	}
	return report
}
