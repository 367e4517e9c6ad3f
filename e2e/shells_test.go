package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"
	"toolnorm/runner"
)

// shell is one shell, and how it reads commands from a file or, as in a terminal, from its standard
// input.
type shell struct {
	name        string
	script      []string // in front of the file
	interactive []string // nil: not tried
}

// shells are those in which people and editors run commands. None reads the user's settings.
var shells = []shell{
	{"dash", nil, []string{"-i"}},
	{"bash", []string{"--norc", "--noprofile"}, []string{"--norc", "--noprofile", "-i", "-o", "histexpand"}},
	{"zsh", []string{"-f"}, []string{"-f", "-i", "-o", "banghist", "-o", "nozle"}},
	{"fish", []string{"--no-config"}, []string{"--no-config", "-i"}},
	{"busybox", []string{"sh"}, []string{"sh", "-i"}},
	{"mksh", nil, []string{"-i"}},
}

// room is where commands are run: an empty folder, a home, a path on which there is only the
// receiver, and what it got.
type room struct {
	empty, home, path, received, canary string
}

// receiver builds the program that stands for the runner.
func receiver(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "toolrun"), "toolnorm/e2e/cmd/receive")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the receiver: %v\n%s", err, out)
	}
	must.OK(t, os.Symlink("toolrun", filepath.Join(dir, "canary")))
	return dir
}

// enter makes a room.
func enter(t *testing.T, path string) room {
	t.Helper()
	return room{empty: t.TempDir(), home: t.TempDir(), path: path, received: filepath.Join(t.TempDir(), "received"), canary: filepath.Join(path, "canary")}
}

// run feeds a shell, and gives what it wrote.
func (r room) run(t *testing.T, locale, stdin, name string, args ...string) string {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("TOOLNORM_E2E") == "required" {
			t.Fatalf("%s is required and not installed", name)
		}
		t.Skipf("%s is not installed (run e2e/install.sh)", name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stdin = r.empty, strings.NewReader(stdin)
	cmd.Env = []string{"PATH=" + r.path, "HOME=" + r.home, "LC_ALL=" + locale, "RECEIVED=" + r.received, "TERM=dumb"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%.2000s", name, err, out)
	}
	return string(out)
}

// commands writes the calls, and what has to arrive of them.
func commands(t *testing.T, calls []json.RawMessage) (script string, want [][]string) {
	t.Helper()
	var lines strings.Builder
	for _, args := range calls {
		line, err := runner.Toolrun.Command("search_docs", args)
		if errors.Is(err, runner.ErrTooLong) {
			lines.WriteString("toolrun --call k3J9\n")
			want = append(want, []string{"--call", "k3J9"})
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		lines.WriteString(line + "\n")
		want = append(want, []string{"search_docs", strings.TrimSuffix(strings.TrimPrefix(line, "toolrun search_docs '"), "'")})
	}
	return lines.String(), want
}

// arrived checks what the receiver got, and that nothing else happened.
func (r room) arrived(t *testing.T, want [][]string) {
	t.Helper()
	records := strings.Split(strings.TrimSuffix(string(must.Read(t, r.received)), "\x00\x00"), "\x00\x00")
	for i := range min(len(records), len(want)) {
		if records[i] != strings.Join(want[i], "\x00") {
			t.Fatalf("command %d: %q arrived, want %q", i, records[i], want[i])
		}
	}
	if len(records) != len(want) {
		t.Errorf("%d programs were started, want %d", len(records), len(want))
	}
	made, err := os.ReadDir(r.empty)
	if err != nil || len(made) > 0 {
		t.Errorf("files were made: %v, %v", made, err)
	}
}

// TestShellsTakeCommandsAsTheyAre runs 2,000 commands in each shell: the arguments arrive byte for
// byte, no file is made, and no other program is started.
func TestShellsTakeCommandsAsTheyAre(t *testing.T) {
	path := receiver(t)
	script, want := commands(t, hostile(2000, 1, filepath.Join(path, "canary")))
	file := filepath.Join(t.TempDir(), "script")
	must.Write(t, file, script)
	for _, s := range shells {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := enter(t, path)
			if said := r.run(t, "C.UTF-8", "", s.name, append(s.script[:len(s.script):len(s.script)], file)...); said != "" {
				t.Errorf("it wrote %.500q", said)
			}
			r.arrived(t, want)
		})
	}
}

// TestShellsInTerminalsTakeCommandsAsTheyAre types commands into shells that expand their history,
// in an old locale.
func TestShellsInTerminalsTakeCommandsAsTheyAre(t *testing.T) {
	path := receiver(t)
	script, want := commands(t, hostile(200, 2, filepath.Join(path, "canary")))
	for _, s := range shells {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := enter(t, path)
			r.run(t, "C", script, s.name, s.interactive...)
			r.arrived(t, want)
		})
	}
}

// TestALineBehindAnOpenQuoteRunsNothing types each command behind a quote that was left open, as by
// a line that a terminal has cut, and then the quote that the prompt asks for.
func TestALineBehindAnOpenQuoteRunsNothing(t *testing.T) {
	path := receiver(t)
	var script strings.Builder
	lines, _ := commands(t, hostile(300, 4, filepath.Join(path, "canary")))
	for line := range strings.Lines(lines) {
		if strings.Contains(line, "'") {
			script.WriteString("toolrun cut 'it is\n" + line + "'\n")
		}
	}
	for _, s := range shells {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := enter(t, path)
			r.run(t, "C.UTF-8", script.String()+"true\n", s.name, s.interactive...)
			got, err := os.ReadFile(r.received)
			if err != nil || !bytes.Contains(got, []byte("cut\x00it is\ntoolrun search_docs ")) || bytes.Contains(got, []byte("canary was started")) {
				t.Errorf("received %.500q, %v", got, err)
			}
			if made, err := os.ReadDir(r.empty); err != nil || len(made) > 0 {
				t.Errorf("files were made: %v, %v", made, err)
			}
		})
	}
}

// TestThePlainFormWouldNotDo: what the tests above look for happens when JSON is put between quotes
// as it is.
func TestThePlainFormWouldNotDo(t *testing.T) {
	r := enter(t, receiver(t))
	r.run(t, "C.UTF-8", `toolrun f '{"a":"x'; `+r.canary+`; echo made > made; : '"}'`+"\n", "dash")
	got, err := os.ReadFile(r.received)
	if err != nil || !bytes.Contains(got, []byte("canary was started")) {
		t.Errorf("received %q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(r.empty, "made")); err != nil {
		t.Error(err)
	}
}

// TestTheValueIsTheSame: what arrives is the JSON value that was meant.
func TestTheValueIsTheSame(t *testing.T) {
	calls := hostile(2000, 1, "/canary")
	_, want := commands(t, calls)
	for i, args := range calls {
		if want[i][0] == "--call" {
			continue // it does not pass the shell
		}
		if strings.TrimSpace(string(args)) == "null" {
			args = json.RawMessage("{}")
		}
		if meant, arrives := jsonValue(t, args), jsonValue(t, []byte(want[i][1])); !reflect.DeepEqual(meant, arrives) {
			t.Errorf("%s arrives as %s", args, want[i][1])
		}
	}
}

// jsonValue reads JSON, numbers as they are written.
func jsonValue(t *testing.T, text []byte) (v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestTheRealRunnerInEveryShell pastes commands with hostile searches, and each answers as the tool
// does. All shells start at once on one folder of data, which is not there yet.
func TestTheRealRunnerInEveryShell(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "toolrun"), "toolnorm/cmd/toolrun").CombinedOutput(); err != nil {
		t.Fatalf("build toolrun: %v\n%s", err, out)
	}
	var script strings.Builder
	const searches = 10
	for _, args := range hostile(searches, 3, "/canary") {
		query := must.Have(json.Marshal(map[string]string{"query": "연차 " + string(args[:min(len(args), 60)])}))(t)
		script.WriteString(must.Have(runner.Toolrun.Command("search_docs", query))(t) + "\n")
	}
	last := must.Have(runner.Toolrun.Base64("get_employee_info", json.RawMessage(`{"employee_id":"emp001"}`)))(t)
	script.WriteString(last + "\n")
	home := t.TempDir()
	for _, s := range shells {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := enter(t, dir)
			r.home = home
			file := filepath.Join(t.TempDir(), "script")
			must.Write(t, file, script.String())
			said := r.run(t, "C.UTF-8", "", s.name, append(s.script[:len(s.script):len(s.script)], file)...)
			outcomes := strings.Split(strings.TrimSuffix(said, "\n"), "\n")
			if len(outcomes) != searches+1 || !strings.Contains(outcomes[searches], `{"success":true,"result":{"id":"EMP001","name":"김민준",`) {
				t.Fatalf("got %s", said)
			}
			for _, o := range outcomes[:searches] {
				if o != `{"success":true,"result":{"documents":[],"truncated":false}}` {
					t.Errorf("got %s", o)
				}
			}
			if made, err := os.ReadDir(r.empty); err != nil || len(made) > 0 {
				t.Errorf("files were made: %v, %v", made, err)
			}
		})
	}
}
