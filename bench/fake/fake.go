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

// Script describes a reply. A client sends it, as JSON, in its last message. So any number of
// streams can have scripts of their own, and every proxy passes them on.
type Script struct {
	ID    string // for When
	Call  bool   // one call in the Hermes form instead of prose
	Bytes int    // length of the prose or of the call's long argument
	Rate  int    // tokens a second; 0: all at once
}

// Server is a running model server. It runs in the process of the benchmark, because only the
// processor time of the proxies is counted.
type Server struct {
	URL string

	http  *http.Server
	mu    sync.Mutex
	began map[string]time.Time
	ended map[string]time.Time
}

// Start starts a server, which imitates Ollama, on a free port of the loopback interface. The
// version that it reports is that of Ollama's parsers in bench/go.mod. The template that it reports
// mentions .Tools, so that toolnorm takes the model for one that accepts tools. Start returns an
// error if it cannot listen.
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

// Close stops the server and its replies. It returns the error of closing the listener.
func (s *Server) Close() error { return s.http.Close() }

// When returns the time after the last token of the reply with that id, or the zero time if the
// reply has not ended. It shows which bytes of a call had arrived before the server was done with
// the call.
func (s *Server) When(id string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended[id]
}

// Began returns the time at which the first token of the reply with that id was due, or the zero
// time if the reply has not begun.
func (s *Server) Began(id string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.began[id]
}

// answer returns a handler that always writes the same body. It is for the questions that toolnorm
// asks before it sends a prompt: the version, the list of models, and the description of the model.
func answer(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, body)
	}
}

// messages is the part of a chat request that contains the script.
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

// chat answers as Ollama's /api/chat does. If the request has RenderOnly, as toolnorm's requests
// have, the answer is the prompt: the texts of the messages, each on its own line, so that the
// script is in the last line. toolnorm then continues this prompt by /api/generate. Otherwise, for
// the proxy that only translates, chat streams the script as a reply.
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

// generate streams a script as Ollama's /api/generate does. The script is the last line of the
// request's prompt, which the method chat has rendered.
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

// completions answers a request with a stream in the form of OpenAI's chat completions. What it
// streams is described by a script in the request's last message.
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

// write writes the tokens of a script to w, each at its time. The function frame returns the text
// that is sent for a token, and the text end is sent after the last token. A token is due at a
// fixed time after the start, not after the token before it, because pauses that take too long
// would add up. Before a pause, write flushes what it has written, as real servers flush each
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

// frames returns, for each token of the script, the text that the function frame makes of it. The
// texts are made before the clock starts, because tokens would be late otherwise.
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
