package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolnorm/internal/test/must"
	"toolnorm/tools"
	"toolnorm/tools/dynamic"
)

// A law of sets: whatever the sets, the callers and the settings are, each face lists exactly the
// tools that a caller may use, and runs exactly these.

// lawTools is how many tools the law has; every third says that it only reads.
const lawTools = 7

// lawTool is the name of one of them.
var lawTool = regexp.MustCompile(`t_[0-9]|loud[._]+shout`)

// parrot is a model server that calls the tool which the last message of the user names by "do
// NUMBER", and keeps what it was asked.
type parrot struct {
	mu   sync.Mutex
	seen []string
}

// ServeHTTP answers as OpenAI's API does.
func (p *parrot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/chat/completions" {
		io.WriteString(w, `{"data":[{"id":"m"}]}`)
		return
	}
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.seen = append(p.seen, string(body))
	p.mu.Unlock()
	say, call := `"content":"done"`, regexp.MustCompile(`do <([a-z]*)> ([0-9])`).FindStringSubmatch(string(body))
	answered := strings.Contains(string(body), "ran t_") || strings.Contains(string(body), "SHOUTED") || strings.Contains(string(body), "there is no") || strings.Contains(string(body), `"role":"tool"`)
	if call != nil && !answered {
		name := lawName(int(call[2][0] - '0'))
		switch call[1] {
		case "agent":
			name = strings.Replace(qualified(name), ".", "__", 1)
			say = fmt.Sprintf(`"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":%q,"arguments":"{}"}}]`, name)
		case "shell":
			say = fmt.Sprintf(`"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":%q,"arguments":"{}"}}]`, name)
		case "contract":
			text, _ := json.Marshal(fmt.Sprintf("```json\n{\"tool\": %q, \"arguments\": {}}\n```", qualified(name)))
			say = `"content":` + string(text)
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",%s}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", say)
}

// take returns what was asked since the last time.
func (p *parrot) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := strings.Join(p.seen, "\n")
	p.seen = nil
	return all
}

// lawName is the tool of a number.
func lawName(i int) string {
	if i == lawTools {
		return "loud.shout"
	}
	return fmt.Sprintf("t_%d", i)
}

// qualified is a tool's name as the agent has it.
func qualified(name string) string {
	if strings.Contains(name, ".") {
		return name
	}
	return "local." + name
}

// lawCaller is somebody who asks, and what the settings and the token say of them.
type lawCaller struct {
	token string
	sets  []string // nil: all tools
}

// lawFace lists the tools that a face shows a caller, and says whether it runs one.
type lawFace struct {
	name string
	list func(token string) []string
	call func(token string, tool int) bool
}

// namesIn are the tools of the law that a text names.
func namesIn(text string) []string {
	found := map[string]bool{}
	for _, one := range lawTool.FindAllString(text, -1) {
		if strings.HasPrefix(one, "loud") {
			one = "loud.shout"
		}
		found[one] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// mcpFace is an address of MCP.
func mcpFace(t *testing.T, m *Main, path string) lawFace {
	send := func(token, method, params string) string {
		_, body := withToken(t, "POST", m.URL()+path, token, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`, "Accept: application/json, text/event-stream")
		return body
	}
	return lawFace{path, func(token string) []string {
		return namesIn(send(token, "tools/list", "{}"))
	}, func(token string, tool int) bool {
		got := send(token, "tools/call", `{"name":"`+lawName(tool)+`","arguments":{"text":"ran it"}}`)
		return strings.Contains(got, "ran t_") || strings.Contains(got, "RAN IT")
	}}
}

// chatFace is a chat or the agent's own address, behind which the parrot sees the tools and gets
// results.
func chatFace(t *testing.T, m *Main, p *parrot, path, model, how string) lawFace {
	send := func(token, text string) string {
		p.take()
		ask := `{"model":"` + model + `","messages":[{"role":"user","content":"` + text + `"}]}`
		if how == "contract" {
			ask = `{"jsonrpc":"2.0","id":1,"method":"generate","params":` + ask + `}`
		}
		_, body := withToken(t, "POST", m.URL()+path, token, ask)
		return body
	}
	return lawFace{how, func(token string) []string {
		send(token, "hello")
		return namesIn(p.take())
	}, func(token string, tool int) bool {
		got := send(token, fmt.Sprintf("do <%s> %d", how, tool))
		if how == "shell" {
			return strings.Contains(got, "toolrun "+lawName(tool))
		}
		// What ran is in what the model is asked next.
		return regexp.MustCompile(`ran t_|SHOUTED`).MatchString(p.take())
	}}
}

// lawFaces are all faces of a program.
func lawFaces(t *testing.T, m *Main, p *parrot) []lawFace {
	return []lawFace{
		mcpFace(t, m, "/mcp"), mcpFace(t, m, "/sse"),
		{"runner", func(token string) []string {
			_, body := withToken(t, "GET", m.URL()+"/runner/tools", token, "")
			return namesIn(body)
		}, func(token string, tool int) bool {
			_, body := withToken(t, "POST", m.URL()+"/runner/call", token, `{"name":"`+lawName(tool)+`","arguments":{}}`, "Toolnorm-Admin: 1")
			return regexp.MustCompile(`ran t_|SHOUTED`).MatchString(body)
		}},
		chatFace(t, m, p, "/v1/chat/completions", "box/m@agent", "agent"),
		chatFace(t, m, p, "/v1/chat/completions", "box/m@shell", "shell"),
		chatFace(t, m, p, "/generate_with_mcp", "box/m", "contract"),
	}
}

// lawSets makes random sets, as an administrator does, and returns what each offers.
func lawSets(t *testing.T, m *Main, random *rand.Rand) map[string][]string {
	offers := map[string][]string{}
	for i := range 4 {
		g := dynamic.GroupDraft{Name: fmt.Sprintf("s%d", i), ReadOnly: random.IntN(4) == 0, Tools: []string{"gone_tool"}}
		for n := range lawTools + 1 {
			if random.IntN(3) == 0 {
				g.Tools = append(g.Tools, lawName(n))
				if !g.ReadOnly || n%3 == 0 && n < lawTools {
					offers[g.Name] = append(offers[g.Name], lawName(n))
				}
			}
		}
		if was, err := m.toolbox.Custom.Groups.Get(t.Context(), g.Name); err == nil {
			g.Version = was.Version
		}
		if random.IntN(8) == 0 && g.Version > 0 {
			must.OK(t, m.toolbox.Custom.Groups.Delete(t.Context(), "boss", g.Name, 0))
			delete(offers, g.Name)
			continue
		}
		must.Have(m.toolbox.Custom.Groups.Save(t.Context(), "boss", g))(t)
		if offers[g.Name] == nil {
			offers[g.Name] = []string{}
		}
	}
	return offers
}

// lawCallers are callers of every kind, with the setting that says what they may use.
func lawCallers(t *testing.T, random *rand.Rand) (callers []lawCaller, setting, keys []string) {
	some := func() (all []string) {
		all = []string{}
		for i := range 5 { // s4 is never made
			if random.IntN(3) == 0 {
				all = append(all, fmt.Sprintf("s%d", i))
			}
		}
		return all
	}
	var rest []string // of all who are not named
	if random.IntN(2) == 0 {
		rest = some()
		setting = append(setting, "*="+strings.Join(rest, ","))
	}
	role := some()
	setting = append(setting, "role:clerk="+strings.Join(role, ","))
	for i := range 3 {
		key := fmt.Sprintf("sk-%d-0123456789abcdef", i)
		keys = append(keys, fmt.Sprintf("holder%d %s", i, key))
		one := lawCaller{key, rest}
		if i > 0 {
			one.sets = some()
			setting = append(setting, fmt.Sprintf("holder%d=%s", i, strings.Join(one.sets, ",")))
		}
		callers = append(callers, one)
	}
	claim := some()
	callers = append(callers,
		lawCaller{tokenOf(t, "ann"), rest},
		lawCaller{tokenOf(t, "role:clerk"), rest},
		lawCaller{tokenOf(t, "*"), rest},
		lawCaller{tokenOf(t, "ben", "role", "clerk"), role},
		lawCaller{claimed(t, "cat", claim), claim},
		lawCaller{claimed(t, "holder", append(claim, "s0")), append(slices.Clone(claim), "s0")},
	)
	return callers, setting, keys
}

// claimed is a token with the claim tool_sets.
func claimed(t *testing.T, sub string, sets []string) string {
	return tokenWith(t, sub, map[string]any{"tool_sets": sets})
}

// holdLaw checks every face for every caller.
func holdLaw(t *testing.T, m *Main, p *parrot, callers []lawCaller, offers map[string][]string, random *rand.Rand) (checks int) {
	all := []string{}
	for i := range lawTools + 1 {
		all = append(all, lawName(i))
	}
	for _, who := range callers {
		may := all
		if who.sets != nil {
			may = []string{}
			for _, set := range who.sets {
				may = append(may, offers[set]...)
			}
		}
		check := func(f lawFace, want []string) {
			t.Helper()
			want = slices.Compact(slices.Sorted(slices.Values(want)))
			if got := f.list(who.token); !slices.Equal(got, want) {
				t.Errorf("%s lists %v for %v, want %v", f.name, got, who.sets, want)
			}
			for _, tool := range []int{random.IntN(lawTools + 1), random.IntN(lawTools + 1)} {
				if got, want := f.call(who.token, tool), slices.Contains(want, lawName(tool)); got != want {
					t.Errorf("%s: %s runs: %v for %v, want %v", f.name, lawName(tool), got, who.sets, want)
				}
				checks++
			}
			checks++
		}
		for _, f := range lawFaces(t, m, p) {
			check(f, may)
		}
		for i := range 5 {
			set := fmt.Sprintf("s%d", i)
			inSet, made := offers[set]
			if who.sets != nil && !slices.Contains(who.sets, set) {
				made = false
			}
			if !made {
				inSet = nil
			}
			check(mcpFace(t, m, "/mcp/sets/"+set), inSet)
			status, body := withToken(t, "POST", m.URL()+"/mcp/sets/"+set, who.token, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Accept: application/json")
			if made != (status == 200) || !made && (status != 404 || !strings.Contains(body, "no set of tools")) {
				t.Errorf("set %s for %v: %d %s", set, who.sets, status, body)
			}
		}
	}
	return checks
}

// TestWhatIsListedIsWhatCanBeCalled is that law, by seeds.
func TestWhatIsListedIsWhatCanBeCalled(t *testing.T) {
	clean(t, "")
	t.Setenv("TOOLNORM_JWT_SECRET", jwtSecret)
	p := new(parrot)
	box := httptest.NewServer(p)
	t.Cleanup(box.Close)
	for _, seed := range []uint64{1, 2} {
		random := rand.New(rand.NewPCG(seed, 36))
		callers, setting, keys := lawCallers(t, random)
		m := serving(t, io.Discard, "--data", t.TempDir(), "--sample=never", "--api-keys", strings.Join(keys, ","), "--admin-key", "boss sk-boss-0123456789abcdef", "--tool-sets", strings.Join(setting, ";"),
			"--upstream", "box=openai+"+box.URL+"/v1", "--strategy", "*=native", "--no-probe", "--ask-before-tools", "*=never")
		lawRegistry(t, m)
		for range 3 {
			if n := holdLaw(t, m, p, callers, lawSets(t, m, random), random); n < 200 {
				t.Errorf("seed %d: %d checks are too few", seed, n)
			}
		}
	}
}

// lawRegistry has a program offer the tools of the law, one of them of another server.
func lawRegistry(t *testing.T, m *Main) {
	t.Helper()
	var all []tools.Tool
	for i := range lawTools {
		reads := i%3 == 0
		all = append(all, tools.Tool{Name: lawName(i), Hints: tools.Hints{ReadOnly: &reads}, Call: func(context.Context, json.RawMessage) (tools.Result, error) {
			return tools.TextOf("ran " + lawName(i)), nil
		}})
	}
	must.OK(t, m.toolbox.Registry.Set("law", all...))
	if status, body := withToken(t, "POST", m.URL()+"/mcp/add", "sk-boss-0123456789abcdef", `{"name":"loud","url":"`+elsewhere(t)+`"}`, "Toolnorm-Admin: 1"); status != 200 {
		t.Fatalf("add: %d %s", status, body)
	}
	for range 500 {
		if _, ok := m.toolbox.Registry.Snapshot().Find("loud.shout"); ok {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the other server's tool did not come")
}
