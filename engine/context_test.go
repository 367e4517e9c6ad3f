package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/engine/ollama"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// narrow is an Ollama whose tokens are bytes of the rendered prompt, and which refuses prompts that
// are longer than the context that it is asked for.
type narrow struct {
	trained, loaded int
	parameters      string            // of the model
	mute            bool              // a refusal does not say how long the prompt is, as before 0.30
	tools           bool              // prompts hold the tools' descriptions and parameters, not their names alone
	cuts            bool              // prompts are cut instead, without a word
	says            string            // refuses conversations in which the user speaks twice in a row, in these words
	prompts         []string          // that were answered
	contexts        []json.RawMessage // that were asked for, also in vain
	refused         int
}

func (n *narrow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	switch r.URL.Path {
	case "/api/tags":
		io.WriteString(w, `{"models":[{"name":"m:latest","digest":"sha:1"}]}`)
	case "/api/ps":
		if n.loaded > 0 {
			fmt.Fprintf(w, `{"models":[{"name":"m:latest","context_length":%d}]}`, n.loaded)
		} else {
			io.WriteString(w, `{"models":[]}`)
		}
	case "/api/show":
		fmt.Fprintf(w, `{"capabilities":["completion","tools"],"parameters":%q,"model_info":{"general.architecture":"x","x.context_length":%d}}`, n.parameters, n.trained)
	case "/api/chat":
		n.render(w, body)
	case "/api/generate":
		n.generate(w, body)
	}
}

func (n *narrow) render(w http.ResponseWriter, body []byte) {
	var q ollama.ChatRequest
	json.Unmarshal(body, &q)
	var b strings.Builder
	for _, tool := range q.Tools {
		fmt.Fprintf(&b, "{%s}\n", tool.Function.Name)
		if n.tools {
			fmt.Fprintf(&b, "%s %s\n", tool.Function.Description, tool.Function.Parameters)
		}
	}
	before := ""
	for _, m := range q.Messages {
		if n.says != "" && m.Role == "user" && before == "user" {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, `{"error":%q}`, n.says)
			return
		}
		before = m.Role
		fmt.Fprintf(&b, "<%s>%s", m.Role, m.Content)
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "[%s %s]", c.Function.Name, c.Function.Arguments)
		}
	}
	json.NewEncoder(w).Encode(map[string]any{"done": true, "_debug_info": map[string]string{"rendered_template": b.String()}})
}

func (n *narrow) generate(w http.ResponseWriter, body []byte) {
	var q ollama.GenerateRequest
	json.Unmarshal(body, &q)
	limit, _ := strconv.Atoi(string(q.Options["num_ctx"]))
	n.contexts = append(n.contexts, q.Options["num_ctx"])
	tokens := len(q.Prompt)
	switch {
	case tokens <= limit:
	case n.cuts:
		tokens = limit
	case n.mute:
		n.refused++
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":"the input length exceeds the context length"}`)
		return
	default:
		n.refused++
		w.WriteHeader(http.StatusBadRequest)
		inner := fmt.Sprintf(`{"error":{"code":400,"message":"request (%d tokens) exceeds the available context size (%d tokens), try increasing it"}}`, tokens, limit)
		fmt.Fprintf(w, `{"error":%q}`, inner)
		return
	}
	n.prompts = append(n.prompts, q.Prompt)
	fmt.Fprintf(w, `{"response":"well","done":false}`+"\n"+`{"done":true,"done_reason":"stop","prompt_eval_count":%d,"eval_count":4}`+"\n", tokens)
}

// start runs it behind an Engine.
func (n *narrow) start(t *testing.T, cfg Config) *Engine {
	s := httptest.NewServer(n)
	t.Cleanup(s.Close)
	cfg.Ollama = s.URL
	return New(cfg)
}

// long is a conversation of so many turns, each of about 1000 bytes, with a call in every other
// one.
func long(turns int) *chat.Request {
	r := &chat.Request{Model: "m", Tools: []chat.Tool{weather}, Messages: []chat.Message{{Role: chat.System, Content: "SYSTEM"}}}
	for i := range turns {
		r.Messages = append(r.Messages, chat.Message{Role: chat.User, Content: fmt.Sprintf("question %d ", i) + strings.Repeat("x", 400)})
		if i%2 == 1 {
			id := fmt.Sprint("id", i)
			r.Messages = append(r.Messages,
				chat.Message{Role: chat.Assistant, Calls: []chat.Call{{ID: id, Name: "get_weather", Args: json.RawMessage(fmt.Sprintf(`{"city":"c%d"}`, i))}}},
				chat.Message{Role: chat.ToolRole, CallID: id, Content: fmt.Sprintf("result %d ", i) + strings.Repeat("y", 400)})
		}
		r.Messages = append(r.Messages, chat.Message{Role: chat.Assistant, Content: fmt.Sprintf("answer %d", i)})
	}
	r.Messages = append(r.Messages, chat.Message{Role: chat.User, Content: "the last question"})
	return r
}

// noting keeps the notes of a request.
func noting() (map[string]string, *chat.Observer) {
	notes := map[string]string{}
	return notes, &chat.Observer{OnNote: func(word, text string) { notes[word] = text }}
}

// checkLeft wants the prompt to have what must never go, and each call with its result.
func checkLeft(t *testing.T, prompt string, turns int) {
	t.Helper()
	for _, text := range []string{"{get_weather}", "<system>SYSTEM", "<user>the last question"} {
		if !strings.Contains(prompt, text) {
			t.Errorf("%q is gone from %.300s", text, prompt)
		}
	}
	for i := range turns {
		call, result := strings.Contains(prompt, fmt.Sprintf(`"c%d"`, i)), strings.Contains(prompt, fmt.Sprintf("result %d ", i))
		if call != result {
			t.Errorf("turn %d: the call is there: %v, its result: %v", i, call, result)
		}
	}
}

func TestTheContextIsByTheSizeOfTheRequest(t *testing.T) {
	for _, row := range []struct {
		name  string
		n     narrow
		cfg   Config
		turns int
		own   string // option of the client's
		want  string
	}{
		{"small", narrow{trained: 131072}, Config{}, 1, "", "8192"},
		{"larger", narrow{trained: 131072}, Config{}, 20, "", "16384"},
		{"loaded and long enough", narrow{trained: 131072, loaded: 65536}, Config{}, 1, "", "65536"},
		{"the model's own", narrow{trained: 131072, parameters: "stop \"x\"\nnum_ctx    20000\n"}, Config{}, 1, "", "20000"},
		{"trained for less", narrow{trained: 4096}, Config{}, 1, "", "4096"},
		{"the setting", narrow{trained: 131072}, Config{Lengths: Lengths{NumCtx: 12345}}, 1, "", "12345"},
		{"the client's", narrow{trained: 131072}, Config{Lengths: Lengths{NumCtx: 12345}}, 1, "23456", "23456"},
		{"bounded", narrow{trained: 131072}, Config{Lengths: Lengths{MaxCtx: 15000}}, 20, "", "15000"},
	} {
		t.Run(row.name, func(t *testing.T) {
			e, r := row.n.start(t, row.cfg), long(row.turns)
			if row.own != "" {
				r.Options = map[string]json.RawMessage{"num_ctx": json.RawMessage(row.own)}
			}
			if _, _, _, err := collect(t, e, r); err != nil {
				t.Fatal(err)
			}
			if got := string(row.n.contexts[len(row.n.contexts)-1]); got != row.want {
				t.Errorf("the context asked for is %s, want %s (of %s)", got, row.want, row.n.contexts)
			}
		})
	}
}

// TestALongConversationLosesItsOldestTurns counts by the server, in each way in which servers say
// it.
func TestALongConversationLosesItsOldestTurns(t *testing.T) {
	for name, n := range map[string]*narrow{"with counts": {trained: 16384}, "without": {trained: 16384, mute: true}} {
		t.Run(name, func(t *testing.T) {
			e, r := n.start(t, Config{}), long(40)
			notes, o := noting()
			text, _, _, err := collectWith(t, e, r, o)
			if err != nil || text != "well" {
				t.Fatalf("%q, %v", text, err)
			}
			prompt := n.prompts[0]
			if len(prompt) < 16384/3 || len(prompt) > 16384 {
				t.Errorf("the prompt has %d bytes, want some of 16384", len(prompt))
			}
			checkLeft(t, prompt, 40)
			if !strings.Contains(notes["Trimmed"], "oldest messages") {
				t.Errorf("notes: %q", notes)
			}
			if !n.mute && n.refused != 1 {
				t.Errorf("refused %d times, want once", n.refused)
			}
			for range 2 {
				r.Messages = append(r.Messages, chat.Message{Role: chat.Assistant, Content: "well"}, chat.Message{Role: chat.User, Content: "one more"})
				if _, _, _, err = collectWith(t, e, r, o); err != nil {
					t.Fatal(err)
				}
			}
			if !strings.HasPrefix(n.prompts[2], n.prompts[1]) {
				t.Errorf("the next turn's prompt agrees for %d of %d bytes only", commonPrefix(n.prompts[1], n.prompts[2]), len(n.prompts[1]))
			}
		})
	}
}

// commonPrefix is how many bytes two texts have in common at their start.
func commonPrefix(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func TestWhatCannotFitIsAnError(t *testing.T) {
	for _, row := range []struct {
		name string
		cfg  Config
		r    *chat.Request
	}{
		{"by policy", Config{Lengths: Lengths{Overflow: Refuse}}, long(40)},
		{"one long message", Config{}, user(strings.Repeat("x", 20000))},
		{"a long system text", Config{}, func() *chat.Request {
			r := long(3)
			r.Messages[0].Content = strings.Repeat("x", 20000)
			return r
		}()},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := &narrow{trained: 16384}
			notes, o := noting()
			_, _, _, err := collectWith(t, n.start(t, row.cfg), row.r, o)
			var f *fault.Error
			if !errors.As(err, &f) || f.Status() != 400 || f.OpenAICode() != "context_length_exceeded" || f.Type() != "invalid_request_error" {
				t.Fatalf("error %+v", err)
			}
			if !strings.Contains(f.Message, "maximum context length is 16384 tokens") || len(n.prompts) > 0 || notes["Trimmed"] != "" {
				t.Errorf("%s; answered %d; notes %q", f.Message, len(n.prompts), notes)
			}
		})
	}
}

// TestAServerThatCutsIsFoundOut: with some servers nothing can be done but to say so.
func TestAServerThatCutsIsFoundOut(t *testing.T) {
	n := &narrow{trained: 16384, cuts: true}
	e, r := n.start(t, Config{}), long(40)
	notes, o := noting()
	if _, _, _, err := collectWith(t, e, r, o); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(notes["Truncated"], "read 16384 tokens") {
		t.Errorf("notes %q", notes)
	}
	short := long(1)
	notes, o = noting()
	if _, _, _, err := collectWith(t, e, short, o); err != nil || notes["Truncated"] != "" {
		t.Errorf("a short conversation: notes %q, error %v", notes, err)
	}
}

// TestATemplateThatWantsRolesInTurn is refused once, and never again.
func TestATemplateThatWantsRolesInTurn(t *testing.T) {
	n := &narrow{trained: 16384, says: "Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/..."}
	e := n.start(t, Config{})
	for range 2 {
		r := user("one")
		r.Messages = append(r.Messages, chat.Message{Role: chat.User, Content: "two"})
		notes, o := noting()
		if text, _, _, err := collectWith(t, e, r, o); err != nil || text != "well" {
			t.Fatalf("%q, %v", text, err)
		}
		if notes["History"] != "roles" {
			t.Errorf("notes %q", notes)
		}
	}
	if n.prompts[0] != "<user>one\n\ntwo" || n.prompts[1] != n.prompts[0] {
		t.Errorf("prompts %q", n.prompts)
	}
}

// TestDescribedResultsAreInTurnToo: where tools are described results come from the user, who may
// speak behind them.
func TestDescribedResultsAreInTurnToo(t *testing.T) {
	n := &narrow{trained: 16384, says: "Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/..."}
	r := long(2)
	r.Messages = append(r.Messages[:len(r.Messages)-2], r.Messages[len(r.Messages)-1]) // the user speaks behind the result
	text, _, _, err := collect(t, n.start(t, Config{NoProbe: true, Strategy: map[string]string{"m": Prompt}}), r)
	if err != nil || text != "well" {
		t.Fatalf("%q, %v", text, err)
	}
	for _, text := range []string{"result 1 ", "the last question", "get_weather"} {
		if !strings.Contains(n.prompts[0], text) {
			t.Errorf("%q is not in the prompt %.300s", text, n.prompts[0])
		}
	}
}

func TestToolsThatCostMuchAreWarnedOf(t *testing.T) {
	n := &narrow{trained: 8192}
	e, r := n.start(t, Config{}), user("hi")
	for i := range 30 {
		r.Tools = append(r.Tools, chat.Tool{Name: fmt.Sprint("tool", i), Description: strings.Repeat("d", 100*i)})
	}
	notes, o := noting()
	if _, _, _, err := collectWith(t, e, r, o); err != nil {
		t.Fatal(err)
	}
	if got := notes["Tools"]; !strings.HasPrefix(got, "30 tools take about") || !strings.Contains(got, "budget of 4096: tool29 ") || !strings.HasSuffix(got, "and 10 more") {
		t.Errorf("notes %q", notes)
	}
	r.Tools = r.Tools[:3]
	notes, o = noting()
	collectWith(t, e, r, o)
	if notes["Tools"] != "" {
		t.Errorf("few tools: %q", notes)
	}
}

// What a request takes is told before the server counts, and by what it has counted the next time.
func TestTheSizeOfAPromptIsToldBeforehand(t *testing.T) {
	n := &narrow{trained: 32768}
	e := n.start(t, Config{})
	told := 0
	o := &chat.Observer{OnPrompt: func(tokens int) { told = tokens }}
	r := user(strings.Repeat("word ", 1000))
	if _, _, _, err := collectWith(t, e, r, o); err != nil {
		t.Fatal(err)
	}
	if count, err := e.CountTokens(t.Context(), r); err != nil || told < 1000 || told > 2000 || count <= 0 {
		t.Errorf("told %d, counted %d, %v", told, count, err)
	}
	if _, err := e.CountTokens(t.Context(), &chat.Request{}); err == nil {
		t.Error("a request without a model was counted")
	}
}

// TestACompatibleServersRefusalIsTrimmed has a vLLM, whose context nobody can choose.
func TestACompatibleServersRefusalIsTrimmed(t *testing.T) {
	const limit = 9000
	asked, last := 0, ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/v1/models":
			fmt.Fprintf(w, `{"data":[{"id":"m","owned_by":"vllm","max_model_len":%d}]}`, limit)
		case "/v1/chat/completions":
			asked++
			if last = string(body); len(body) > limit {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"object":"error","message":"This model's maximum context length is %d tokens. However, you requested %d tokens in the messages.","type":"BadRequestError","code":400}`, limit, len(body))
				return
			}
			io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"well\"},\"finish_reason\":null}]}\n\n"+
				"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer srv.Close()
	e := New(Config{Upstreams: []Upstream{{Name: "box", URL: srv.URL, Kind: upstream.KindOpenAI}}})
	r := long(40)
	r.Model = "box/m"
	notes, o := noting()
	if text, _, _, err := collectWith(t, e, r, o); err != nil || text != "well" {
		t.Fatalf("%q, %v", text, err)
	}
	if asked != 2 || !strings.Contains(last, "the last question") || !strings.Contains(last, "SYSTEM") || !strings.Contains(notes["Trimmed"], "context of 9000 tokens") {
		t.Errorf("asked %d times, notes %q, at last %.300s", asked, notes, last)
	}
}

// TestAReplyThatMayBeTooLongIsShortened: of a vLLM's context, prompt and reply must fit together.
func TestAReplyThatMayBeTooLongIsShortened(t *testing.T) {
	var limits []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		var q struct {
			Limit json.Number `json:"max_tokens"`
		}
		json.NewDecoder(r.Body).Decode(&q)
		if limits = append(limits, q.Limit.String()); len(limits) == 1 {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"message":"This model's maximum context length is 9000 tokens. However, you requested 33000 tokens (1000 in the messages, 32000 in the completion).","code":400}`)
			return
		}
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"well\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer srv.Close()
	r := long(2)
	r.Model, r.MaxTokens = "box/m", 32000
	notes, o := noting()
	text, _, _, err := collectWith(t, New(Config{Upstreams: []Upstream{{Name: "box", URL: srv.URL, Kind: upstream.KindOpenAI}}}), r, o)
	if err != nil || text != "well" || strings.Join(limits, " ") != "32000 8000" || len(notes) > 0 {
		t.Errorf("%q, %v, limits %q, notes %q", text, err, limits, notes)
	}
}
