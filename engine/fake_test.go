package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"toolnorm/chat"
	"toolnorm/engine/ollama"
	"toolnorm/internal/fault"
)

// fakeOllama is a server with one model, m.
type fakeOllama struct {
	caps    []model.Capability
	prompt  string // what a rendering gives; empty: the server does not know how to render only
	text    string // what the model writes, in records of one byte
	digest  string
	refuse  map[string]int                               // path -> status
	noTap   bool                                         // logprobs are refused
	parser  string                                       // what the server says, with status 500, of every reply that it reads itself
	reply   func(system string) string                   // if set, what the model writes at /api/chat, by the system text
	then    func(q ollama.GenerateRequest, n int) string // if set, what the model writes at /api/generate, by the request and how many came before
	swallow bool                                         // the server passes on nothing of what it reads itself
	end     string                                       // why its first reply ends; empty: "stop"
	show    api.ShowResponse                             // what is said of the model besides its capabilities
	control []string                                     // control tokens of its vocabulary, which raw text lacks
	version string                                       // empty: 0.34.3
	noRaw   bool                                         // raw requests are refused
	breaks  string                                       // where the server's own reading of /api/generate fails, without the token that holds it
	gone    chan time.Time                               // if set, the model writes for ever, and here comes when the client left
	mu      sync.Mutex
	asked   []string // the paths, with "render" for renderings
	chats   []ollama.ChatRequest
	generes []ollama.GenerateRequest
}

func (f *fakeOllama) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if status := f.refuse[r.URL.Path]; status != 0 {
		w.WriteHeader(status)
		io.WriteString(w, `{"error":"no"}`)
		return
	}
	switch r.URL.Path {
	case "/api/version":
		f.note("version")
		fmt.Fprintf(w, `{"version":%q}`, cmp.Or(f.version, "0.34.3"))
	case "/api/tags":
		f.note("tags")
		json.NewEncoder(w).Encode(api.ListResponse{Models: []api.ListModelResponse{{Name: "m:latest", Digest: f.digest, ModifiedAt: time.Unix(7, 0)}}})
	case "/api/show":
		f.describe(w, body)
	case "/api/chat":
		f.chat(w, r, body)
	case "/api/generate":
		f.note("generate")
		var q ollama.GenerateRequest
		json.Unmarshal(body, &q)
		text, end := f.next(func() {
			if f.then != nil {
				f.text = f.then(q, len(f.generes))
			}
			f.generes = append(f.generes, q)
		})
		switch {
		case q.Template != "" && !f.noTap:
			f.tokens(w, text)
			return
		case q.Raw && f.noRaw:
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		for _, mark := range f.control {
			text = strings.ReplaceAll(text, mark, "")
		}
		f.write(w, r, text, end, func(s string) string {
			if q.Logprobs && !f.noTap {
				return fmt.Sprintf(`{"response":%q,"logprobs":[{"token":%q}],"done":false}`, s, s)
			}
			return fmt.Sprintf(`{"response":%q,"done":false}`, s)
		})
	}
}

// describe says what the model is, with its vocabulary if that is asked for.
func (f *fakeOllama) describe(w http.ResponseWriter, body []byte) {
	var q api.ShowRequest
	json.Unmarshal(body, &q)
	show := f.show
	show.Capabilities = f.caps
	f.note(map[bool]string{false: "show", true: "vocabulary"}[q.Verbose])
	if q.Verbose {
		tokens, types := []string{"a", "<tool_call>"}, []int{1, 4}
		for _, c := range f.control {
			tokens, types = append(tokens, c), append(types, 3)
		}
		show.ModelInfo = map[string]any{"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types, "tokenizer.ggml.merges": [][]string{{"a", "b"}}}
	}
	json.NewEncoder(w).Encode(show)
}

// next returns what the model writes next and why that ends, after prepare. The reply before it may
// still be written: the client has left it.
func (f *fakeOllama) next(prepare func()) (text, end string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	prepare()
	end, f.end = cmp.Or(f.end, "stop"), ""
	return f.text, end
}

// tokens sends the text as a server that reads it itself, of which only the tokens are the model's.
func (f *fakeOllama) tokens(w http.ResponseWriter, text string) {
	for rest := text; rest != ""; {
		token := f.token(rest)
		if token == f.breaks {
			fmt.Fprintln(w, `{"error":"the parser failed"}`)
			return
		}
		fmt.Fprintf(w, `{"response":"","logprobs":[{"token":%q}],"done":false}`+"\n", token)
		rest = rest[len(token):]
	}
	fmt.Fprintln(w, `{"response":"not what was written","tool_calls":[{"function":{"name":"wrong","arguments":{}}}],"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4}`)
}

// token returns the first token of a text: a control token, or one character.
func (f *fakeOllama) token(rest string) string {
	for _, c := range append(f.control, f.breaks) {
		if c != "" && strings.HasPrefix(rest, c) {
			return c
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	return rest[:size]
}

func (f *fakeOllama) chat(w http.ResponseWriter, r *http.Request, body []byte) {
	var q ollama.ChatRequest
	json.Unmarshal(body, &q)
	f.mu.Lock()
	f.chats = append(f.chats, q)
	f.mu.Unlock()
	if q.RenderOnly {
		f.note("render")
		reply := api.ChatResponse{Done: true}
		if f.prompt != "" {
			reply.DebugInfo = &api.DebugInfo{RenderedTemplate: f.prompt}
		}
		json.NewEncoder(w).Encode(reply)
		return
	}
	asked, logprobs := "chat", func(string) string { return "" }
	if q.Logprobs && len(q.Tools) > 0 {
		asked, logprobs = "tap", func(s string) string { return fmt.Sprintf(`,"logprobs":[{"token":%q}]`, s) }
	}
	f.note(asked)
	text, end := f.next(func() {
		if f.reply != nil {
			f.text = f.reply(q.Messages[0].Content)
		}
	})
	switch {
	case f.noTap && asked == "tap":
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":"logprobs is not supported with tools + stream"}`)
	case f.parser != "" && len(q.Tools) > 0:
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, `{"error":%q}`, f.parser)
	default:
		f.write(w, r, text, end, func(s string) string {
			content := s
			if f.swallow && len(q.Tools) > 0 {
				content = ""
			}
			return fmt.Sprintf(`{"message":{"content":%q}%s,"done":false}`, content, logprobs(s))
		})
	}
}

func (f *fakeOllama) note(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, what)
}

// write sends the text, a token a record, and the end.
func (f *fakeOllama) write(w http.ResponseWriter, r *http.Request, text, end string, record func(string) string) {
	for f.gone != nil && r.Context().Err() == nil {
		fmt.Fprintln(w, record("x"))
		http.NewResponseController(w).Flush()
		time.Sleep(time.Millisecond)
	}
	if f.gone != nil {
		f.gone <- time.Now()
		return
	}
	for rest := text; rest != "" && r.Context().Err() == nil; {
		token := f.token(rest)
		fmt.Fprintln(w, record(token))
		rest = rest[len(token):]
	}
	fmt.Fprintf(w, `{"done":true,"done_reason":%q,"prompt_eval_count":3,"eval_count":4}`+"\n", end)
}

// start runs the fake behind an Engine.
func (f *fakeOllama) start(t *testing.T, cfg Config) *Engine {
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	cfg.Hold = cmp.Or(cfg.Hold, mostHeld) // not by time, which a busy machine stretches
	if cfg.Gate == nil {
		cfg.Gate = map[string]string{"*": GateNever}
	}
	cfg.Ollama, cfg.NamesOnly = s.URL, true // what a template says is tried with real ones: template_test.go
	if f.digest == "" {
		f.digest = "sha:1"
	}
	return New(cfg)
}

// paths are what was asked so far, and forgets it.
func (f *fakeOllama) paths() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := strings.Join(f.asked, " ")
	f.asked = nil
	return s
}

// collect is a reply in short: its text, its calls, its Finish, its error.
func collect(t *testing.T, e chat.Model, r *chat.Request) (text string, calls []chat.Call, end *chat.Event, err error) {
	t.Helper()
	return gather(t.Context(), e, r)
}

// collectWith is collect with somebody who observes.
func collectWith(t *testing.T, e chat.Model, r *chat.Request, o *chat.Observer) (text string, calls []chat.Call, end *chat.Event, err error) {
	t.Helper()
	return gather(chat.WithObserver(t.Context(), o), e, r)
}

func gather(ctx context.Context, e chat.Model, r *chat.Request) (text string, calls []chat.Call, end *chat.Event, err error) {
	var reply chat.Collector
	for ev, e := range e.Stream(ctx, r) {
		if e != nil {
			err = fault.From(e)
			break
		}
		reply.Add(ev)
	}
	return reply.Text.String(), reply.Calls, reply.End, err
}

// user is a request of one message.
func user(text string) *chat.Request {
	return &chat.Request{Model: "m", Messages: []chat.Message{{Role: chat.User, Content: text}}}
}
