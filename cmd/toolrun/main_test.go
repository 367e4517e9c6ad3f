package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/internal/test/must"
	"toolnorm/internal/version"
	"toolnorm/runner"
	"toolnorm/tools"
)

// result is what a run left.
type result struct {
	status   int
	out, err string
}

// runs runs a command line with an environment and a text on standard input.
func runs(t *testing.T, env map[string]string, stdin string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	p := program{stdin: strings.NewReader(stdin), stdout: &out, stderr: &errs, env: func(name string) string { return env[name] }, beat: time.Minute}
	status := p.run(t.Context(), args)
	return result{status, out.String(), errs.String()}
}

// vacation is the outcome of the call that most tests make.
const vacation = `{"success":true,"result":{"employee_id":"EMP001","year":2025,"total":19,"used":4.5,"remaining":14.5}}` + "\n"

func TestArgumentsComeInEveryForm(t *testing.T) {
	env := map[string]string{"TOOLNORM_DATA": t.TempDir()}
	inline := must.Have(runner.Toolrun.Command("calculate_vacation_days", json.RawMessage(`{"employee_id":"EMP001","year":2025}`)))(t)
	quoted := strings.Split(strings.TrimPrefix(inline, "toolrun "), "'")
	coded := must.Have(runner.Toolrun.Base64("calculate_vacation_days", json.RawMessage(`{"employee_id":"EMP001","year":2025}`)))(t)
	for _, args := range [][]string{
		{strings.TrimSpace(quoted[0]), quoted[1]},
		strings.Fields(strings.TrimPrefix(coded, "toolrun ")),
		{"calculate_vacation_days", "-"},
		{"--", "calculate_vacation_days", `{"employee_id": " emp001", "year": "2025"}`},
		{"a1b2c3_calculate_vacation_days", `{'employee_id': 'EMP001', 'year': 2025,}`},
		{"--b64", "eyJlbXBsb3llZV9pZCI6IkVNUDAwMSIsInllYXIiOjIwMjV9", "calculate_vacation_days"},
	} {
		if got := runs(t, env, `{"employee_id":"EMP001","year":2025}`, args...); got != (result{0, vacation, ""}) {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

func TestAToolThatFailsEndsWithOne(t *testing.T) {
	env := map[string]string{"TOOLNORM_DATA": t.TempDir()}
	for _, tt := range []struct{ name, args, want string }{
		{"get_employee_info", `{"employee_id":"EMP999"}`, `there is no employee \"EMP999\"; get_all_employees lists the ids`},
		{"get_employee_info", "--b64", "the arguments of get_employee_info must be one JSON object"}, // no option behind the name
		{"get_employee_info", "", "arguments.employee_id: is missing"},
		{"no_such_tool", "{}", `there is no tool \"no_such_tool\"`},
	} {
		got := runs(t, env, "", tt.name, tt.args)
		if got.status != statusFailed || got.err != "" || !strings.HasPrefix(got.out, `{"success":false,"error":"`) || !strings.Contains(got.out, tt.want) {
			t.Errorf("%s %s: %+v", tt.name, tt.args, got)
		}
	}
}

func TestAToolOfAnotherServerNeedsARunningToolnorm(t *testing.T) {
	for _, name := range []string{"time.get_current_time", "time__get_current_time"} {
		got := runs(t, map[string]string{"TOOLNORM_DATA": t.TempDir()}, "", name, "{}")
		if got.status != statusUnreachable || got.out != "" || !strings.Contains(got.err, "running toolnorm only") {
			t.Errorf("%+v", got)
		}
	}
}

func TestWhatATerminalDoesNotShowIsEscaped(t *testing.T) {
	text := "a\u202eb \u200b\U000e0041 \u2028 👩\u200d🚀 한글 \u009b1m"
	in := must.Have(json.Marshal(text))(t)
	var back string
	out := visible(in)
	if err := json.Unmarshal(out, &back); err != nil || back != text {
		t.Errorf("%s is %q, %v", out, back, err)
	}
	if want := `"a\u202eb \u200b\udb40\udc41 \u2028 👩` + "\u200d" + `🚀 한글 \u009b1m"`; string(out) != want {
		t.Errorf("%s, want %s", out, want)
	}
}

func TestAWrongCommandLineEndsWithTwo(t *testing.T) {
	env := map[string]string{"TOOLNORM_DATA": t.TempDir()}
	for want, args := range map[string][]string{
		"no tool given":                             {},
		"unknown option --lst":                      {"--lst"},
		"option --list does not exist":              {"--list=x"},
		"--b64 needs a value":                       {"--b64"},
		"--call needs a value":                      {"--call="},
		"--url needs a value":                       {"--url", "", "f"},
		"--data is given twice":                     {"--data", "a", "--data", "b", "f"},
		"2 words follow the name":                   {"f", `{"a":`, `1}`},
		"given twice, by --b64 and after":           {"--b64", "e30", "f", "{}"},
		"--b64 is not valid Base64":                 {"--b64", "{}", "f"},
		"--list and --call cannot be combined":      {"--list", "--call", "x"},
		"--describe cannot be combined with a tool": {"--describe", "f", "g"},
		"bash, zsh and fish":                        {"--completion", "tcsh"},
		"config:":                                   {"--config", "/nonexistent/x.yaml", "f"},
		"is no address of a toolnorm":               {"--url", "localhost:11435", "f"},
		"more than 4194304 bytes":                   {"f", "-"},
	} {
		stdin := strings.Repeat("x", mostInput+1)
		if got := runs(t, env, stdin, args...); got.status != statusUsage || got.out != "" || !strings.Contains(got.err, want) {
			t.Errorf("%q: %+v, want %q", args, got, want)
		}
	}
}

// proxy serves a registry of one tool, and announces itself in a folder of data.
func proxy(t *testing.T) (data string, pending *runner.Pending, address runner.Address) {
	t.Helper()
	r := tools.New(tools.Options{})
	err := r.Set("test", tools.Tool{Name: "where", Title: "Where it runs", Call: tools.Typed(func(_ context.Context, in struct{ Say string }) (string, error) {
		return "in the proxy " + in.Say, nil
	})})
	must.OK(t, err)
	pending, data = new(runner.Pending), t.TempDir()
	s := httptest.NewServer(runner.NewServer(r, pending, zerolog.Nop()))
	t.Cleanup(s.Close)
	address = runner.Address{URL: s.URL, Token: runner.NewToken()}
	must.OK(t, address.Announce(data))
	return data, pending, address
}

func TestTheProxyIsAskedFirst(t *testing.T) {
	data, pending, address := proxy(t)
	id := must.Have(pending.Keep("where", json.RawMessage(`{"say":"kept"}`)))(t)
	for _, tt := range []struct {
		want string
		args []string
	}{
		{`{"success":true,"result":"in the proxy now"}`, []string{"--data", data, "where", `{"say":"now"}`}},
		{`{"success":true,"result":"in the proxy now"}`, []string{"--url=" + address.URL + "/", "where", `{"say":"now"}`}},
		{`{"success":true,"result":"in the proxy kept"}`, []string{"--data", data, "--call", id}},
		{"where\tWhere it runs", []string{"--data", data, "--list"}},
		{"{\n  \"name\": \"where\",\n  \"title\": \"Where it runs\",\n  \"description\": \"\"\n}", []string{"--data", data, "--describe", "where"}},
	} {
		if got := runs(t, nil, "", tt.args...); got != (result{0, tt.want + "\n", ""}) {
			t.Errorf("%q: %+v", tt.args, got)
		}
	}
	if got := runs(t, nil, "", "--data", data, "--call", id); got.status != statusUnreachable || !strings.Contains(got.err, "once, within an hour") {
		t.Errorf("a second time: %+v", got)
	}
	if got := runs(t, nil, "", "--data", data, "--describe", "else"); got.status != statusFailed || got.out != "" {
		t.Errorf("describe: %+v", got)
	}
}

func TestWithoutAProxyTheDataIsTheSame(t *testing.T) {
	data := t.TempDir()
	call := []string{"--data", data, "calculate_vacation_days", `{"employee_id":"EMP001","year":2025}`}
	must.OK(t, (runner.Address{URL: "http://127.0.0.1:1", Token: "of one that is gone"}).Announce(data))
	if got := runs(t, nil, "", call...); got != (result{0, vacation, ""}) {
		t.Errorf("%+v", got)
	}
	if got := runs(t, nil, "", "--data", data, "--list"); !strings.HasPrefix(got.out, "search_docs\tSearch company documents\n") {
		t.Errorf("%+v", got)
	}
	for want, args := range map[string][]string{
		"no toolnorm is running":             {"--url", "http://127.0.0.1:1", "f"},
		"only the one that created the call": {"--data", t.TempDir(), "--call", "abc"},
		"not a directory":                    {"--data", "/dev/null", "f"},
		"neither an absolute path":           {"--data", data, "--store", "x.db", "f"},
	} {
		if got := runs(t, nil, "", args...); got.status != statusUnreachable || got.out != "" || !strings.Contains(got.err, want) {
			t.Errorf("%q: %+v, want %q", args, got, want)
		}
	}
}

// TestACallThatMayHaveRunIsNotRunAgain breaks the connection in the middle of a call.
func TestACallThatMayHaveRunIsNotRunAgain(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer s.Close()
	data := t.TempDir()
	must.OK(t, (runner.Address{URL: s.URL, Token: "token"}).Announce(data))
	got := runs(t, nil, "", "--data", data, "get_all_employees")
	if _, err := os.Stat(filepath.Join(data, "db")); got.status != statusUnreachable || got.out != "" || !strings.Contains(got.err, "EOF") || err == nil {
		t.Errorf("%+v, and the data was opened: %v", got, err == nil)
	}
}

func TestTheProxysSettingsSayWhereTheDataIs(t *testing.T) {
	data, _, _ := proxy(t)
	file := filepath.Join(t.TempDir(), "toolnorm.yaml")
	must.Write(t, file, "listen: 127.0.0.1:1\ndata: "+data+"\n")
	if got := runs(t, map[string]string{"TOOLNORM_CONFIG": file}, "", "where"); got.out != `{"success":true,"result":"in the proxy "}`+"\n" {
		t.Errorf("%+v", got)
	}
}

func TestSignsOfLifeGoToStandardError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errs bytes.Buffer
		p := program{stderr: &errs, beat: 4 * time.Second}
		done := p.signsOfLife()
		time.Sleep(9 * time.Second)
		done()
		if want := "toolrun: still running, 4s\ntoolrun: still running, 8s\n"; errs.String() != want {
			t.Errorf("got %q", errs.String())
		}
	})
}

func TestTheVersionIsPrinted(t *testing.T) {
	if got := runs(t, nil, "", "--version"); got != (result{0, "toolrun " + version.String() + "\n", ""}) {
		t.Errorf("%+v", got)
	}
}

func TestHelpAndCompletionsNameEveryOption(t *testing.T) {
	help := runs(t, nil, "", "-h")
	for _, shell := range []string{"bash", "zsh", "fish"} {
		got := runs(t, nil, "", "--completion", shell)
		for _, option := range []string{"list", "describe", "call", "b64", "url", "data", "store", "config", "completion", "version", "help"} {
			if got.status != 0 || !strings.Contains(got.out, option) || !strings.Contains(help.out, option) && option != "help" {
				t.Errorf("%s does not know %s", shell, option)
			}
		}
	}
}

// FuzzParse: a command line is either wrong or says one thing, and nothing behind the name is an
// option.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"f\x00{}", "--b64\x00e30\x00f", "--\x00--list", "--call=x", "f\x00--list", "--data\x00--\x00-f\x00-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\x00")
		o, err := parse(args)
		if err != nil || o.help || o.version {
			return
		}
		asked := 0
		for _, one := range []bool{o.list, o.describe != "", o.completion != "", o.call != "", o.name != ""} {
			if one {
				asked++
			}
		}
		if asked != 1 || len(o.args) > 1 || len(o.args) == 1 && (o.b64 != "" || o.args[0] != args[len(args)-1]) {
			t.Fatalf("%q: %+v", args, o)
		}
		if o.name != "" {
			if again, err := parse(append(append([]string{"--"}, o.name), "--list")); err == nil && (again.list || again.args[0] != "--list") {
				t.Fatalf("%q: an option behind the name", args)
			}
		}
	})
}

func TestShellsReadTheirCompletions(t *testing.T) {
	for shell, args := range map[string][]string{"bash": {"-n"}, "zsh": {"-f", "-n"}, "fish": {"--no-config", "-n"}} {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skipf("%s is not installed (run e2e/install.sh)", shell)
			}
			if out, err := exec.Command(shell, append(args, filepath.Join("completions", shell))...).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestBashCompletesNamesAndOptions(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed (run e2e/install.sh)")
	}
	for words, want := range map[string]string{"get_e": "get_employee_info", "--des": "--describe", "--completion z": "zsh"} {
		script := `toolrun() { printf 'search_docs\tSearch\nget_employee_info\tLook up\n'; }
			. completions/bash
			COMP_WORDS=(toolrun ` + words + `) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
			_toolrun && printf %s "${COMPREPLY[*]}"`
		if out, err := exec.Command(bash, "--norc", "-c", script).CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("%q completes to %q, %v; want %q", words, out, err, want)
		}
	}
}
