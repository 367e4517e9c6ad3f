package proxy

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine"
	demoserver "toolnorm/engine/demo"
	"toolnorm/internal/voidmodel"
	"toolnorm/runner"
)

// params are parameters by their names and descriptions, in turn.
func params(words ...string) (all []voidmodel.Param) {
	for i := 0; i+1 < len(words); i += 2 {
		all = append(all, voidmodel.Param{Name: words[i], Description: words[i+1]})
	}
	return all
}

// editor are tools as Void has them in agent mode, with an MCP server's behind them.
func editor() []voidmodel.Tool {
	return []voidmodel.Tool{
		{Name: "read_file", Description: "Returns full contents of a given file.", Params: params("uri", "The FULL path to the file.", "page_number", "Optional. The page number."),
			Run: func(args map[string]string) string { return fmt.Sprintf("read %q", args) }},
		{Name: "edit_file", Description: "Edit the contents of a file.", Params: params("uri", "The FULL path to the file.", "search_replace_blocks", "Blocks."),
			Run: func(args map[string]string) string { return fmt.Sprintf("edited %q", args) }},
		{Name: "run_command", Description: "Runs a terminal command and waits for the result.", Params: params("command", "The terminal command to run.", "cwd", "Optional. The folder."),
			Run: func(args map[string]string) string { return "ran " + args["command"] }},
		{Name: "k3j9ab_find_weather", Description: "Find the weather of a city.", Params: params("city", "undefined"),
			Run: func(args map[string]string) string { return "Sun over " + args["city"] }},
	}
}

// serveDemo serves the models that need no server.
func serveDemo(t *testing.T, change ...func(*Config)) *httptest.Server {
	t.Helper()
	eng := engine.New(engine.Config{Ollama: "http://127.0.0.1:1", Naming: engine.Naming{Prefix: AliasPrefix}, Demo: demoserver.Server{Delay: -1}})
	cfg := Config{Model: eng, Catalog: eng, Ollama: eng}
	for _, f := range change {
		f(&cfg)
	}
	srv := httptest.NewServer(New(cfg))
	t.Cleanup(srv.Close)
	return srv
}

// TestVoidWorksInEveryWay has a model of Void ask, run what it is told to, and ask again: with its
// own XML, with commands in its terminal, and with the calls of a model that it knows; each with
// and without a system message.
func TestVoidWorksInEveryWay(t *testing.T) {
	srv := serveDemo(t, withShell(t))
	find := `Find the weather of the city "서울 <b>"`
	search := `Call search_docs for "it's a <b> vacation"`
	command := `toolrun search_docs '{"query":"it\u0027s a \u003cb> vacation"}'`
	for _, tt := range []struct {
		name, model, question string
		native                bool
		call, result          string
	}{
		{"XML", "demo/hermes", find, false, "k3j9ab_find_weather map[city:서울 <b>]", "Sun over 서울 <b>"},
		{"run_command", "demo/hermes@shell", search, false, "run_command map[command:" + command + "]", "ran " + command},
		{"native alias", AliasPrefix + "demo/hermes", find, true, "k3j9ab_find_weather map[city:서울 <b>]", "Sun over 서울 <b>"},
		{"native alias with commands", AliasPrefix + "demo/hermes@shell", search, true, "run_command map[command:" + command + "]", "ran " + command},
	} {
		for _, alone := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", tt.name, alone), func(t *testing.T) {
				c := voidmodel.Client{Base: srv.URL + "/v1", Model: tt.model, Native: tt.native, NoSystem: alone, Tools: editor()}
				steps, err := c.Ask(t.Context(), tt.question)
				if err != nil || len(steps) != 2 {
					t.Fatalf("%d steps, %v: %+v", len(steps), err, steps)
				}
				if got := fmt.Sprint(steps[0].Name, " ", steps[0].Args); got != tt.call || steps[0].Shown == "" {
					t.Errorf("Void shows %q and runs %q, want %q", steps[0].Shown, got, tt.call)
				}
				if !strings.Contains(steps[1].Shown, tt.result) || strings.Contains(steps[1].Shown, "_result>") {
					t.Errorf("the answer is %q, want %q in it", steps[1].Shown, tt.result)
				}
			})
		}
	}
}

func TestVoidReadsEveryFamily(t *testing.T) {
	srv := serveDemo(t)
	for _, f := range adapters.All() {
		c := voidmodel.Client{Base: srv.URL + "/v1", Model: "demo/" + f.Name, Tools: editor()}
		steps, err := c.Ask(t.Context(), `Find the weather of the city "서울 <b>"`)
		if err != nil || len(steps) != 2 || steps[0].Result != "Sun over 서울 <b>" {
			t.Errorf("%s: %v: %+v", f.Name, err, steps)
		}
	}
}

// TestVoidGetsWhatItCanRead gives a model of Void replies of a script.
func TestVoidGetsWhatItCanRead(t *testing.T) {
	edit := func(args_ string) []any {
		return []any{call(0, "edit_file"), args(0, args_), endOf(0)}
	}
	blocks := "<<<<<<< ORIGINAL\r\nif a < b && <read_file> {\n=======\n\n>>>>>>> UPDATED\n"
	for _, tt := range []struct {
		name   string
		script script
		shown  string
		args   string // of edit_file, or empty
	}{
		{"lines, marks of other tools and of its own", steps([]any{say("I edit.")}, edit(encoded(t, map[string]string{"uri": "a", "search_replace_blocks": blocks + "</edit_file>"}))),
			"I edit.", fmt.Sprint(map[string]string{"uri": "a", "search_replace_blocks": blocks + "</edit_file>"})},
		{"text behind the call comes in front of it", steps(edit(`{"uri":"a","search_replace_blocks":""}`), []any{say("Done.")}), "Done.", "map[search_replace_blocks: uri:a]"},
		{"marks in prose", steps([]any{say("I use <edit_"), say("file>"), say(" to edit <")}), "I use < edit_file> to edit <", ""},
		{"values that are no strings", steps(edit(`{"search_replace_blocks":[1, {"a":null}],"uri":12.0}`)), "", `map[search_replace_blocks:[1,{"a":null}] uri:12.0]`},
		{"what cannot be written is shown", steps(edit(`{"uri":"a","search_replace_blocks":"</uri>"}`)),
			"The tool edit_file was to be called, but the call cannot be written for this client: search_replace_blocks of edit_file holds </uri>, which would end it. It was:\n\n```json\n{\"uri\":\"a\",\"search_replace_blocks\":\"</uri>\"}\n```", ""},
		{"a reply that was cut in a call says so", script{finish("length")}, "(The reply reached its limit before it said anything.)", ""},
		{"a call that was cut is not run", script{say("a"), call(0, "edit_file"), args(0, `{"uri":"a"`), finish("length")}, "a", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, m := serve(t, tt.script)
			c := voidmodel.Client{Base: srv.URL + "/v1", Model: "m", Tools: editor()[:2]}
			steps, err := c.Ask(t.Context(), "q")
			if len(steps) == 0 {
				t.Fatal(err)
			}
			got := ""
			if steps[0].Args != nil {
				got = fmt.Sprint(steps[0].Args)
			}
			if steps[0].Shown != tt.shown || got != tt.args {
				t.Errorf("Void shows %q and runs %s\nwant %q and %s", steps[0].Shown, got, tt.shown, tt.args)
			}
			if !m.last.Single || m.last.Hold != adapters.HoldCall || len(m.last.Tools) != 2 || strings.Contains(m.last.Messages[0].Content, "Available tools") {
				t.Errorf("the model is asked %+v", m.last)
			}
		})
	}
}

func TestWhatXMLCannotHoldIsRunAsACommand(t *testing.T) {
	srv, _ := serve(t, script{call(0, "k3j9ab_search_docs"), args(0, `{"query":"</query>"}`), endOf(0), finish("stop")}, withShell(t))
	ours := voidmodel.Tool{Name: "k3j9ab_search_docs", Description: "Find.", Params: params("query", "words")}
	c := voidmodel.Client{Base: srv.URL + "/v1", Model: "m", Tools: append(editor()[:3], ours)}
	steps, _ := c.Ask(t.Context(), "q")
	want := `toolrun search_docs '{"query":"\u003c/query>"}'`
	if len(steps) == 0 || steps[0].Name != "run_command" || steps[0].Args["command"] != want {
		t.Errorf("got %+v, want %s", steps, want)
	}
	if line, err := runner.Toolrun.Command("search_docs", []byte(`{"query":"</query>"}`)); err != nil || line != want {
		t.Errorf("the runner writes %s, %v", line, err)
	}
}

// TestWithoutAStreamTheCallIsInTheText is for those who ask in Void's form without being Void.
func TestWithoutAStreamTheCallIsInTheText(t *testing.T) {
	srv, _ := serve(t, script{say("I read."), call(0, "read_file"), args(0, `{"uri":"a"}`), endOf(0), finish("stop")})
	body := `{"model":"m","messages":[{"role":"system","content":` + string(chat.AppendQuoted(nil, voidmodel.Prompt(editor(), true))) + `},{"role":"user","content":"q"}]}`
	_, reply := do(t, "POST", srv.URL+"/v1/chat/completions", body)
	if want := `"content":"I read.\n\n<read_file>\n<uri>a</uri>\n</read_file>"},"finish_reason":"stop"`; !strings.Contains(reply, want) {
		t.Errorf("got %s, want %s in it", reply, want)
	}
}
