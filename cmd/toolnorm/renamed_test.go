package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestOldNamesOfSettingsWorkAndSaySo sets each renamed setting by a flag, a variable and a line of the file.
func TestOldNamesOfSettingsWorkAndSaySo(t *testing.T) {
	const wanted = "true true call fish true true map[x:shell]"
	for name, tt := range map[string]struct {
		args, file string
		env        map[string]string
		old        string
	}{
		"flags": {
			args: "--quiet --gate --hold=call --block fish --unwedge --runner-b64 --dialect x=shell",
			old:  "--quiet --gate --hold --block --unwedge --runner-b64 --dialect",
		},
		"variables": {
			env: map[string]string{
				"QUIET": "true", "GATE": "true", "HOLD": "call", "BLOCK": "fish", "UNWEDGE": "true", "RUNNER_B_64": "true", "DIALECT": "x=shell",
			},
			old: "TOOLNORM_QUIET TOOLNORM_GATE TOOLNORM_HOLD TOOLNORM_BLOCK TOOLNORM_UNWEDGE TOOLNORM_RUNNER_B_64 TOOLNORM_DIALECT",
		},
		"file": {
			file: "quiet: true\ngate: true\nhold: call\nblock: fish\nunwedge: true\nrunner-b64: true\ndialect: {x: shell}",
			old:  `"quiet" "gate" "hold" "block" "unwedge" "runner-b64" "dialect"`,
		},
		"present names": {
			args: "--ignore-thinking-calls --ask-before-tools --call-buffer=call",
			file: "shell-fence: fish\nclient-form: {x: shell}",
			env:  map[string]string{"UNLOAD_STUCK": "true", "RUNNER_BASE64": "true"},
		},
		"the present variable counts": {
			args: "--ignore-thinking-calls --ask-before-tools --unload-stuck --runner-base64 --client-form x=shell",
			env:  map[string]string{"HOLD": "none", "CALL_BUFFER": "call", "BLOCK": "fish"},
			old:  "TOOLNORM_HOLD TOOLNORM_BLOCK",
		},
		"the old variable counts before the file": {
			args: "--ignore-thinking-calls --ask-before-tools --unload-stuck --runner-base64 --client-form x=shell",
			file: "call-buffer: none\nshell-fence: fish",
			env:  map[string]string{"HOLD": "call"},
			old:  "TOOLNORM_HOLD",
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := clean(t, tt.file)
			for name, value := range tt.env {
				t.Setenv("TOOLNORM_"+name, value)
			}
			var out log
			m := NewMain(io.Discard, &out)
			if err := m.ParseFlags(append(strings.Fields(tt.args), "--config", config)); err != nil {
				t.Fatal(err)
			}
			c := m.Config
			if got := strings.TrimSpace(fmt.Sprintln(c.IgnoreThinkingCalls, c.AskBeforeTools, c.CallBuffer, c.ShellFence, c.UnloadStuck, c.RunnerBase64, c.ClientForm)); got != wanted {
				t.Errorf("settings %s, want %s", got, wanted)
			}
			m.log = m.newLog()
			m.sayRenamed()
			for _, old := range strings.Fields(tt.old) {
				if !strings.Contains(out.String(), old) {
					t.Errorf("the log does not name %s:\n%s", old, out.String())
				}
			}
			if lines := strings.Count(out.String(), "has a new name"); lines != len(strings.Fields(tt.old)) {
				t.Errorf("%d lines, want %d:\n%s", lines, len(strings.Fields(tt.old)), out.String())
			}
			if len(m.strays) > 0 {
				t.Errorf("%q are no strays", m.strays)
			}
		})
	}
}

// TestAnOldFlagOfACommandWorks decodes with the old name of --call-buffer, which standard error corrects.
func TestAnOldFlagOfACommandWorks(t *testing.T) {
	clean(t, "")
	var out, stderr log
	m := NewMain(&out, &stderr)
	m.stdin = strings.NewReader("hello")
	if err := m.ParseFlags([]string{"decode", "--hold", "none", "--", "--quiet"}); err == nil {
		t.Error("behind -- a word is taken for a flag")
	}
	if err := m.ParseFlags([]string{"decode", "--hold", "none"}); err != nil {
		t.Fatal(err)
	}
	if err := m.command(); err != nil || !strings.Contains(out.String(), `text "hello"`) || !strings.Contains(stderr.String(), "--hold is now --call-buffer") {
		t.Errorf("%v, %s, %s", err, out.String(), stderr.String())
	}
}
