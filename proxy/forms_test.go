package proxy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
	"toolnorm/proxy/form/shell"
	"toolnorm/runner"
	"toolnorm/tools"
)

// served is a registry with one tool.
func served(t *testing.T) *tools.Registry {
	t.Helper()
	r := tools.New(tools.Options{})
	must.OK(t, r.Set("test", tools.Tool{Name: "search_docs", Description: "Find documents.", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`), Call: nothing}))
	return r
}

// withShell serves them.
func withShell(t *testing.T) func(*Config) {
	return func(c *Config) { c.Shell = &shell.Config{Tools: served(t), Program: runner.Toolrun} }
}

func TestTheFormIsHeaderThenSuffixThenSetting(t *testing.T) {
	srv, m := serve(t, script{call(0, "search_docs"), args(0, `{"query":"x"}`), endOf(0), finish("stop")}, withShell(t),
		func(c *Config) { c.Forms = map[string]string{"terminal*": "shell"}; c.DefaultModel = "d" })
	for _, tt := range []struct{ model, header, asked, form string }{
		{"m", "", "m", "openai"},
		{"m@shell", "", "m", "shell"},
		{"m", "Shell", "m", "shell"},
		{"terminal/x", "", "terminal/x", "shell"},
		{"terminal/x@openai", "", "terminal/x", "openai"},
		{"terminal/x@shell", "openai", "terminal/x", "openai"},
		{"m@sha256", "", "m@sha256", "openai"},
		{"@shell", "", "d", "shell"},
		{"m@void", "", "m", "openai"}, // the prompt holds no tools
	} {
		header := []string{}
		if tt.header != "" {
			header = []string{"Toolnorm-Client-Form", tt.header}
		}
		resp, body := do(t, "POST", srv.URL+"/v1/chat/completions", `{"model":"`+tt.model+`","messages":[{"role":"user","content":"q"}],`+twoTools+`}`, header...)
		form := "openai"
		if strings.Contains(body, "```bash") && !strings.Contains(body, "tool_calls") {
			form = "shell"
		}
		if form != tt.form || (resp.Header.Get("Toolnorm-Client-Form") == "shell") != (form == "shell") || m.last.Model != tt.asked || !strings.Contains(body, `"model":"`+tt.model+`"`) {
			t.Errorf("%+v: form %s, asked %q, reply %s", tt, form, m.last.Model, body)
		}
	}
	resp, body := do(t, "POST", srv.URL+"/v1/chat/completions", ask(""), "Toolnorm-Client-Form", "klingon")
	if resp.StatusCode != 400 || !strings.Contains(body, "there are openai, shell, void, cline") {
		t.Errorf("an unknown dialect: %d %s", resp.StatusCode, body)
	}
}

func TestShellNeedsTools(t *testing.T) {
	srv, _ := serve(t, script{say("a"), finish("stop")})
	resp, body := do(t, "POST", srv.URL+"/v1/chat/completions", strings.Replace(ask(""), `"m"`, `"m@shell"`, 1))
	if resp.StatusCode != 400 || !strings.Contains(body, "client form shell needs tools") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

// Where a path has one form alone, another is refused: it was passed over in silence, or looked for
// as a model of that name.
func TestFormsAreRefusedWhereAPathHasOne(t *testing.T) {
	bodies := map[string]string{
		"/v1/responses": `{"model":%q,"input":"x"}`,
		"/v1/messages":  `{"model":%q,"max_tokens":9,"messages":[{"role":"user","content":"x"}]}`,
	}
	for path, body := range bodies {
		for _, tt := range []struct{ model, header, want string }{
			{"m", "", "m"},
			{"m@openai", "", "m"},
			{"m", "OpenAI", "m"},
			{"m@sha256", "", "m@sha256"},
			{"m@shell", "", ""},
			{"m", "void", ""},
			{"m@openai", "shell", ""},
			{"m", "nope", ""},
		} {
			srv, m := serve(t, script{say("a"), finish("stop")}, func(c *Config) { c.Forms = map[string]string{"m": "shell"} })
			resp, text := must.Ask(t, "POST", srv.URL+path, fmt.Sprintf(body, tt.model), "Toolnorm-Client-Form: "+tt.header)
			switch {
			case tt.want == "":
				if resp.StatusCode != 400 || !strings.Contains(text, "client form") {
					t.Errorf("%s %s %s: %d %s", path, tt.model, tt.header, resp.StatusCode, text)
				}
			case resp.StatusCode != 200 || m.last.Model != tt.want:
				t.Errorf("%s %s %s: %d %s", path, tt.model, tt.header, resp.StatusCode, text)
			}
		}
	}
}
