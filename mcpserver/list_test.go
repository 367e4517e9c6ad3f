package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// registryOf is a registry of tools that say "ok".
func registryOf(t testing.TB, all ...tools.Tool) *tools.Registry {
	t.Helper()
	for i := range all {
		all[i].Call = func(context.Context, json.RawMessage) (tools.Result, error) { return tools.TextOf("ok"), nil }
	}
	r := tools.New(tools.Options{})
	must.OK(t, r.Set("test", all...))
	return r
}

// manyTools are n tools.
func manyTools(n int) (all []tools.Tool) {
	for i := range n {
		all = append(all, tools.Tool{Name: fmt.Sprintf("tool_%03d", i), Description: "Does one of many things.",
			Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"what to look for"}},"required":["query"]}`)})
	}
	return all
}

// page is a result of tools/list.
type page struct {
	Result struct {
		Tools []struct {
			Name   string          `json:"name"`
			Input  json.RawMessage `json:"inputSchema"`
			Output json.RawMessage `json:"outputSchema"`
		} `json:"tools"`
		Next string `json:"nextCursor"`
	} `json:"result"`
}

// list reads one page.
func (f *face) list(cursor string, h header) (p page) {
	f.t.Helper()
	params := `"cursor":"` + cursor + `"`
	if h["Mcp-Method"] != "" {
		params += "," + modernMeta
	}
	_, body := f.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+params+`}}`, h)
	must.OK(f.t, json.Unmarshal([]byte(body), &p))
	return p
}

func TestListComesInPages(t *testing.T) {
	f := serve(t, Config{Registry: registryOf(t, manyTools(25)...), Bounds: Bounds{PageSize: 10}})
	for _, h := range []header{nil, modern("tools/list", "")} {
		var names []string
		pages, cursor := 0, ""
		for {
			p := f.list(cursor, h)
			for _, one := range p.Result.Tools {
				names = append(names, one.Name)
			}
			pages++
			if cursor = p.Result.Next; cursor == "" {
				break
			}
		}
		if pages != 3 || len(names) != 25 || !slices.IsSorted(names) {
			t.Errorf("%d pages, %q", pages, names)
		}
	}
	if _, body := f.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"bm9uZQ"}}`, nil); !strings.Contains(body, `"code":-32602`) {
		t.Errorf("a cursor of ours that is none: %s", body)
	}
}

func TestListSuitsEveryClient(t *testing.T) {
	f := serve(t, Config{
		Registry: registryOf(t,
			tools.Tool{Name: "none"},
			tools.Tool{Name: "untyped", Schema: json.RawMessage(` { "properties": {"a": {}} }`)},
			tools.Tool{Name: "union", Schema: json.RawMessage(`{"type":["object","null"]}`)},
			tools.Tool{Name: "list", Output: json.RawMessage(`{"type":"array"}`)},
			tools.Tool{Name: "promised", Output: json.RawMessage(`{"type":"array"}`)},
			tools.Tool{Name: "refused", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}`)},
		),
		Outcome: func(name string) bool { return name == "promised" },
	})
	legacy, modern := f.list("", nil), f.list("", modern("tools/list", ""))
	if len(legacy.Result.Tools) != 5 || len(modern.Result.Tools) != 5 {
		t.Fatalf("%+v", legacy)
	}
	for i, want := range []string{`{"type":"object"}`, `{"type":"object","properties":{"a":{}}}`, `{"type":"object","allOf":[{"type":["object","null"]}]}`, `{"type":"object"}`} {
		if got := string(legacy.Result.Tools[i].Input); got != want {
			t.Errorf("%s: %s, want %s", legacy.Result.Tools[i].Name, got, want)
		}
	}
	if old, fresh := legacy.Result.Tools[3].Output, modern.Result.Tools[3].Output; string(old) != `{"properties":{"result":{"type":"array"}},"required":["result"],"type":"object"}` || string(fresh) != `{"type":"array"}` {
		t.Errorf("the output that is a list: %s for older clients, %s for newer ones", old, fresh)
	}
	want := `{"type":"object","properties":{"success":{"type":"boolean"},"result":{"type":"array"},"error":{"type":"string"}},"required":["success"]}`
	if got := string(legacy.Result.Tools[4].Output); got != want {
		t.Errorf("the promised outcome: %s, want %s", got, want)
	}
}

func TestFurtherToolsStandBesideTheRegistrys(t *testing.T) {
	extra := server.NewMCPServer("x", "1")
	say := func(text string) server.ToolHandlerFunc {
		return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(text), nil
		}
	}
	extra.AddTool(mcp.NewTool("zeta"), say("zeta"))
	extra.AddTool(mcp.NewTool("echo"), say("not this one"))
	extra.AddTool(mcp.NewTool("panics"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		panic("as a faulty handler does")
	})
	f := serve(t, Config{Extra: extra})
	var names []string
	for _, one := range f.list("", nil).Result.Tools {
		names = append(names, one.Name)
	}
	if want := []string{"echo", "fails", "waits", "reports", "panics", "zeta"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	for name, want := range map[string]string{"zeta": `"text":"zeta"`, "echo": `"structuredContent":{}`, "panics": `"code":-32603`} {
		if _, got := f.post(`{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"`+name+`"}}`, nil); !strings.Contains(got, want) || !strings.Contains(got, `"id":9007199254740993,`) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// One page of 1,000 tools costs no more to answer than one of 10, but for copying it.
func TestListIsWrittenOnce(t *testing.T) {
	cost := func(n int) float64 {
		s := New(Config{Registry: registryOf(t, manyTools(n)...)})
		defer s.Close(t.Context())
		c, m := &caller{session: &session{}, out: nowhere}, message{id: json.RawMessage("1"), method: "tools/list"}
		return testing.AllocsPerRun(100, func() { s.engine.handle(t.Context(), c, m) })
	}
	if few, many := cost(10), cost(1000); many > few+1 {
		t.Errorf("%v allocations for 10 tools, %v for 1,000", few, many)
	}
}

func BenchmarkListOf1000Tools(b *testing.B) {
	s := New(Config{Registry: registryOf(b, manyTools(1000)...)})
	defer s.Close(b.Context())
	c, m := &caller{session: &session{}, out: nowhere}, message{id: json.RawMessage("1"), method: "tools/list"}
	b.ReportAllocs()
	for b.Loop() {
		s.engine.handle(b.Context(), c, m)
	}
}

// TestCallersSeeTheirOwnSchemas lists a tool whose schema is another one for each caller.
func TestCallersSeeTheirOwnSchemas(t *testing.T) {
	type key struct{}
	r := registryOf(t, append(manyTools(3), tools.Tool{Name: "varied", Schema: json.RawMessage(`{"type":"object","title":"all"}`), Seen: func(ctx context.Context) json.RawMessage {
		who, _ := ctx.Value(key{}).(string)
		if who == "" {
			return nil
		}
		return json.RawMessage(`{"type":"object","title":"` + who + `"}`)
	}})...)
	l := newLists(Config{Registry: r, Bounds: Bounds{PageSize: 2}, Outcome: func(string) bool { return false }, Extra: server.NewMCPServer("", "")})
	for range 2 { // made, and kept
		for _, who := range []string{"", "ann", "bob"} {
			want := `"title":"` + who + `"`
			if who == "" {
				want = `"title":"all"`
			}
			legacy, modern := l.pages(context.WithValue(t.Context(), key{}, who), nil)
			for _, all := range []pages{legacy, modern} {
				text := ""
				for _, page := range all {
					text += string(page)
				}
				if !strings.Contains(text, want) || strings.Count(text, `"title"`) != 1 {
					t.Errorf("%q sees %s", who, text)
				}
			}
		}
	}
}
