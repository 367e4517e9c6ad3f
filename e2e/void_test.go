package e2e

import (
	"fmt"
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

// TestVoidCompletesALoop has a model of Void do two steps in each of its ways, in front of each Ollama: its own XML,
// commands in its terminal, and the calls of a model that it knows by name.
func TestVoidCompletesALoop(t *testing.T) {
	l := open(t)
	tools := []voidmodel.Tool{
		l.editorTool(t, "read_file", "uri", "page_number"), l.editorTool(t, "edit_file", "uri", "search_replace_blocks"), l.editorTool(t, "run_command", "command", "cwd"),
	}
	command := `toolrun search_docs '{"query":"it\u0027s 휴가 $(touch made) \u0060id\u0060"}'`
	for _, s := range []*server{l.newest, l.former} {
		base := l.proxied(t, s)
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
