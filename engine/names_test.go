package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ollama/ollama/types/model"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/demo"
	"toolnorm/internal/test/must"
)

// oddNames are what clients may call a tool though OpenAI would not take it, and words and marks of
// some family.
var oddNames = []string{
	"with space", " lead", "trail ", "工具", "获取 天气", "naïve", "имя", "$tool", "tool<b>", `to"ol`, "it's", "a`b", `a\b`, "a\nb", "a\tb", "a&b;c", "f(x)", "a|b",
	"{x}", "a=b", "a,b", "🔥", "🔥 fire", "<tool_call>", "</tool_call>", "[TOOL_CALLS]", "<|python_tag|>", "<function=x>", "```", "Action: x", "functions.x:0",
	"a:0", "./run", ".hidden", "-x", "a/", "a.", "_", "__", "!", "123", "1 2", "print", "assistant", "commentary", "user", "all", "None", "final", "none",
	strings.Repeat("long_", 26), strings.Repeat("very long ", 300), strings.Repeat("工", 60), "\u200bx", "e\u0301t\u00e9",
}

// TestDemoOfEveryOddName asks each demo model for a call of each odd name. What follows a call, and
// the native strategy, get a part of the names for each family, in turn.
func TestDemoOfEveryOddName(t *testing.T) {
	formats := adapters.All()
	for _, strategy := range []string{Raw, Native} {
		e := New(Config{Strategy: map[string]string{"*": strategy}, Demo: demo.Server{Delay: -1}})
		for i, f := range formats {
			t.Run(strategy+"/"+f.Name, func(t *testing.T) {
				for j, name := range oddNames {
					further := (i+j)%7 == 0
					if further || strategy == Raw && !testing.Short() {
						t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) { roundTrip(t, e, f.Name, name, further) })
					}
				}
			})
		}
	}
}

// roundTrip has a demo model call the tool of that name, as it is streamed; further, be told the
// result, and call it again, by force, as it is held for a whole reply.
func roundTrip(t *testing.T, e *Engine, format, name string, further bool) {
	schema := json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)
	r := &chat.Request{
		Model: "demo/" + format, Messages: []chat.Message{{Role: chat.User, Content: "Find out about Paris, please."}},
		Hold:  adapters.HoldNone,
		Tools: []chat.Tool{{Name: name, Description: "find out", Schema: schema}, {Name: "other_tool", Schema: schema}},
	}
	text, calls, _, err := collect(t, e, r)
	if err != nil || !called(calls, name) || !strings.HasPrefix("I will use", text[:min(len(text), 10)]) {
		t.Fatalf("text %q, calls %s, error %v", text, calls, err)
	}
	if !further {
		return
	}
	r.Messages = append(r.Messages, chat.Message{Role: chat.Assistant, Calls: calls}, chat.Message{Role: chat.ToolRole, CallID: calls[0].ID, Name: name, Content: "done"})
	if text, calls, _, err = collect(t, e, r); err != nil || len(calls) != 0 || !strings.Contains(text, "done") {
		t.Errorf("after the result: text %q, calls %s, error %v", text, calls, err)
	}
	r.Messages = append(r.Messages, chat.Message{Role: chat.User, Content: "And other_tool for Paris?"})
	r.Required, r.Allowed, r.Hold = true, []string{name}, adapters.HoldCall
	if _, calls, _, err = collect(t, e, r); err != nil || !called(calls, name) {
		t.Errorf("by force: calls %s, error %v", calls, err)
	}
}

// called says whether there is one call, of that tool, for Paris.
func called(calls []chat.Call, name string) bool {
	var args bytes.Buffer
	return len(calls) == 1 && calls[0].Name == name && json.Compact(&args, calls[0].Args) == nil && args.String() == `{"city":"Paris"}`
}

// TestTheNamedToolIsCalled offers all odd names at once, and names one.
func TestTheNamedToolIsCalled(t *testing.T) {
	e := New(Config{Demo: demo.Server{Delay: -1}})
	names := []string{"with space", "with_space", "工具", "天气", "$tool", "tool<b>", `to"ol`, "🔥", "💧", "print", "a.b"}
	r := &chat.Request{}
	for _, name := range names {
		r.Tools = append(r.Tools, chat.Tool{Name: name})
	}
	for _, f := range adapters.All() {
		r.Model = "demo/" + f.Name
		for _, name := range names {
			r.Messages = []chat.Message{{Role: chat.User, Content: "Call " + name + " now."}}
			if text, calls, _, err := collect(t, e, r); err != nil || len(calls) != 1 || calls[0].Name != name {
				t.Errorf("%s, %s: text %q, calls %s, error %v", f.Name, name, text, calls, err)
			}
		}
	}
}

// TestOrdinaryNamesStay holds that no family gets other names for those that all can write.
func TestOrdinaryNamesStay(t *testing.T) {
	e := New(Config{Demo: demo.Server{Delay: -1}})
	r := user("go")
	for _, name := range []string{"get_weather", "search", "x", "repo.search", "repo/search", "ns:tool", "mcp__a-b__c", "_private", "9lives", "functions.x", "a.b.c", "CamelCase", strings.Repeat("a", 64)} {
		r.Tools = append(r.Tools, chat.Tool{Name: name})
	}
	for _, f := range adapters.All() {
		r.Model = "demo/" + f.Name
		if j := aliased(t, e, r); j.names != nil || j.request != r {
			t.Errorf("%s: %v", f.Name, j.names)
		}
	}
}

// aliased is the job of a request whose tools have got their names.
func aliased(t *testing.T, e *Engine, r *chat.Request) *job {
	t.Helper()
	j, err := e.begin(t.Context(), nil, r)
	if err == nil {
		j, err = j.aliasTools(t.Context())
	}
	must.OK(t, err)
	return j
}

// TestAliases shows what names become, and that they stay so in the next turn, whatever was called
// before.
func TestAliases(t *testing.T) {
	e := New(Config{Demo: demo.Server{Delay: -1}})
	r := user("go")
	r.Model = "demo/gemma3"
	want := map[string]string{
		"with space": "tool_with_space", "with/space": "with/space", "WithSpace": "WithSpace", "$tool": "tool", "tool<b>": "tool_b", "print": "tool_print",
		"🔥": "tool_ed8d8305", "工具": "tool_5ca6730d", "a b": "a_b", "a$b": "tool_a_b", "naïve": "na_ve_f86fd89d", "get_weather": "get_weather",
	}
	for _, name := range []string{"with space", "with/space", "WithSpace", "$tool", "tool<b>", "print", "🔥", "工具", "a b", "a$b", "naïve", "get_weather"} {
		r.Tools = append(r.Tools, chat.Tool{Name: name})
	}
	for range 2 {
		j := aliased(t, e, r)
		for name, alias := range want {
			if got := j.names.forModel(name); got != alias {
				t.Errorf("%q is called %s, want %s", name, got, alias)
			}
		}
		r.Messages = append([]chat.Message{{Role: chat.Assistant, Calls: []chat.Call{{ID: "1", Name: "a-b"}, {ID: "2", Name: "a'b"}}}}, r.Messages...)
	}
}

// TestAServerSeesAliasesOnly looks at what Ollama is asked, with tools by its own reading, and at
// what the client gets.
func TestAServerSeesAliasesOnly(t *testing.T) {
	for i, strategy := range []string{Raw, Tap, Native, Raw} {
		written := []string{"tool_b", "tool_b", "tool_b", "tool<b>"}[i] // the last one is what the user may have said
		server := &fakeOllama{caps: []model.Capability{model.CapabilityCompletion, model.CapabilityTools}, prompt: "p", text: `<tool_call>{"name": "` + written + `", "arguments": {}}</tool_call>`}
		e := server.start(t, Config{Strategy: map[string]string{"*": strategy}, Format: map[string]string{"*": "hermes"}})
		r := user("go")
		r.Tools = []chat.Tool{{Name: "tool<b>"}}
		r.Messages = append(r.Messages, chat.Message{Role: chat.Assistant, Calls: []chat.Call{{ID: "c1", Name: "tool<b>"}}}, chat.Message{Role: chat.ToolRole, CallID: "c1", Name: "tool<b>", Content: "x"})
		told := ""
		o := &chat.Observer{OnNote: func(word, text string) { told += word + ": " + text }}
		_, calls, _, err := collectWith(t, e, r, o)
		if err != nil || len(calls) != 1 || calls[0].Name != "tool<b>" {
			t.Errorf("%s: calls %s, error %v", strategy, calls, err)
		}
		q := server.chats[len(server.chats)-1]
		seen := []string{q.Tools[0].Function.Name, q.Messages[1].Calls[0].Function.Name, q.Messages[2].ToolName}
		if !slices.Equal(seen, []string{"tool_b", "tool_b", "tool_b"}) {
			t.Errorf("%s: the server sees %q", strategy, seen)
		}
		if told != `Names: "tool<b>" as tool_b` {
			t.Errorf("%s: the client is told %q", strategy, told)
		}
		if r.Tools[0].Name != "tool<b>" || r.Messages[1].Calls[0].Name != "tool<b>" {
			t.Error("the client's request was changed")
		}
	}
}
