// Package fake is a scripted model server: it speaks as much of Ollama's API as toolnorm's raw
// strategy needs, and OpenAI's stream for proxies that convert nothing. It writes each token on an
// absolute schedule, so that a slow reader does not slow the script down, and notes when it was
// done.
package fake

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"toolnorm/bench/text"
)

// Model is the name that the server's one model has; the prefix tells toolnorm which family it is.
const Model = "qwen2.5:bench"

// Script says what a reply holds. A client sends it, as JSON, in its only message. It travels in
// the message, so that any number of streams can have scripts of their own, and every proxy passes
// it on.
type Script struct {
	ID    string // for When
	Call  bool   // one call in the Hermes form instead of prose
	Bytes int    // length of the prose or of the call's long argument
	Rate  int    // tokens a second; 0: all at once
}

// Server is a running model server. It runs in the process of the benchmark, whose processor time
// is not counted: only that of the proxies is.
type Server struct {
	URL string

	http  *http.Server
	mu    sync.Mutex
	began map[string]time.Time
	ended map[string]time.Time
}

// Start listens on a free port of the loopback interface. /api/version is that of the parsers in
// bench/go.mod; the template names .Tools, which makes the model one with tools.
func Start() (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + l.Addr().String(), began: map[string]time.Time{},
		ended: map[string]time.Time{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/version", answer(`{"version":"0.34.3"}`))
	mux.HandleFunc("GET /api/tags", answer(fmt.Sprintf(
		`{"models":[{"name":%q,"model":%q,"digest":"0123456789abcdef"}]}`, Model, Model)))
	mux.HandleFunc("POST /api/show", answer(
		`{"capabilities":["completion","tools"],"template":"{{ .Prompt }}{{ .Tools }}","details":{"family":"qwen2"},"model_info":{}}`))
	mux.HandleFunc("POST /api/chat", s.chat)
	mux.HandleFunc("POST /api/generate", s.generate)
	mux.HandleFunc("POST /v1/chat/completions", s.completions)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go s.http.Serve(l) // ends with Close
	return s, nil
}

// Close stops the server and its replies.
func (s *Server) Close() error { return s.http.Close() }

// When returns the moment behind the last token of the reply with that id; zero when it has not
// come. It says which bytes of a call had arrived before the server was done with it.
func (s *Server) When(id string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended[id]
}

// Began returns the moment at which the first token of the reply with that id was due; zero when it
// has not begun.
func (s *Server) Began(id string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.began[id]
}

// answer returns a handler that always says the same. Only what toolnorm asks before it sends a
// prompt is answered so: version, list and description of the one model.
func answer(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, body)
	}
}

// messages is the part of a chat request that holds the script.
type messages struct {
	Messages   []struct{ Content string }
	RenderOnly bool `json:"_debug_render_only"`
}

// last returns the text of the last message.
func (m messages) last() string {
	if len(m.Messages) == 0 {
		return ""
	}
	return m.Messages[len(m.Messages)-1].Content
}

// chat renders a prompt, all messages in lines of which the last one is the script, or plays the
// script as Ollama's records of a chat. toolnorm asks for the rendered prompt first
// (_debug_render_only) and continues it by /api/generate; the translator chats.
func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	var m messages
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !m.RenderOnly {
		w.Header().Set("Content-Type", "application/x-ndjson")
		s.write(w, r, m.last(), func(token string) string {
			return fmt.Sprintf(
				`{"model":%q,"created_at":"2026-01-01T00:00:00.000000000Z","message":{"role":"assistant","content":%s},"done":false}`+"\n", Model, quote(token))
		}, fmt.Sprintf(
			`{"model":%q,"created_at":"2026-01-01T00:00:00.000000000Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":10,"eval_count":10}`+"\n", Model))
		return
	}
	var prompt strings.Builder
	for i, one := range m.Messages {
		if i > 0 {
			prompt.WriteByte('\n')
		}
		prompt.WriteString(one.Content)
	}
	answer(fmt.Sprintf(
		`{"model":%q,"created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done":false,"_debug_info":{"rendered_template":%s}}`, Model, quote(prompt.String())))(w, r)
}

// generate writes a script as Ollama's records.
// The script is the last line of the prompt that chat rendered.
func (s *Server) generate(w http.ResponseWriter, r *http.Request) {
	var body struct{ Prompt string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	s.write(w, r, body.Prompt[strings.LastIndexByte(body.Prompt, '\n')+1:],
		func(token string) string {
			return fmt.Sprintf(
				`{"model":%q,"created_at":"2026-01-01T00:00:00.000000000Z","response":%s,"done":false}`+"\n", Model, quote(token))
		}, fmt.Sprintf(
			`{"model":%q,"created_at":"2026-01-01T00:00:00.000000000Z","response":"","done":true,"done_reason":"stop","prompt_eval_count":10,"eval_count":10}`+"\n", Model))
}

// completions writes a script as OpenAI's chunks.
func (s *Server) completions(w http.ResponseWriter, r *http.Request) {
	var m messages
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	chunk := `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"` + Model + `","choices":[{"index":0,"delta":{%s},"finish_reason":%s}]}` + "\n\n"
	w.Header().Set("Content-Type", "text/event-stream")
	s.write(w, r, m.last(), func(token string) string {
		return fmt.Sprintf(chunk, `"content":`+quote(token), "null")
	}, fmt.Sprintf(chunk, "", `"stop"`)+"data: [DONE]\n\n")
}

// write reads the script and writes its tokens, each as frame says, when they are due, then the
// end. Each token is due at its place since the start, not a pause after the last one: a pause that
// took too long would add up. What is ready is flushed before a pause, as real servers flush each
// token.
func (s *Server) write(w http.ResponseWriter, r *http.Request, script string,
	frame func(string) string, end string) {
	var sc Script
	if err := json.Unmarshal([]byte(strings.TrimSpace(script)), &sc); err != nil {
		http.Error(w, "the last message holds no script: "+err.Error(), http.StatusBadRequest)
		return
	}
	frames := sc.frames(frame)
	flusher, _ := w.(http.Flusher)
	start := time.Now()
	s.mu.Lock()
	s.began[sc.ID] = start
	s.mu.Unlock()
	for i, f := range frames {
		if sc.Rate > 0 {
			due := start.Add(time.Duration(i) * time.Second / time.Duration(sc.Rate))
			if wait := time.Until(due); wait > 0 {
				flusher.Flush()
				time.Sleep(wait)
			}
		}
		if _, err := fmt.Fprint(w, f); err != nil || r.Context().Err() != nil {
			return
		}
	}
	flusher.Flush()
	s.mu.Lock()
	s.ended[sc.ID] = time.Now()
	s.mu.Unlock()
	fmt.Fprint(w, end)
}

// frames returns the script's tokens, rendered before the clock starts.
// Rendered while they are due, tokens would be late by our own doing.
func (sc Script) frames(frame func(string) string) []string {
	reply := text.Prose("hermes", sc.Bytes)
	if sc.Call {
		reply, _ = text.Call("hermes", sc.Bytes)
	}
	tokens := text.Tokens(reply)
	for i, t := range tokens {
		tokens[i] = frame(t)
	}
	return tokens
}

// quote returns s as a JSON string.
func quote(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return string(b)
}
