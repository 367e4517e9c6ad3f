package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/streamcheck"
	"toolnorm/tools"
)

func nothing(context.Context, json.RawMessage) (tools.Result, error) { return tools.Result{}, nil }

// docs is a call of the tool that is served.
func docs(i int, query string) []any {
	b, _ := json.Marshal(query)
	return []any{call(i, "search_docs"), args(i, `{"query":`), args(i, string(b)+"}"), endOf(i)}
}

// steps are a script of several parts.
func steps(parts ...[]any) (s script) {
	for _, p := range parts {
		s = append(s, p...)
	}
	return append(s, finish("stop"))
}

// runTool is a client's own tool that runs commands.
const runTool = `{"type":"function","function":{"name":"run_command","parameters":{"type":"object","properties":{"command":{"description":"it"},"cwd":{"description":"where"}}}}}`

func TestCallsOfServedToolsBecomeCommands(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	for _, tt := range []struct {
		name   string
		script script
		more   string
		header []string
		want   streamcheck.Reply // Chunks are not compared
	}{
		{"a block", steps([]any{say("I look.")}, docs(0, "휴가 it's <b> `x`")), "", nil,
			streamcheck.Reply{Text: "I look.\n\n```bash\ntoolrun search_docs '{\"query\":\"휴가 it\\u0027s \\u003cb> \\u0060x\\u0060\"}'\n```\n", Finish: "stop"}},
		{"a block without words", steps(docs(0, "a")), "", nil,
			streamcheck.Reply{Text: "```bash\ntoolrun search_docs '{\"query\":\"a\"}'\n```\n", Finish: "stop"}},
		{"a block each, text behind", steps(docs(0, "a"), docs(1, "b"), []any{say("Run these.")}), "", nil,
			streamcheck.Reply{Text: "```bash\ntoolrun search_docs '{\"query\":\"a\"}'\n```\n\n```bash\ntoolrun search_docs '{\"query\":\"b\"}'\n```\nRun these.", Finish: "stop"}},
		{"a block behind an open one", steps([]any{say("Like this:\n``"), say("`sh\nls\n")}, docs(0, "a")), "", nil,
			streamcheck.Reply{Text: "Like this:\n```sh\nls\n```\n\n```bash\ntoolrun search_docs '{\"query\":\"a\"}'\n```\n", Finish: "stop"}},
		{"Windows", steps(docs(0, "a")), "", []string{"X-Stainless-OS", "Windows"},
			streamcheck.Reply{Text: "```powershell\ntoolrun --b64 eyJxdWVyeSI6ImEifQ search_docs\n```\n", Finish: "stop"}},
		{"too long for a line", steps(docs(0, long)), "", nil, streamcheck.Reply{Text: "```bash\ntoolrun --call id204812\n```\n", Finish: "stop"}},
		{"the client's own tool that runs commands", steps([]any{say("I look.")}, docs(0, "a")), `,"tools":[` + runTool + `]`, nil,
			streamcheck.Reply{Text: "I look.", Calls: called("run_command", `{"command":"toolrun search_docs '{\"query\":\"a\"}'"}`), Finish: "tool_calls"}},
		{"the client's tools stay calls", steps(docs(0, "a"), []any{call(1, "get_time"), args(1, "{}"), endOf(1)}), "," + twoTools, nil,
			streamcheck.Reply{Text: "```bash\ntoolrun search_docs '{\"query\":\"a\"}'\n```\n", Calls: []streamcheck.Call{{ID: "call_1", Name: "get_time", Args: "{}"}}, Finish: "tool_calls"}},
		{"a cut call is no command", script{say("a"), call(0, "search_docs"), args(0, `{"qu`), finish("length")}, "", nil, streamcheck.Reply{Text: "a", Finish: "length"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, _ := serve(t, tt.script, withShell(t), func(c *Config) { c.Shell.Keep = kept })
			resp, body := do(t, "POST", srv.URL+"/v1/chat/completions", `{"model":"m@shell","stream":true,"messages":[{"role":"user","content":"q"}]`+tt.more+`}`, tt.header...)
			got := mustStream(t, resp.Header, body, streamcheck.Expect{Tools: append([]string{"run_command"}, offered...)})
			got.Chunks, got.ArgChunks = 0, 0
			tt.want.Comments = []string{": client-form=shell"}
			if encoded(t, got) != encoded(t, tt.want) {
				t.Errorf("got  %s\nwant %s", encoded(t, got), encoded(t, tt.want))
			}
		})
	}
}

// kept names a call by its length.
func kept(_ string, args json.RawMessage) (string, error) {
	if len(args) < 1000 {
		return "", errors.New("not long")
	}
	return "id204812", nil
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	must.OK(t, err)
	return string(b)
}

func TestServedToolsAreOfferedBesideTheClients(t *testing.T) {
	srv, m := serve(t, script{say("a"), finish("stop")}, withShell(t))
	for more, want := range map[string]string{
		"":                                  "search_docs",
		"," + twoTools:                      "get_weather get_time search_docs",
		`,"tool_choice":"none",` + twoTools: "",
		`,"tools":[{"name":"search_docs"}]`: "search_docs",
		`,"tools":[{"name":"a1b2c3_search_docs"}]`: "a1b2c3_search_docs",
	} {
		do(t, "POST", srv.URL+"/v1/chat/completions", `{"model":"m@shell","messages":[{"role":"user","content":"q"}]`+more+`}`)
		var names []string
		for _, tool := range m.last.Tools {
			names = append(names, tool.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: offered %q, want %q", more, got, want)
		}
	}
}

// shown is the result of a command that was shown in a block, as the model reads it.
const shown = "This was shown to the user as a command to run. What it gave, if it was run, is in the user's next message."

func TestEarlierCommandsBecomeCalls(t *testing.T) {
	srv, m := serve(t, script{say("a"), finish("stop")}, withShell(t), func(c *Config) {
		c.Shell.Kept = func(id string) (string, json.RawMessage, bool) {
			return "search_docs", json.RawMessage(`{"query":"long"}`), id == "known"
		}
	})
	block := "```bash\\ntoolrun search_docs '{\\\"query\\\":\\\"a\\\"}'\\n```\\n"
	do(t, "POST", srv.URL+"/v1/chat/completions", `{"model":"m@shell","messages":[
		{"role":"user","content":"q"},
		{"role":"assistant","content":"I look.\n\n`+block+`\n`+block+`"},
		{"role":"user","content":"it says x"},
		{"role":"assistant","content":"`+"```bash\\nls\\n```"+`"},
		{"role":"user","content":"more?"},
		{"role":"assistant","content":"`+"```bash\\ntoolrun --call known\\n```"+`"},
		{"role":"user","content":"more!"},
		{"role":"assistant","content":"`+"```bash\\ntoolrun --call other\\n```"+`"},
		{"role":"user","content":"and?"},
		{"role":"assistant","content":"Again.","tool_calls":[{"id":"c1","type":"function","function":{"name":"run_command","arguments":"{\"command\":\"toolrun search_docs '{\\\"query\\\":\\\"b\\\"}'\"}"}},{"id":"c2","type":"function","function":{"name":"run_command","arguments":"{\"command\":\"ls\"}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"found"},
		{"role":"tool","tool_call_id":"c2","content":"main.go"}
	],"tools":[`+runTool+`]}`)
	var got []string
	for _, msg := range m.last.Messages {
		line := string(msg.Role) + " " + msg.Content
		for _, c := range msg.Calls {
			line += " " + c.ID + "=" + c.Name + string(c.Args)
		}
		if msg.Role == chat.ToolRole {
			line += " of " + msg.CallID + " " + msg.Name
		}
		got = append(got, line)
	}
	want := []string{
		"user q",
		`assistant I look. call_shell_1=search_docs{"query":"a"} call_shell_2=search_docs{"query":"a"}`,
		"tool " + shown + " of call_shell_1 search_docs",
		"tool " + shown + " of call_shell_2 search_docs",
		"user it says x",
		"assistant ```bash\nls\n```",
		"user more?",
		`assistant  call_shell_3=search_docs{"query":"long"}`,
		"tool " + shown + " of call_shell_3 search_docs",
		"user more!",
		"assistant ```bash\ntoolrun --call other\n```",
		"user and?",
		`assistant Again. c1=search_docs{"query":"b"} c2=run_command{"command":"ls"}`,
		"tool found of c1 search_docs",
		"tool main.go of c2 run_command",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the model is told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
