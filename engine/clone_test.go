package engine

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// The digests that the model has, one after the other, and the names of its clones then.
const (
	firstDigest  = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	secondDigest = "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
	firstClone   = "m-toolnorm-raw:latest-0123456789ab"
	secondClone  = "m-toolnorm-raw:latest-fedcba987654"
)

// cloner is a server whose models can be derived and removed.
type cloner struct {
	fakeOllama
	about  api.ShowResponse  // of m
	models map[string]string // name -> digest
	made   []api.CreateRequest
	odd    bool   // it renders a clone's prompts in another way
	fails  string // what it says of every chat with a clone, with status 500
	busy   int    // so many chats with a clone find it busy
	denied bool   // models cannot be made
}

func (c *cloner) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var asked struct {
		Model      string `json:"model"`
		RenderOnly bool   `json:"_debug_render_only"`
	}
	json.Unmarshal(body, &asked)
	cloned := strings.Contains(asked.Model, cloneMark)
	switch {
	case r.URL.Path == "/api/tags":
		c.note("tags")
		var list api.ListResponse
		for _, name := range slices.Sorted(maps.Keys(c.models)) {
			list.Models = append(list.Models, api.ListModelResponse{Name: name, Digest: c.models[name]})
		}
		json.NewEncoder(w).Encode(list)
	case r.URL.Path == "/api/ps":
		json.NewEncoder(w).Encode(api.ProcessResponse{Models: []api.ProcessModelResponse{{Name: firstClone, Model: firstClone}}})
	case r.URL.Path == "/api/show":
		c.note(map[bool]string{false: "show", true: "vocabulary"}[strings.Contains(string(body), `"verbose":true`)])
		json.NewEncoder(w).Encode(c.about)
	case r.URL.Path == "/api/create" && c.denied:
		c.note("create")
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `{"error":"read-only"}`)
	case r.URL.Path == "/api/create":
		c.note("create")
		var q api.CreateRequest
		json.Unmarshal(body, &q)
		c.made, c.models[q.Model] = append(c.made, q), "new"
		io.WriteString(w, `{"status":"success"}`)
	case r.URL.Path == "/api/delete":
		c.note("delete")
		delete(c.models, asked.Model)
	case cloned && r.URL.Path == "/api/chat" && c.models[asked.Model] == "":
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"error":"model not found"}`)
	case cloned && asked.RenderOnly && c.odd:
		c.note("render")
		json.NewEncoder(w).Encode(api.ChatResponse{DebugInfo: &api.DebugInfo{RenderedTemplate: "odd"}})
	case cloned && !asked.RenderOnly && c.fails != "":
		c.note("chat")
		w.WriteHeader(http.StatusInternalServerError)
		json.NewEncoder(w).Encode(map[string]string{"error": c.fails})
	case cloned && !asked.RenderOnly && c.busy > 0:
		c.busy--
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, `{"error":"busy"}`)
	default:
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		c.fakeOllama.ServeHTTP(w, r)
	}
}

// start runs the server behind an Engine with strategy clone.
func (c *cloner) start(t *testing.T) *Engine {
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	if c.about.Capabilities == nil {
		c.about.Capabilities = []model.Capability{model.CapabilityCompletion, model.CapabilityTools}
	}
	if c.models == nil {
		c.models = map[string]string{"m:latest": firstDigest}
	}
	if c.prompt == "" {
		c.prompt = "p"
	}
	c.text = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>"
	return New(Config{Ollama: s.URL, Strategy: map[string]string{"*": Clone}, NoProbe: true})
}

// weatherIn asks for a call and checks it, and the strategy.
func weatherIn(t *testing.T, e *Engine, strategy string) {
	t.Helper()
	r := user("hi")
	r.Tools = []chat.Tool{weather}
	_, calls, end, err := collect(t, e, r)
	if err != nil || len(calls) != 1 || string(calls[0].Args) != `{"city": "Oslo"}` || end.Meta.Strategy != strategy {
		t.Fatalf("calls %s, end %+v, error %v, want strategy %s", calls, end, err, strategy)
	}
}

func TestCloneIsMadeOncePerDigest(t *testing.T) {
	c := &cloner{about: api.ShowResponse{Parser: "qwen3-coder", Renderer: "qwen3-coder"}}
	e := c.start(t)
	for _, want := range []string{
		"tags show render vocabulary show create tags render render render chat",
		"render chat",
	} {
		weatherIn(t, e, Clone)
		if got := c.paths(); got != want {
			t.Errorf("asked %s, want %s", got, want)
		}
	}
	q := c.made[0]
	if q.Model != firstClone || q.From != "m" || q.Parser != "passthrough" || q.Renderer != "" || q.Template != "" {
		t.Errorf("made %+v", q)
	}
	if caps, _ := json.Marshal(q.Info["capabilities"]); string(caps) != `["completion","tools"]` {
		t.Errorf("made with the capabilities %s", caps)
	}
	last := c.chats[len(c.chats)-1]
	if last.Model != firstClone || len(last.Tools) != 1 || !last.Stream || last.Logprobs {
		t.Errorf("asked %+v", last)
	}

	again := New(e.cfg) // a restart
	weatherIn(t, again, Clone)
	if len(c.made) != 1 {
		t.Errorf("%d clones made, want the first to be found again", len(c.made))
	}

	c.models["m:latest"], c.models["x-toolnorm-raw:latest"] = secondDigest, "not ours"
	c.models["gone-toolnorm-raw:1b-0123456789ab"] = "of a model that is not there"
	again.servers[0].backend.(*ollama).listed = time.Time{}
	weatherIn(t, again, Clone)
	if got := slices.Sorted(maps.Keys(c.models)); !slices.Equal(got, []string{secondClone, "m:latest", "x-toolnorm-raw:latest"}) {
		t.Errorf("the server has %q, want the new clone without the old ones", got)
	}
}

func TestClonesAreNotListed(t *testing.T) {
	c := &cloner{models: map[string]string{"m:latest": firstDigest, firstClone: "new"}}
	e := c.start(t)
	infos, err := e.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range infos {
		if strings.Contains(m.ID, cloneMark) {
			t.Errorf("%s is among the models", m.ID)
		}
	}
	for name, list := range map[string]func() (json.RawMessage, error){
		"tags": func() (json.RawMessage, error) { return e.Tags(t.Context()) },
		"ps":   func() (json.RawMessage, error) { return e.Running(t.Context()) },
	} {
		body, err := list()
		if err != nil || strings.Contains(string(body), cloneMark) || !strings.Contains(string(body), `"name":"m:latest"`) {
			t.Errorf("%s: %s, error %v", name, body, err)
		}
	}
}

// TestAnotherStrategyTakesOverFromClone has models that cannot have a clone, and clones that do not work. The server is
// left as it was, or with the clone that it has; the next request does not try again.
func TestAnotherStrategyTakesOverFromClone(t *testing.T) {
	parsed := api.ShowResponse{Parser: "qwen3-coder"}
	for _, row := range []struct {
		name        string
		server      *cloner
		first, then string
	}{
		{"llama-server renders", &cloner{about: api.ShowResponse{Template: "{{ .Prompt }}"}}, "tags show render vocabulary render generate", "render generate"},
		{"another server's model", &cloner{about: api.ShowResponse{RemoteHost: "https://elsewhere", Parser: "x"}}, "tags show render vocabulary render generate", "render generate"},
		{"a digest of another kind", &cloner{about: parsed, models: map[string]string{"m:latest": "sha:1"}}, "tags show render vocabulary render generate", "render generate"},
		{"models cannot be made", &cloner{about: parsed, denied: true}, "tags show render vocabulary show create render generate", "render generate"},
		{"another prompt", &cloner{about: parsed, odd: true}, "tags show render vocabulary show create tags render render delete render generate", "render generate"},
		{"a runner without jinja", &cloner{about: parsed, fails: "tools param requires --jinja flag"},
			"tags show render vocabulary show create tags render render render chat render generate", "render generate"},
	} {
		t.Run(row.name, func(t *testing.T) {
			e := row.server.start(t)
			for _, want := range []string{row.first, row.then} {
				weatherIn(t, e, Raw)
				if got := row.server.paths(); got != want {
					t.Errorf("asked %s, want %s", got, want)
				}
			}
		})
	}
}

// TestCloneWhoseTemplatePrintsNoSchemas has a template that prints tools as Go does. Raw mends such a prompt; with a
// picture, where that is no choice, the clone still answers.
func TestCloneWhoseTemplatePrintsNoSchemas(t *testing.T) {
	printed := "{probe probe " + goText(probeTool.Function.Parameters) + "}"
	c := &cloner{about: api.ShowResponse{Parser: "qwen3-coder"}, fakeOllama: fakeOllama{prompt: printed}}
	weatherIn(t, c.start(t), Raw)
	if len(c.made) > 0 {
		t.Errorf("made %+v for nothing", c.made)
	}
	r := user("hi")
	r.Messages[0].Images, r.Tools = [][]byte{{1}}, []chat.Tool{weather}
	c.about.Capabilities = append(c.about.Capabilities, model.CapabilityVision)
	if _, calls, end, err := collect(t, c.start(t), r); err != nil || len(calls) != 1 || end.Meta.Strategy != Clone {
		t.Errorf("calls %s, end %+v, error %v, want strategy clone", calls, end, err)
	}
}

// TestBusyServerIsNoReasonToLeaveClone has a server that is busy once.
func TestBusyServerIsNoReasonToLeaveClone(t *testing.T) {
	c := &cloner{about: api.ShowResponse{Parser: "qwen3-coder"}, busy: 1}
	e := c.start(t)
	e.cfg.Timeouts.Queue = -1
	r := user("hi")
	r.Tools = []chat.Tool{weather}
	if _, _, _, err := collect(t, e, r); fault.From(err).Kind != fault.Busy {
		t.Errorf("error %v, want busy", err)
	}
	weatherIn(t, e, Clone)
}

// TestRemovedCloneIsReplacedByAnotherStrategy removes a clone that the engine has just seen.
func TestRemovedCloneIsReplacedByAnotherStrategy(t *testing.T) {
	c := &cloner{about: api.ShowResponse{Parser: "qwen3-coder"}}
	e := c.start(t)
	weatherIn(t, e, Clone)
	delete(c.models, firstClone)
	weatherIn(t, e, Raw)
}

func TestPassthroughModelNeedsNoClone(t *testing.T) {
	c := &cloner{about: api.ShowResponse{Parser: "passthrough"}}
	weatherIn(t, c.start(t), Clone)
	if len(c.made) != 0 || c.chats[len(c.chats)-1].Model != "m" {
		t.Errorf("made %v, asked %s", c.made, c.chats[len(c.chats)-1].Model)
	}
}

// TestCloneIsNeverChosenByItself has a server that renders nothing and whose parser fails, so that one strategy after the
// other is tried.
func TestCloneIsNeverChosenByItself(t *testing.T) {
	c := &cloner{about: api.ShowResponse{Parser: "qwen3-coder"}, fakeOllama: fakeOllama{parser: "EOF"}}
	cfg := c.start(t).cfg
	c.prompt = ""
	for _, strategies := range []map[string]string{nil, {"*": Raw}, {"*": Tap}, {"*": Native}, {"*": Prompt}, {"other": Clone}} {
		cfg.Strategy = strategies
		e, r := New(cfg), user("hi")
		r.Tools = []chat.Tool{weather}
		for range 3 {
			collect(t, e, r)
		}
		if got := c.paths(); strings.Contains(got, "create") || strings.Contains(got, "delete") {
			t.Errorf("strategies %v asked %s", strategies, got)
		}
	}
}

func TestNamesOfClones(t *testing.T) {
	for _, row := range []struct{ model, digest, clone, original string }{
		{"qwen3", firstDigest, "qwen3-toolnorm-raw:latest-0123456789ab", "qwen3:latest"},
		{"Qwen3:8B", "sha256:" + firstDigest, "qwen3-toolnorm-raw:8b-0123456789ab", "qwen3:8b"},
		{"hf.co/a/b:Q4_K_M", secondDigest, "hf.co/a/b-toolnorm-raw:q4_k_m-fedcba987654", "hf.co/a/b:q4_k_m"},
		{"host:5000/a/b", secondDigest, "host:5000/a/b-toolnorm-raw:latest-fedcba987654", "host:5000/a/b:latest"},
		{"m", "demo:m", "", ""},
		{"m", "0123", "", ""},
	} {
		clone := cloneName(row.model, row.digest)
		if clone != row.clone {
			t.Errorf("%s: clone %q, want %q", row.model, clone, row.clone)
		}
		model, digest, ok := originalOf(clone)
		if model != row.original || ok != (clone != "") || ok && !strings.Contains(row.digest, digest) {
			t.Errorf("%s: original %q, digest %q, want %q", clone, model, digest, row.original)
		}
	}
	for _, name := range []string{"m", "m:latest", "m-toolnorm-raw", "m-toolnorm-raw:latest", "m-toolnorm-raw:8b-0123456789aX", "m-toolnorm-raw:0123456789ab", "-toolnorm-raw:8b-0123456789ab"} {
		if model, _, ok := originalOf(name); ok {
			t.Errorf("%s is taken for a clone of %s", name, model)
		}
	}
}
