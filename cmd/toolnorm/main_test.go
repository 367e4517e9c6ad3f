package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"time"

	"toolnorm/cmd/toolnorm/internal/command"
	"toolnorm/internal/test/must"
	"toolnorm/internal/version"
	"toolnorm/tools/data"
)

func TestFlagsWinOverEnvironmentOverFile(t *testing.T) {
	path := clean(t, "listen: 127.0.0.1:1\nmodel: from-file\nnum-ctx: 1\nhosts: [a, b]\nformat: {qwen*: hermes}\nheartbeat: 3s\n")
	t.Setenv("TOOLNORM_MODEL", "from-env")
	t.Setenv("TOOLNORM_NUM_CTX", "2")
	t.Setenv("TOOLNORM_CONFIG", path)
	m := parsed(t, "--num-ctx", "3", "--strategy", "a*=raw;b=native")
	c := m.Config
	if c.Listen != "127.0.0.1:1" || c.Model != "from-env" || c.NumCtx != 3 || c.Heartbeat != 3*time.Second || c.IdleTimeout != 2*time.Minute {
		t.Errorf("got %+v", c)
	}
	if !reflect.DeepEqual(c.Hosts, []string{"a", "b"}) || !reflect.DeepEqual(c.Format, map[string]string{"qwen*": "hermes"}) ||
		!reflect.DeepEqual(c.Strategy, map[string]string{"a*": "raw", "b": "native"}) {
		t.Errorf("got %+v", c)
	}
}

func TestOllamaIsFoundWhereOllamaSaysItIs(t *testing.T) {
	for _, tt := range []struct{ own, ollama, want string }{
		{"", "", "http://127.0.0.1:11434"},
		{"", "0.0.0.0", "http://127.0.0.1:11434"},
		{"", "box:9", "http://box:9"},
		{"https://other", "box:9", "https://other:443"},
	} {
		clean(t, "")
		for name, value := range map[string]string{"TOOLNORM_OLLAMA": tt.own, "OLLAMA_HOST": tt.ollama} {
			if value != "" {
				t.Setenv(name, value)
			} else {
				os.Unsetenv(name)
			}
		}
		m := parsed(t)
		if s, err := m.Config.resolve(); err != nil || s.ollama != tt.want {
			t.Errorf("TOOLNORM_OLLAMA=%q OLLAMA_HOST=%q: %q, %v, want %q", tt.own, tt.ollama, s.ollama, err, tt.want)
		}
	}
}

func TestTokensMayBeWrittenInThousands(t *testing.T) {
	path := clean(t, "num-ctx: 16k\ntool-budget: 900\n")
	t.Setenv("TOOLNORM_MAX_CTX", "64K")
	m := parsed(t, "--config", path)
	if c := m.Config; c.NumCtx != 16384 || c.MaxCtx != 65536 || c.ToolBudget != 900 {
		t.Errorf("num-ctx %d, max-ctx %d, tool-budget %d", c.NumCtx, c.MaxCtx, c.ToolBudget)
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	for _, tt := range []struct{ file, args, want string }{
		{"liste: x", "", `settings.yaml, line 1: there is no setting "liste"; did you mean "listen"?`},
		{"# a\nmodel: x\nmodel: y", "", "settings.yaml, line 3: model is set twice"},
		{"- a", "", "line 1: must be a mapping"},
		{"model: [a]", "", "line 1: model must be one value"},
		{"model: {a: b}", "", "line 1: model must be no mapping"},
		{"format: hermes", "", "line 1: format must be a mapping"},
		{"model:", "", "line 1: model has no value"},
		{"hosts: [{a: b}]", "", "line 1: hosts: must be a list of words"},
		{"config: x", "", `there is no setting "config"`},
		{"\tx", "", "settings.yaml, line 1: found"},
		{"log-level: loud", "", `settings.yaml, line 1: log-level: must be one of "debug"`},
		{"model: x\nnum-ctx: many", "", `settings.yaml, line 2: num-ctx: "many" is not a number of tokens; write 65536 or 64k`},
		{"", "--max-ctx=64m", `--max-ctx: "64m" is not a number of tokens; write 65536 or 64k`},
		{"", "--max-ctx=9007199254740993k", `--max-ctx: "9007199254740993k" is not a number of tokens`},
		{"", "--tool-budget=k", `--tool-budget: "k" is not a number of tokens`},
		{"", "--max-ctx", `--max-ctx: "--config" looks like a flag`},
		{"grace: 10", "", `settings.yaml, line 1: grace: "10" is not a duration; write 30s, 5m or 1h30m`},
		{"tools: maybe", "", `settings.yaml, line 1: tools: "maybe" is neither true nor false`},
		{"heartbeat: 0s", "", "settings.yaml, line 1: heartbeat: must be more than 0"},
		{"", "--listen", `--listen: "--config" looks like a flag`},
		{"", "formats show a b", "unexpected argument b; toolnorm formats show -h says how it is used"},
		{"", "docs import", "<path> is missing"},
		{"", "--heartbeat -1s", `--heartbeat: "-1s" looks like a flag; write --heartbeat="-1s"`},
		{"", "--grace=10", `--grace: "10" is not a duration`},
		{"", "--store=own.db", "store: \"own.db\" is neither an absolute path"},
		{"ollama: 'ftp://x'", "", "the scheme must be http or https"},
		{"call-buffer: tight", "", `call-buffer: must be none, short, call or a number of bytes, not "tight"`},
		{"strategy: {a: guess}", "", `"guess"`},
		{"listen: 127.0.0.1:99999", "", `settings.yaml, line 1: listen: "99999" is not a valid port`},
		{"upstreams: [{name: box, url: 'ftp://x'}]", "", `upstream "box": url: the scheme`},
		{"upstreams: [{name: box, url: 'http://x', port: 1}]", "", `no "port"`},
		{"upstreams: [box]", "", "line 1: upstreams: must be a list of servers"},
		{"upstreams: [{name: box, url: 'http://x', kind: vllm}]", "", `upstream "box": kind: "vllm"`},
		{"upstreams: [{name: box, url: 'http://x', key-env: NO_SUCH_KEY}]", "", `key-env of "box": the environment has no NO_SUCH_KEY`},
		{"upstreams: [{name: box, url: 'http://x'}, {name: box, url: 'http://y'}]", "", `upstream "box" is there twice`},
		{"upstream: {demo: 'http://x'}", "", `upstream "demo"`},
		{"", "--upstream=http://127.0.0.1:8080", `--upstream: "http://127.0.0.1:8080" has no name in front; write box=http://127.0.0.1:8080`},
		{"", "--upstream=box", `--upstream: "box" is not NAME=VALUE`},
		{"", "--key-env=box=HOME", `key-env of "box": there is no upstream`},
		{"aliases: {a: b, b: c}", "", `settings.yaml, line 1: aliases: alias "a"`},
		{"trace: 1001", "", "trace: must be 0 to 1000"},
		{"", "--lisen=x", `unknown flag --lisen, did you mean "--listen"?`},
		{"", "serve --num-ctx=x", "--num-ctx"},
		{"", "sarve", `there is no command "sarve"; did you mean "serve"?`},
	} {
		m := NewMain(io.Discard, io.Discard)
		err := m.ParseFlags(append(strings.Fields(tt.args), "--config", clean(t, tt.file)))
		if err == nil {
			err = m.Run()
			m.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("file %q, arguments %q: error %v, want one with %q", tt.file, tt.args, err, tt.want)
		}
	}
	if err := NewMain(io.Discard, io.Discard).ParseFlags([]string{"--config", "/no/such/file.yaml"}); err == nil || !strings.Contains(err.Error(), "/no/such/file.yaml") {
		t.Errorf("missing file: error %v", err)
	}
}

func TestAWrongVariableIsNamed(t *testing.T) {
	for variable, want := range map[string]string{
		"TOOLNORM_GRACE=10": `TOOLNORM_GRACE: "10" is not a duration`, "TOOLNORM_LOG_LEVEL=loud": "TOOLNORM_LOG_LEVEL: must be one of",
		"TOOLNORM_LISTEN=11435": `TOOLNORM_LISTEN: listen: "11435" is not a valid HOST:PORT`, "OLLAMA_HOST=ftp://x": "OLLAMA_HOST: ollama",
	} {
		clean(t, "")
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
		if err := run(nil); err == nil || !strings.Contains(err.Error(), want) || command.StatusOf(err) != command.StatusUsage {
			t.Errorf("%s: %v, want %s", variable, err, want)
		}
	}
}

func TestTheUsersOwnFamiliesAreRead(t *testing.T) {
	clean(t, "")
	data := t.TempDir()
	must.OK(t, os.Mkdir(filepath.Join(data, "families"), 0o700))
	family := filepath.Join(data, "families", "mine.txt")
	var out *log
	run := func(text string) error {
		must.Write(t, family, text)
		out = new(log)
		m := NewMain(io.Discard, out)
		must.OK(t, m.ParseFlags([]string{"--listen", "127.0.0.1:0", "--ollama", "127.0.0.1:1", "--data", data, "--format", "x*=mine"}))
		defer m.Close()
		return m.Run()
	}
	if err := run("format  mine\nmodels  mine*\ncall    <mine>{call}</mine>\n"); err != nil {
		t.Errorf("a family of the user's own: %v", err)
	}
	if err := run("nonsense\n"); err != nil || !strings.Contains(out.String(), "mine.txt: line 1") || !strings.Contains(out.String(), "there is no format \\\"mine\\\" for x*") {
		t.Errorf("a wrong file: %v, want a line of the log that names it: %s", err, out)
	}
}

func TestEverySettingIsExplained(t *testing.T) {
	all := append(reflect.VisibleFields(reflect.TypeFor[Config]()), reflect.VisibleFields(reflect.TypeFor[data.Config]())...)
	for _, f := range all {
		_, group := f.Tag.Lookup("embed")
		if !f.Anonymous && !group && f.Tag.Get("help") == "" {
			t.Errorf("setting %s has no help", f.Name)
		}
	}
}

func TestExchangesAreKeptAsTheSettingsSay(t *testing.T) {
	for args, want := range map[string]string{"--trace=0": "--trace sets how many", "--trace=2 --trace-bodies": `"keeps":2,"bodies":true`} {
		clean(t, "")
		var out log
		m := serving(t, &out, strings.Fields(args)...)
		_, b := must.Ask(t, "GET", m.URL()+"/debug/exchanges", "")
		if !strings.Contains(b, want) {
			t.Errorf("%s: %s, want %s", args, b, want)
		}
		if warns := strings.Contains(out.String(), "kept in memory"); warns != strings.Contains(args, "bodies") {
			t.Errorf("%s: the log is %s", args, out.String())
		}
	}
}

func TestTheProgramServesAndStops(t *testing.T) {
	clean(t, "")
	t.Setenv("TOOLNORM_STRAY", "x")
	var out log
	m := serving(t, &out) // comes up although nothing listens on port 1, where it has its Ollama
	for path, want := range map[string]string{"/healthz": "ok", "/version": version.String(), "/v1/models": "demo/", "/debug/exchanges": `"keeps":50,"bodies":false`} {
		resp, b := must.Ask(t, "GET", m.URL()+path, "")
		if resp.StatusCode != 200 || !strings.Contains(b, want) {
			t.Errorf("%s: %d %s, want %q", path, resp.StatusCode, b, want)
		}
	}
	for deadline := time.Now().Add(5 * time.Second); !strings.Contains(out.String(), "does not answer"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the log never says that Ollama is away: %s", out.String())
		}
	}
	if !strings.Contains(out.String(), m.URL()) || !strings.Contains(out.String(), "TOOLNORM_STRAY") {
		t.Errorf("the log lacks the address or the stray variable: %s", out.String())
	}
	if err := m.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := http.Get(m.URL() + "/healthz"); err == nil {
		t.Error("the server still answers after Close")
	}
}

func TestWrongFormsAreNamed(t *testing.T) {
	for args, want := range map[string]string{
		"--client-form=x=klingon": "there are openai, shell, void, cline", "--runner=/usr/bin/toolrun": "runner: ", "--shell-fence=a`b": "shell-fence: ",
	} {
		clean(t, "")
		m := parsed(t, args, "--listen", "127.0.0.1:0")
		if err := m.Run(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
		m.Close()
	}
}
