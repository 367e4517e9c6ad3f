package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"toolnorm/adapters"
	"toolnorm/engine/ollama"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/upstreamtest"
)

var demoTools = []upstream.Tool{
	{Type: "function", Function: upstream.Function{Name: "get_weather", Description: "The weather of a city", Parameters: json.RawMessage(
		`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},"unit":{"type":"string","enum":["celsius","fahrenheit"]}},"required":["city"]}`)}},
	{Type: "function", Function: upstream.Function{Name: "write_file", Description: "Write text into a file", Parameters: json.RawMessage(
		`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)}},
	{Type: "function", Function: upstream.Function{Name: "getEmployee", Description: "Look up one person", Parameters: json.RawMessage(
		`{"type":"object","properties":{"employee_id":{"type":"string"},"fields":{"type":"array","items":{"type":"string"}},"active":{"type":"boolean"}},"required":["employee_id","active"]}`)}},
}

func TestDemoPicksAndFills(t *testing.T) {
	for _, row := range []struct{ message, want string }{
		{"What is the weather in Paris?", `get_weather {"city":"Paris"}`},
		{"How is the weather in New York for 3 days in Fahrenheit?", `get_weather {"city":"New York","days":3,"unit":"fahrenheit"}`},
		{`weather "são paulo" 12.5`, `get_weather {"city":"são paulo"}`},
		{"weather", `get_weather {"city":"example city"}`},
		{`write "hello" into the file notes.txt`, `write_file {"path":"notes.txt","content":"hello"}`},
		{"Please look up employee EMP001", `getEmployee {"employee_id":"EMP001","active":true}`},
		{"getEmployee `name` `mail` of EMP-7", `getEmployee {"employee_id":"EMP-7","fields":["name","mail"],"active":true}`},
		{"get_weather in Oslo, and getEmployee EMP002", `get_weather {"city":"Oslo"}; getEmployee {"employee_id":"EMP002","active":true}`},
		{"nothing that fits", `get_weather {"city":"example city"}`},
		{"", `get_weather {"city":"example city"}`},
	} {
		var got []string
		for _, f := range pick(demoTools, row.message) {
			args := fill(f, row.message)
			if !json.Valid(args) {
				t.Errorf("%q: arguments %s", row.message, args)
			}
			got = append(got, f.Name+" "+string(args))
		}
		if got := strings.Join(got, "; "); got != row.want {
			t.Errorf("%q: %s, want %s", row.message, got, row.want)
		}
	}
}

func TestDemoWritesALongText(t *testing.T) {
	var args struct{ Path, Content string }
	must.OK(t, json.Unmarshal(fill(demoTools[1].Function, "write a file about Go"), &args))
	if n := len(args.Content); n < 1000 || n > 1300 {
		t.Errorf("%d bytes of content, want about 1 KiB", n)
	}
}

// FuzzDemoFill wants valid arguments for any schema and message.
func FuzzDemoFill(f *testing.F) {
	for _, tool := range demoTools {
		f.Add([]byte(tool.Function.Parameters), `look at "a" EMP001 2026-01-01 -007.50 a/b.go in Rome`)
	}
	f.Add([]byte(`{"properties":{"a":{"type":["null","array"],"items":{"anyOf":[{"type":"number","minimum":3}]}},"b":{"enum":[{}]}},"required":["a","b"]}`), "0 00 -0")
	f.Fuzz(func(t *testing.T, schema []byte, message string) {
		if !json.Valid(schema) {
			return
		}
		if args := fill(upstream.Function{Parameters: schema}, message); !json.Valid(args) {
			t.Fatalf("fill(%s, %q) = %s", schema, message, args)
		}
	})
}

// demoClient is a client of a demo without pauses.
func demoClient(t testing.TB) *ollama.Client {
	o, err := ollama.New("http://demo", upstream.InProcess(&Server{Delay: -1}))
	must.OK(t, err)
	return o
}

func TestDemoSpeaksOllama(t *testing.T) {
	s := httptest.NewServer(&Server{Delay: -1})
	defer s.Close()
	socket, err := ollama.New(s.URL, nil)
	must.OK(t, err)
	for name, o := range map[string]*ollama.Client{"in process": demoClient(t), "over a socket": socket} {
		if v, err := o.Version(t.Context()); err != nil || v == "" {
			t.Errorf("%s: version %q, %v", name, v, err)
		}
		tags, err := o.Tags(t.Context())
		if err != nil || len(tags.Models) != len(adapters.All()) {
			t.Fatalf("%s: tags %v, %v", name, tags, err)
		}
		if show, err := o.Show(t.Context(), tags.Models[0].Name); err != nil || len(show.Capabilities) != 2 {
			t.Errorf("%s: show %v, %v", name, show, err)
		}
		ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{})
		src, err := o.Chat(ctx, p, &ollama.ChatRequest{Model: tags.Models[0].Name, Tools: demoTools, Messages: []ollama.Message{{Role: "user", Content: "weather in Rome"}}})
		must.OK(t, err)
		want := "text 0 \"I will use get_weather for this.\\n\"\ncall 0 id=call_demo0000 \"get_weather\"\n" +
			"args 0 \"{\\\"city\\\":\\\"Rome\\\"}\"\nend 0\nusage 0 {Prompt:210 Completion:9}\nfinish 0 \"stop\"\n"
		if got := upstreamtest.Drain(src); got != want {
			t.Errorf("%s: chat\n%swant\n%s", name, got, want)
		}
		p.Stop()
	}
}

func TestDemoAnswersInWords(t *testing.T) {
	o := demoClient(t)
	name := adapters.All()[0].Name
	ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{})
	defer p.Stop()
	result := ollama.Message{Role: "tool", ToolName: "get_weather", Content: "sunny, 21°"}
	for _, row := range []struct {
		request ollama.ChatRequest
		says    string
	}{
		{ollama.ChatRequest{Model: name, Tools: demoTools, Messages: []ollama.Message{{Role: "user", Content: "weather"}, result}}, "sunny, 21°"},
		{ollama.ChatRequest{Model: name, Messages: []ollama.Message{{Role: "user", Content: "good morning"}}}, "good morning"},
		{ollama.ChatRequest{Model: name}, "demo"},
	} {
		prompt, err := o.Render(ctx, p, &row.request)
		must.OK(t, err)
		src, err := o.Generate(ctx, p, &ollama.GenerateRequest{Model: name, Prompt: prompt, Raw: true})
		must.OK(t, err)
		if got := upstreamtest.Drain(src); !strings.Contains(got, row.says) || strings.Contains(got, "\ncall ") || !strings.HasSuffix(got, "finish 0 \"stop\"\n") {
			t.Errorf("got\n%swant %q in it", got, row.says)
		}
	}
}

func TestDemoKeepsLimits(t *testing.T) {
	o := demoClient(t)
	ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{})
	defer p.Stop()
	for options, want := range map[string]string{
		`{"num_predict":2}`:      "text 0 \"Hello! I\"\nusage 0 {Prompt:1 Completion:2}\nfinish 0 \"length\"\n",
		`{"stop":["x","llo"]}`:   "text 0 \"He\"\nusage 0 {Prompt:1 Completion:1}\nfinish 0 \"stop\"\n",
		`{"num_predict":999999}`: "",
	} {
		q := ollama.GenerateRequest{Model: adapters.All()[0].Name, Prompt: "hi"}
		json.Unmarshal([]byte(options), &q.Options)
		src, err := o.Generate(ctx, p, &q)
		must.OK(t, err)
		if got := upstreamtest.Drain(src); got != want && want != "" || want == "" && !strings.Contains(got, `finish 0 "stop"`) {
			t.Errorf("%s: got\n%swant\n%s", options, got, want)
		}
	}
}

// TestDemoStreams wants the pieces one by one: the first long before the last is written.
func TestDemoStreams(t *testing.T) {
	o, err := ollama.New("http://demo", upstream.InProcess(&Server{Delay: time.Millisecond}))
	must.OK(t, err)
	ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{})
	defer p.Stop()
	prompt, _ := json.Marshal(demoTurn{Messages: []ollama.Message{{Role: "user", Content: strings.Repeat("long ", 20)}}})
	begin := time.Now()
	src, err := o.Generate(ctx, p, &ollama.GenerateRequest{Model: adapters.All()[0].Name, Prompt: string(prompt), Stream: true})
	must.OK(t, err)
	defer src.Close()
	first, err := src.Next()
	early := time.Since(begin)
	if err != nil || len(first.Text) != demoDelta {
		t.Fatalf("first event %v, %v", first, err)
	}
	for err == nil {
		_, err = src.Next()
	}
	if whole := time.Since(begin); early > whole/2 {
		t.Errorf("the first piece came after %v, the last after %v", early, whole)
	}
}

func ExampleServer() {
	tool := upstream.Tool{Type: "function", Function: upstream.Function{Name: "get_weather", Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)}}
	text, calls := demoTurn{[]upstream.Tool{tool}, []ollama.Message{{Role: "user", Content: "The weather in Oslo, please"}}}.answer()
	fmt.Printf("%s%s %s\n", text, calls[0].Function.Name, calls[0].Function.Arguments)
	// Output:
	// I will use get_weather for this.
	// get_weather {"city":"Oslo"}
}

func TestDemoAnswersWholeWhenAsked(t *testing.T) {
	for _, row := range []struct{ path, body, want string }{
		{"/api/chat", `{"model":"hermes"}`, `{"model":"hermes","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}`},
		{"/api/generate", `{"model":"hermes","keep_alive":0}`, `{"model":"hermes","created_at":"2026-01-01T00:00:00Z","response":"","done":true,"done_reason":"unload"}`},
		{"/api/chat", `{"model":"hermes","stream":false,"messages":[{"role":"user","content":"get_weather"}],"tools":[{"function":{"name":"get_weather"}}]}`,
			`{"model":"hermes","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"I will use get_weather for this.\n",` +
				`"tool_calls":[{"id":"call_demo0000","function":{"index":0,"name":"get_weather","arguments":{}}}]},"done":true,"done_reason":"stop","prompt_eval_count":33,"eval_count":9}`},
		{"/api/generate", `{"model":"hermes","stream":false,"raw":true,"prompt":"def add(","options":{"num_predict":1}}`,
			`{"model":"hermes","created_at":"2026-01-01T00:00:00Z","response":"` + demoText[:demoDelta] + `","done":true,"done_reason":"length","prompt_eval_count":3,"eval_count":1}`},
	} {
		w := httptest.NewRecorder()
		(&Server{Delay: -1}).ServeHTTP(w, httptest.NewRequest("POST", row.path, strings.NewReader(row.body)))
		if got := strings.TrimSpace(w.Body.String()); got != row.want {
			t.Errorf("%s:\n%s\nwant\n%s", row.path, got, row.want)
		}
	}
}

func TestDemoHoldsToAFormat(t *testing.T) {
	o := demoClient(t)
	ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{})
	defer p.Stop()
	for format, want := range map[string]string{
		`"json"`: "{\\\"answer\\\": \\\"I",
		`{"properties":{"city":{"type":"string"}},"required":["city"]}`: `{\"city\":\"Rome\"}`,
	} {
		src, err := o.Chat(ctx, p, &ollama.ChatRequest{Model: "hermes", Format: []byte(format), Messages: []ollama.Message{{Role: "user", Content: "I am in Rome"}}})
		must.OK(t, err)
		got := strings.ReplaceAll(upstreamtest.Drain(src), "\"\ntext 0 \"", "")
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s", format, got)
		}
	}
}

// TestDemoReadsASchemaFromThePrompt asks for any JSON, as clients do that describe it in words.
func TestDemoReadsASchemaFromThePrompt(t *testing.T) {
	for text, want := range map[string]string{
		"Answer as {\"x\": 1} says:\n```json\n{\"type\": \"object\", \"properties\": {\"stars\": {\"type\": \"integer\", \"minimum\": 4}}, \"required\": [\"stars\"]}\n```\nNothing else.": `{"stars":4}`,
		"Answer {with} JSON.": `{"answer": "I am a demo without a model behind me."}`,
		"{\"$ref\": \"#/$defs/n\", \"$defs\": {\"n\": {\"type\": \"object\", \"properties\": {\"ok\": {\"type\": \"boolean\"}}, \"required\": [\"ok\"]}}}": `{"ok":`,
	} {
		turn := demoTurn{Messages: []ollama.Message{{Role: "system", Content: text}, {Role: "user", Content: "go on"}}}
		if got := turn.fitting(json.RawMessage(`"json"`)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestDemoTakesAToolThatWasNotCalled holds the reply to a call of one of two tools, as agents do
// that want their answer as one.
func TestDemoTakesAToolThatWasNotCalled(t *testing.T) {
	turn := demoTurn{Messages: []ollama.Message{{Role: "user", Content: "get_price of tea"}}}
	var calls []string
	for _, name := range []string{"get_price", "Answer"} {
		turn.Tools = append(turn.Tools, upstream.Tool{Function: upstream.Function{Name: name, Parameters: json.RawMessage(`{"type":"object"}`)}})
		calls = append(calls, `{"properties":{"name":{"const":"`+name+`"},"arguments":{"type":"object"}}}`)
	}
	format := json.RawMessage(`{"anyOf":[` + strings.Join(calls, ",") + `]}`)
	for _, want := range []string{"get_price", "Answer", "get_price"} {
		got := turn.fitting(format)
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
		call := ollama.Message{Role: "assistant", Calls: make([]ollama.Call, 1)}
		call.Calls[0].Function.Name = want
		turn.Messages = append(turn.Messages, call, ollama.Message{Role: "tool", ToolName: want, Content: "3"})
	}
}

// TestDemoRefusesWhatIsLongerThanItsContext wants the words and the counts by which the engine
// knows such a refusal.
func TestDemoRefusesWhatIsLongerThanItsContext(t *testing.T) {
	for path, body := range map[string]string{"/api/chat": `{"model":"hermes","messages":[{"content":"%s"}]}`, "/api/embed": `{"model":"hermes","input":["%s"]}`} {
		w := httptest.NewRecorder()
		(&Server{}).ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(fmt.Sprintf(body, strings.Repeat("word ", demoContext)))))
		var over *upstream.Overflow
		err := upstream.RefusalOf(w.Code, w.Header(), w.Body.Bytes())
		if !errors.As(err, &over) || over.Window != demoContext || over.Tokens < 5*demoContext/demoDelta {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
