package proxy

import (
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/streamcheck"
)

// TestClineWorksInItsOwnForm asks with Cline's and Roo's prompts, of which the history holds a call
// and its result.
func TestClineWorksInItsOwnForm(t *testing.T) {
	for _, tt := range []struct {
		prompt, earlier, result string
		script                  script
		want                    string
	}{
		{"cline", "I list.\n\n<list_files>\n<path>.</path>\n</list_files>", "[list_files for '.'] Result:\nicon.svg",
			steps([]any{say("I write with <write_to_file>."), call(0, "write_to_file"), args(0, `{"content":"<svg><path>\n</path></svg>","path":"icon.svg"}`), endOf(0)}),
			"I write with < write_to_file>.\n\n<write_to_file>\n<path>icon.svg</path>\n<content>\n<svg><path>\n</path></svg>\n</content>\n</write_to_file>"},
		{"roo", "<read_file>\n<args><file><path>a</path></file></args>\n</read_file>", "[read_file for 'a'] Result:\n<file/>",
			steps([]any{call(0, "search_and_replace"), args(0, `{"path":"a","search":"</search","replace":"","use_regex":true}`), endOf(0)}),
			"<search_and_replace>\n<path>a</path>\n<search></search</search>\n<replace></replace>\n<use_regex>true</use_regex>\n</search_and_replace>"},
	} {
		t.Run(tt.prompt, func(t *testing.T) {
			system := must.Read(t, "form/xml/testdata/"+tt.prompt+".txt")
			srv, m := serve(t, tt.script)
			quoted := func(s string) string { return string(chat.AppendQuoted(nil, s)) }
			resp, body := do(t, "POST", srv.URL+"/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"system","content":`+quoted(string(system))+
				`},{"role":"user","content":"<task>q</task>"},{"role":"assistant","content":`+quoted(tt.earlier)+`},{"role":"user","content":`+quoted(tt.result)+`}]}`)
			got := mustStream(t, resp.Header, body, streamcheck.Expect{})
			if got.Text != tt.want || len(got.Calls) > 0 || got.Finish != "stop" {
				t.Errorf("got %+v, want %q", got, tt.want)
			}
			asked := m.last.Messages
			if len(asked) != 4 || len(asked[2].Calls) != 1 || asked[3].Role != chat.ToolRole || asked[3].Content != tt.result || strings.Contains(asked[0].Content, "# Tools") {
				t.Errorf("the model is told %+v", asked)
			}
		})
	}
}
