package remote

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/internal/test/must"
	"toolnorm/internal/test/odd"
	"toolnorm/mcpserver"
	"toolnorm/tools"
)

// Two lanes hold the law of this package: what cannot be used is left out and listed, and every
// good one works. Each seed puts odd members, made by internal/test/odd of good ones, among good
// ones. heldOut was not looked at while the readers were written.
const (
	seeds   = 30
	heldOut = 1_000_003
)

// laneSeeds are the seeds of a lane: fewer with -short.
func laneSeeds() (all []uint64) {
	n := uint64(seeds)
	if testing.Short() {
		n = 10
	}
	for i := range n {
		all = append(all, i, heldOut+i)
	}
	return all
}

const goodTool = `{"name":"NAME","title":"A tool","description":"Does something.","inputSchema":{"type":"object","properties":{"a":{"type":"string","description":"what","enum":["x","y"]},"b":{"type":"integer","minimum":1,"default":2},"c":{"type":"array","items":{"$ref":"#/$defs/d"}}},"required":["a"],"additionalProperties":false,"$defs":{"d":{"type":"number"}}},"outputSchema":{"type":"object","properties":{"r":{"type":"string"}}},"annotations":{"title":"T","readOnlyHint":true},"icons":[{"src":"https://h/i.png"}],"_meta":{"k":1}}`

// forms are how servers send a message, as the media type and the text around it. The empty type is
// the one that net/http finds by itself, which is text/plain for all of them.
var forms = [][2]string{{"application/json", "%s"}, {"", "%s"}, {"none", "%s"}, {"application/octet-stream", "[%s]"},
	{"text/event-stream", "event: message\ndata: %s\n\n"}, {"", ": hello\n\nid: 7\ndata: [%s]\n\n"}}

// raw is a server that lists what it is given, byte for byte, and answers each call with the tool's
// name, in one of forms.
func raw(t *testing.T, page, greeting string, form int) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var ask struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		if json.Unmarshal(body, &ask) != nil || ask.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		switch kind := forms[form][0]; kind {
		case "":
		case "none":
			w.Header()["Content-Type"] = nil
		default:
			w.Header().Set("Content-Type", kind)
		}
		if form > 0 && ask.ID[0] != '"' {
			ask.ID = append(ask.ID, ".0"...)
		}
		answer := `"error":{"code":-32601,"message":"no such method"}`
		switch ask.Method {
		case "initialize":
			answer = `"result":` + greeting
		case "tools/list":
			answer = `"result":` + page
		case "tools/call":
			name, _ := json.Marshal(ask.Params.Name)
			answer = `"result":{"content":[{"type":"text","text":` + string(name) + `}]}`
		}
		fmt.Fprintf(w, forms[form][1], fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, ask.ID, answer))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}

const goodGreeting = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}`

func TestEveryGoodToolWorksWhateverIsBesideIt(t *testing.T) {
	offered, left := 0, 0
	for _, seed := range laneSeeds() {
		r := odd.New(seed)
		var list, whys []string
		for i := range 12 {
			list = append(list, strings.Replace(goodTool, "NAME", fmt.Sprintf("good%02d", i), 1))
		}
		n := 1 + r.IntN(6)
		for i := range n {
			why, text := odd.Member(r, strings.Replace(goodTool, "NAME", fmt.Sprintf("odd%02d", i), 1))
			list = slices.Insert(list, r.IntN(len(list)+1), text)
			whys = append(whys, why)
		}
		greeting := goodGreeting
		if r.IntN(3) == 0 {
			greeting = []string{
				`{"protocolVersion":"2025-06-18","capabilities":{"tools":[]},"serverInfo":{"name":"raw","version":"1"}}`,
				`{"protocolVersion":"2025-06-18","capabilities":{"tools":true,"logging":[],"x":"y"},"serverInfo":[]}`,
				`{"protocolVersion":"2025-06-18","capabilities":[],"serverInfo":{"name":7,"version":1.5,"title":[]},"instructions":["a"],"_meta":"x"}`,
			}[r.IntN(3)]
		}
		s, registry, _ := opened(t, `[{"name":"s","url":"`+raw(t, `{"tools":[`+strings.Join(list, ",")+`]}`, greeting, r.IntN(len(forms)))+`"}]`)
		if _, down := s.Collect(t.Context(), []string{"s"}); len(down) > 0 {
			t.Errorf("seed %d, %q: %v", seed, whys, down)
			continue
		}
		for i := range 12 {
			if got := called(registry, fmt.Sprintf("s.good%02d", i), `{"a":"x","b":"3","c":[1]}`); got != fmt.Sprintf("good%02d", i) {
				t.Errorf("seed %d, %q: good%02d says %s", seed, whys, i, got)
			}
		}
		state := s.List()[0]
		// A member of its own name can stand beside the good ones or be left out; nothing goes
		// without a word.
		if state.Tools+len(state.Odd) != 12+n {
			t.Errorf("seed %d, %q: %d offered, left out %+v", seed, whys, state.Tools, state.Odd)
		}
		offered, left = offered+state.Tools-12, left+len(state.Odd)
		for _, tool := range registry.Snapshot().Tools {
			if wrong := strict(tool); wrong != "" {
				t.Errorf("seed %d, %q: %s is offered and %s: %s", seed, whys, tool.Name, wrong, tool.Schema)
			}
		}
		readable(t, registry)
		s.Close()
	}
	t.Logf("of the odd tools %d were read, %d left out", offered, left)
	if offered == 0 || left == 0 {
		t.Error("the lane has only one kind of odd tools")
	}
}

// strict is what a strict client would refuse a whole list for, as the TypeScript SDK reads it;
// empty: nothing.
func strict(t tools.Tool) string {
	for _, schema := range []json.RawMessage{t.Schema, t.Output} {
		if len(schema) == 0 {
			continue
		}
		var s struct {
			Properties map[string]map[string]json.RawMessage
			Required   []string
			Defs       map[string]json.RawMessage `json:"$defs"`
		}
		if err := json.Unmarshal(schema, &s); err != nil {
			return err.Error()
		}
	}
	return ""
}

// readable checks that a client reads the list of a registry as a whole.
func readable(t *testing.T, r *tools.Registry) {
	t.Helper()
	s := mcpserver.New(mcpserver.Config{Registry: r})
	defer s.Close(t.Context())
	ask := httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	ask.Header.Set("Content-Type", "application/json")
	ask.Header.Set("Accept", "application/json, text/event-stream")
	w := httptest.NewRecorder()
	s.Streamable().ServeHTTP(w, ask)
	var answer struct{ Result mcp.ListToolsResult }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || len(answer.Result.Tools) != len(r.Snapshot().Tools) {
		t.Errorf("a client reads %d of %d tools: %v", len(answer.Result.Tools), len(r.Snapshot().Tools), err)
	}
}

// goodEntries are servers of each kind.
var goodEntries = []string{
	`{"name":"web","url":"http://127.0.0.1:9/mcp","type":"streamableHttp","headers":{"A":"b"}}`,
	`{"name":"run","command":"npx","args":["-y","x"],"env":{"K":"v"},"cwd":"/tmp"}`,
	`{"name":"old","url":"http://127.0.0.1:9/sse","disabled":true,"exclude":["x"]}`,
	`{"name":"list","command":["uvx","y"],"include":["a"]}`,
}

func TestEveryGoodEntryWorksWhateverIsBesideIt(t *testing.T) {
	used, left := 0, 0
	for _, seed := range laneSeeds() {
		r := odd.New(seed)
		var texts, whys []string
		texts = append(texts, goodEntries...)
		for range 1 + r.IntN(4) {
			why, text := odd.Member(r, strings.Replace(goodEntries[r.IntN(len(goodEntries))], `"name":"`, `"name":"odd-`, 1))
			texts = slices.Insert(texts, r.IntN(len(texts)+1), text)
			whys = append(whys, why)
		}
		f, err := parse([]byte(formed(r, texts)))
		if err != nil {
			t.Errorf("seed %d, %q: %v", seed, whys, err)
			continue
		}
		if len(f.servers) != len(texts) {
			t.Errorf("seed %d, %q: %d of %d are there", seed, whys, len(f.servers), len(texts))
		}
		allGood(t, f, seed, whys)
		for _, w := range f.servers {
			if w.err != nil {
				left++
			} else {
				used++
			}
		}
		// What is saved has all of them, also those that cannot be used.
		if err := f.put(Entry{Name: "new", URL: "http://127.0.0.1:9/new"}); err != nil {
			t.Errorf("seed %d, %q: put: %v", seed, whys, err)
		}
		text, err := f.encode()
		if err != nil {
			t.Fatalf("seed %d, %q: %v", seed, whys, err)
		}
		again, err := parse(text)
		if err != nil || len(again.servers) != len(texts)+1 {
			t.Fatalf("seed %d, %q: saved as %.2000s: %v", seed, whys, text, err)
		}
		allGood(t, again, seed, whys)
	}
	t.Logf("%d entries were used, %d left out", used, left)
	if left == 0 {
		t.Error("the lane has no odd entries")
	}
}

// allGood checks that every good entry is there as it was written.
func allGood(t *testing.T, f *file, seed uint64, whys []string) {
	t.Helper()
	for _, text := range goodEntries {
		want, err := readEntry(json.RawMessage(text))
		must.OK(t, err)
		var named struct{ Name string }
		_ = json.Unmarshal([]byte(text), &named)
		at := f.find(named.Name)
		if at < 0 || f.servers[at].err != nil || !f.servers[at].entry.same(want) {
			t.Errorf("seed %d, %q: %s is not used", seed, whys, named.Name)
		}
	}
}

// formed is a file of entries in one of its forms and encodings.
func formed(r *rand.Rand, texts []string) string {
	list := "[" + strings.Join(texts, ",\n") + "]"
	keyed := "{"
	for i, text := range texts {
		var named struct{ Name any }
		_ = json.Unmarshal([]byte(text), &named)
		key, _ := json.Marshal(fmt.Sprint(named.Name))
		if i > 0 {
			keyed += ","
		}
		keyed += string(key) + ":" + text
	}
	keyed += "}"
	whole := []string{list, `{"mcpServers":` + keyed + `}`, `{"x":1,"servers":` + keyed + `}`, `{"context_servers":` + keyed + `}`, `{"mcp":{"servers":` + keyed + `}}`, `{"mcpServers":` + list + `}`}[r.IntN(6)]
	switch r.IntN(5) {
	case 0:
		whole = "// a comment, with \"quotes\"\n" + strings.TrimSuffix(whole, whole[len(whole)-1:]) + "/* and */," + whole[len(whole)-1:]
	case 1:
		whole = "\ufeff" + whole
	case 2:
		return wide(whole, binary.LittleEndian, true)
	}
	return whole
}

// TestWhatIsOddIsToldWhereItsOwnerLooks follows one odd entry and one odd tool to the log and the
// list, and through a change of the file.
func TestWhatIsOddIsToldWhereItsOwnerLooks(t *testing.T) {
	url := raw(t, `{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":7},"c"]}`, goodGreeting, 0)
	s, _, log := opened(t, `[{"name":"s","url":"`+url+`"},{"name":"x","url":"nowhere"}]`)
	s.Collect(t.Context(), s.Names())
	text, err := json.Marshal(s.List())
	must.OK(t, err)
	for _, want := range []string{`{"tool":"b","why":"its inputSchema is not an object"}`, `{"tool":"tool 3","why":"is not an object"}`, `{"name":"x","url":"","state":"invalid","tools":0,"error":"its url must begin`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the list has no %s: %s", want, text)
		}
	}
	for _, want := range []string{`"tool":"b"`, `"mcp_server":"x"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s: %s", want, log)
		}
	}
}
