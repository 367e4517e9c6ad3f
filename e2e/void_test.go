package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/internal/voidmodel"
	"toolnorm/proxy"
)

// editorTool is a tool of the editor whose result brings up the last script.
func (l *lane) editorTool(t *testing.T, name string, params ...string) voidmodel.Tool {
	tool := voidmodel.Tool{Name: name, Description: "Does what its name says.", Run: func(map[string]string) string {
		return "The tool of this long conversation says at last: " + l.named(t, "editor_done").Model.Selector()
	}}
	for _, p := range params {
		tool.Params = append(tool.Params, voidmodel.Param{Name: p, Description: "Optional. It is called " + p + "."})
	}
	return tool
}

// terminal is a bash in an empty folder, with toolrun on its path, next to a toolnorm; nothing may
// be left in the folder.
func (l *lane) terminal(t *testing.T, base string) func(line string) string {
	t.Helper()
	bin := filepath.Join(l.dir, "bin")
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "toolrun"), "toolnorm/cmd/toolrun").CombinedOutput(); err != nil {
		t.Fatalf("build toolrun: %v\n%s", err, out)
	}
	return func(line string) string {
		dir := t.TempDir()
		cmd := exec.Command("bash")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(line+"\n") // as pasted
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TOOLNORM_DATA="+filepath.Join(l.dir, logName(base)))
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s left %v in its folder, %v", line, left, err)
		}
		return string(out)
	}
}

// TestABlockWorksAsPasted takes blocks out of replies in shell mode and gives them to a bash.
func TestABlockWorksAsPasted(t *testing.T) {
	l := open(t)
	base := l.proxied(t, l.newest)
	run := l.terminal(t, base)
	for model, tt := range map[string]struct{ prompt, finds string }{
		"demo/hermes@shell": {`Use get_employee_info: who is "EMP001"?`, `"id":"EMP001"`},
		"hermes@shell":      {l.named(t, "editor_docs").Model.Selector() + " please", `"success":true`},
	} {
		var whole struct {
			Choices []struct{ Message struct{ Content string } }
		}
		resp := post(t, t.Context(), base, request{Model: model, Messages: []message{{Role: "user", Content: tt.prompt}}})
		err := json.NewDecoder(resp.Body).Decode(&whole)
		resp.Body.Close()
		if err != nil || len(whole.Choices) != 1 {
			t.Fatalf("%s: %v", model, err)
		}
		text := whole.Choices[0].Message.Content
		_, block, found := strings.Cut(text, "```bash\n")
		line, _, closed := strings.Cut(block, "\n```")
		if !found || !closed || strings.Contains(line, "\n") {
			t.Fatalf("%s: no closed block of one line in %q", model, text)
		}
		if out := run(line); !strings.Contains(out, tt.finds) {
			t.Errorf("%s prints %s, want %s in it", line, out, tt.finds)
		}
	}
}

// TestVoidCompletesALoop has a model of Void do two steps in each of its ways, in front of each
// Ollama: its own XML, commands in its terminal, and the calls of a model that it knows by name.
func TestVoidCompletesALoop(t *testing.T) {
	l := open(t)
	tools := []voidmodel.Tool{
		l.editorTool(t, "read_file", "uri", "page_number"), l.editorTool(t, "edit_file", "uri", "search_replace_blocks"), l.editorTool(t, "run_command", "command", "cwd"),
	}
	done := tools[2].Run
	command := `toolrun search_docs '{"query":"it\u0027s 휴가 \u0024(touch made) \u0060id\u0060"}'`
	for _, s := range []*server{l.newest, l.former} {
		base := l.proxied(t, s)
		run := l.terminal(t, base)
		tools[2].Run = func(args map[string]string) string {
			out := run(args["command"])
			if !strings.Contains(out, `"success":true`) {
				t.Errorf("%s prints %s", args["command"], out)
			}
			return out + done(args)
		}
		for _, tt := range []struct {
			way, script, model string
			native             bool
			call               string
		}{
			{"XML", "editor_read", "hermes", false, "read_file map[page_number:2 uri:/src/가 <b>.go]"},
			{"XML with marks", "editor_edit", "hermes", false, "edit_file map[search_replace_blocks:<<<<<<< ORIGINAL\r\nif a < b { // <read_file>\n=======\n\n>>>>>>> UPDATED\n uri:a.go]"},
			{"run_command", "editor_docs", "hermes@shell", false, "run_command map[command:" + command + "]"},
			{"native alias", "editor_read", proxy.AliasPrefix + "hermes", true, "read_file map[page_number:2 uri:/src/가 <b>.go]"},
			{"native alias, run_command", "editor_docs", proxy.AliasPrefix + "hermes@shell", true, "run_command map[command:" + command + "]"},
		} {
			if s == l.former && tt.way != "XML" {
				continue // it takes a minute for the longer prompts, and what is tested is on this side of it
			}
			t.Run(s.name+"/"+tt.way, func(t *testing.T) {
				c := voidmodel.Client{Base: base + "/v1", Model: tt.model, Native: tt.native, Tools: tools}
				steps, err := c.Ask(t.Context(), l.named(t, tt.script).Model.Selector()+" please")
				if err != nil || len(steps) != 2 {
					t.Fatalf("%d steps, %v: %+v", len(steps), err, steps)
				}
				if got := fmt.Sprint(steps[0].Name, " ", steps[0].Args); got != tt.call || steps[0].Shown == "" {
					t.Errorf("shows %q and runs %s, want %s", steps[0].Shown, got, tt.call)
				}
				if got := strings.TrimSpace(steps[1].Shown); got != l.named(t, "editor_done").Text() {
					t.Errorf("ends with %q", got)
				}
			})
		}
	}
}
