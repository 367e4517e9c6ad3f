package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ollama/ollama/types/model"

	"toolnorm/chat"
	"toolnorm/engine"
	"toolnorm/engine/demo"
	"toolnorm/internal/exam"
	"toolnorm/internal/test/must"
)

// right are the calls that the questions want, as Hermes writes them.
var right = map[string]string{
	"Oslo":    `<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>`,
	"Paris":   `<tool_call>{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}</tool_call>`,
	"Madrid":  `<tool_call>{"name": "get_time", "arguments": {"timezone": "Europe/Madrid"}}</tool_call>`,
	"dentist": `<tool_call>{"name": "add_note", "arguments": {"text": "Call the dentist"}}</tool_call>`,
	"sales":   `<tool_call>{"name": "create_report", "arguments": {"kind": "sales", "format": "pdf"}}</tool_call>`,
}

var (
	writes = []model.Capability{model.CapabilityCompletion}
	takes  = []model.Capability{model.CapabilityCompletion, model.CapabilityTools}
)

// patients are examined; what is said of each stands in testdata, in a file of its name.
var patients = map[string]struct {
	fake  http.Handler // nil: no server
	model string       // empty: the servers
}{
	"servers":       {&fakeOllama{caps: takes}, ""},
	"old-servers":   {&fakeOllama{caps: takes, version: "0.5.13"}, ""},
	"unreachable":   {nil, "m"},
	"unknown-model": {&fakeOllama{caps: takes}, "mm"},
	"demo":          {nil, "demo/hermes"},
	"good":          {&fakeOllama{caps: takes, loaded: 16384, knows: right, says: "It is as you say.", calls: true}, "m"},
	"weak":          {&fakeOllama{caps: takes, loaded: 16384, says: "I cannot look things up."}, "m"},
	"polite":        {&fakeOllama{caps: takes, loaded: 16384, knows: right, says: right["Oslo"], picks: true}, "m"},
	"eager":         {&fakeOllama{caps: takes, loaded: 16384, knows: right, says: right["Oslo"], calls: true}, "m"},
	"go-template":   {&fakeOllama{caps: takes, structs: true, knows: right, says: "It is as you say."}, "m"},
	"no-tools":      {&fakeOllama{caps: writes, loaded: 16384, knows: right, says: "It is as you say."}, "m"},
	"thinker":       {&fakeOllama{caps: append(slices.Clone(takes), model.CapabilityThinking), loaded: 16384, knows: right, says: "Yes.", thinks: "Let me see."}, "m"},
	"may-hang":      {&fakeOllama{caps: takes, version: "0.24.0", parser: "qwen3-coder", loaded: 16384, knows: right, says: "It is as you say."}, "m"},
	"control":       {&fakeOllama{caps: takes, parser: "qwen3", loaded: 16384, knows: right, says: "It is as you say.", control: []string{"<tool_call>", "</tool_call>", "<|im_end|>"}}, "m"},
	"control-none":  {&fakeOllama{caps: takes, loaded: 16384, knows: right, says: "It is as you say.", control: []string{"<tool_call>", "</tool_call>"}}, "m"},
	"better-told":   {&fakeOllama{caps: takes, loaded: 16384, knows: right, says: "I cannot.", needs: "def get_weather("}, "m"},
	"vllm-servers":  {&fakeVLLM{}, ""},
	"vllm":          {&fakeVLLM{knows: right, says: "It is as you say.", think: "Let me see."}, "box/m"},
	"vllm-unknown":  {&fakeVLLM{}, "box/n"},
	"embedder":      {&fakeOllama{caps: []model.Capability{model.CapabilityEmbedding}}, "m"},
}

func TestReportsAreAsTheGoldenFiles(t *testing.T) {
	for name, p := range patients {
		t.Run(name, func(t *testing.T) {
			r := examined(t, p.fake, p.model)
			var got bytes.Buffer
			must.OK(t, r.Print(&got))
			must.Match(t, filepath.Join("testdata", name+".txt"), string(steady(got.Bytes())))
		})
	}
}

// examined is the report on a model of the fake; on the servers for no model.
func examined(t *testing.T, fake http.Handler, model string) *Report {
	t.Helper()
	cfg := engine.Config{Ollama: "http://127.0.0.1:1", Format: map[string]string{"m": "hermes"}, Demo: demo.Server{Delay: -1}}
	if fake != nil {
		s := httptest.NewServer(fake)
		t.Cleanup(s.Close)
		if _, isOllama := fake.(*fakeOllama); isOllama {
			cfg.Ollama = s.URL
		} else {
			cfg.Upstreams = []engine.Upstream{{Name: "box", URL: s.URL}}
		}
	}
	d := must.Have(New(Config{Engine: cfg}))(t)
	if model == "" {
		return d.Servers(t.Context())
	}
	return d.Model(t.Context(), model)
}

// steady is a report without what differs from run to run.
func steady(report []byte) []byte {
	for _, r := range [][2]string{
		{`127\.0\.0\.1:\d+`, "127.0.0.1:N"},
		{`\d+\.\d+ s\b`, "N s"},
		{`\d+ tokens/s`, "N tokens/s"},
		{`(parallel +).*\n`, "${1}N\n"},
	} {
		report = regexp.MustCompile(r[0]).ReplaceAll(report, []byte(r[1]))
	}
	return report
}

func TestTheJSONHoldsWhatIsPrinted(t *testing.T) {
	r := examined(t, patients["go-template"].fake, "m")
	b := must.Have(json.Marshal(r))(t)
	var back Report
	must.OK(t, json.Unmarshal(b, &back))
	var one, other bytes.Buffer
	if r.Print(&one) != nil || back.Print(&other) != nil || one.String() != other.String() {
		t.Errorf("printed from JSON\n%s\nwant\n%s", other.String(), one.String())
	}
}

func TestTheReportSaysHowItEnds(t *testing.T) {
	for name, want := range map[string]struct{ unreachable, problems bool }{
		"good": {false, false}, "go-template": {false, false}, "weak": {false, true}, "unknown-model": {false, true}, "unreachable": {true, false},
	} {
		p := patients[name]
		if r := examined(t, p.fake, p.model); r.Unreachable() != want.unreachable || r.Problems() != want.problems {
			t.Errorf("%s: unreachable %v, problems %v, want %v", name, r.Unreachable(), r.Problems(), want)
		}
	}
}

func TestAnExaminationEndsWithItsContext(t *testing.T) {
	s := httptest.NewServer(patients["good"].fake)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	d := must.Have(New(Config{Engine: engine.Config{Ollama: s.URL}, Progress: func(step string, n, of int) {
		if n == 3 {
			cancel()
		}
	}}))(t)
	r := d.Model(ctx, "m")
	if r.Cut != "interrupted" || !r.Problems() || len(r.Model.Ways) == 0 || r.Model.Ways[0].Asked != 2 && r.Model.Ways[1].Asked != 2 {
		t.Errorf("cut %q, ways %+v", r.Cut, r.Model.Ways)
	}
}

func TestOwnQuestionsAreAsked(t *testing.T) {
	s := httptest.NewServer(&fakeOllama{caps: takes, knows: map[string]string{"ping": `<tool_call>{"name": "pong", "arguments": {}}</tool_call>`}})
	defer s.Close()
	questions := must.Have(exam.Parse("Send a ping.\n=> pong {}\n"))(t)
	d := must.Have(New(Config{Engine: engine.Config{Ollama: s.URL}, Questions: questions, Tools: []chat.Tool{{Name: "pong", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}}}))(t)
	if r := d.Model(t.Context(), "m"); len(r.Model.Ways) == 0 || r.Model.Ways[1].Arguments != 1 {
		t.Errorf("ways %+v", r.Model.Ways)
	}
}

func TestTheQuestionsSuitTheirTools(t *testing.T) {
	d := must.Have(New(Config{}))(t)
	plain := 0
	for _, q := range d.cfg.Questions {
		for _, w := range q.Want {
			if !slices.ContainsFunc(d.cfg.Tools, func(tool chat.Tool) bool { return tool.Name == w.Name }) {
				t.Errorf("%q wants %s, which is not offered", q.Text, w.Name)
			}
		}
		if len(q.Want) == 0 {
			plain++
		}
	}
	if len(d.cfg.Questions) != 7 || plain != 2 {
		t.Errorf("%d questions, %d of them want no call; the help says 7 and 2", len(d.cfg.Questions), plain)
	}
}

func TestVersionsAreCompared(t *testing.T) {
	for _, c := range []struct {
		version string
		defects string
	}{
		{"0.34.3", "templates, calls"},
		{"0.32.15", "templates, calls"},
		{"v0.32.14-rc1", "hang, templates, calls"},
		{"0.5.0", "capabilities, call ids, hang, templates, calls"},
		{"0.0.0", "version"},
		{"unknown", "version"},
	} {
		var got []string
		for _, f := range defectsOf(c.version) {
			got = append(got, f.What)
		}
		if strings.Join(got, ", ") != c.defects {
			t.Errorf("known(%q) = %q, want %q", c.version, got, c.defects)
		}
	}
}

func TestPlacesAreToldByASecondRequest(t *testing.T) {
	for _, c := range []struct {
		left, first time.Duration
		want        string
	}{
		{3 * time.Second, 100 * time.Millisecond, "several"},
		{3 * time.Second, 3100 * time.Millisecond, "1 request"},
		{3 * time.Second, 2999 * time.Millisecond, "1 request"},
		{20 * time.Millisecond, time.Millisecond, "too fast"},
		{-time.Second, time.Millisecond, "too fast"},
	} {
		if got := placesBy(c.left, c.first); !strings.Contains(got, c.want) {
			t.Errorf("placesBy(%v, %v) = %q, want %q", c.left, c.first, got, c.want)
		}
	}
}

func TestNearNames(t *testing.T) {
	names := []string{"qwen3:8b", "qwen3:0.6b", "qwen2.5-coder:1.5b", "llama3.1:latest", "demo/hermes"}
	for wanted, want := range map[string]string{
		"qwen3": "qwen3:8b qwen3:0.6b", "qwne3:8b": "qwen3:8b", "lama3.1": "llama3.1:latest", "coder": "qwen2.5-coder:1.5b", "hermes": "demo/hermes", "gemma": "",
	} {
		if got := strings.Join(near(wanted, names), " "); got != want {
			t.Errorf("near(%q) = %q, want %q", wanted, got, want)
		}
	}
}

// explained is what explains the report to people.
func explained(t *testing.T) string {
	t.Helper()
	return string(must.Read(t, filepath.Join("..", "..", "docs", "doctor.md")))
}

func TestThePageShowsWhatIsPrinted(t *testing.T) {
	want := must.Read(t, filepath.Join("testdata", "demo.txt"))
	var shown strings.Builder
	_, rest, _ := strings.Cut(explained(t), "$ toolnorm doctor demo/hermes\n")
	for line := range strings.Lines(rest) {
		if line != "\n" && !strings.HasPrefix(line, "    ") {
			break
		}
		shown.WriteString(strings.TrimPrefix(line, "    "))
	}
	if got := steady([]byte(strings.TrimSpace(shown.String()))); !bytes.Equal(got, bytes.TrimSpace(want)) {
		t.Errorf("docs/doctor.md shows\n%s\nwant\n%s", got, want)
	}
}

func TestThePageNamesEveryMember(t *testing.T) {
	text := explained(t)
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice:
			walk(typ.Elem())
		case reflect.Struct:
			for f := range typ.Fields() {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if name != "" && !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, "`"+name+"[]`") {
					t.Errorf("docs/doctor.md says nothing of %s, the member %q", f.Name, name)
				}
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeFor[Report]())
}

// A row of the table said "2 of 5" under RIGHT TOOL, and the finding above it "0 of 5 calls right".
func TestTheFindingSaysWhatTheTableDoes(t *testing.T) {
	x := &examination{
		Doctor: &Doctor{cfg: Config{Questions: make([]exam.Question, 5)}},
		m:      &Model{Ways: []Way{{Name: "raw", Taken: true, Asked: 5, Score: exam.Score{Calls: 5, Tools: 2}}}},
	}
	x.advise()
	if got, want := x.m.Findings[0].Found, "too weak for tools: 0 of 5 calls right by raw; in 2 more the tool was right and its arguments were not"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}
