package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// kinds are the ways in which a model server treats a schema.
var kinds = []kind{
	{name: "holds", write: writeRight, formal: true},
	{name: "ignores", write: writeLoose, formal: true},
	{name: "half-holds", write: halfHeld},
	{name: "ignores, tools offered", write: writeLoose, formal: true, tools: true},
	{name: "is cut by its limit", write: cut, cut: true},
	{name: "ends in the middle", write: stopMidway, formal: true},
	{name: "breaks off", write: breakOff, hopeless: true},
	{name: "writes prose alone", write: prose, hopeless: true},
}

// kind is one kind of reply of a model server to a request that demands JSON by a schema, such as a
// reply in a code fence or one that is cut.
type kind struct {
	name  string
	write func(r *rand.Rand, one *running) (text, end string)
	// it changes no value, so the answer must be the one that was meant
	formal   bool
	tools    bool // a tool is offered
	cut      bool // the reply may end with length
	hopeless bool // the model writes nothing that could be an answer
}

// running is a request that is being answered.
type running struct {
	asked
	key         string
	generations int
}

// server is a model server with Ollama's API. A key in the conversation names the request, and the
// request determines what the model writes.
type server struct {
	*httptest.Server
	seed uint64
	mu   sync.Mutex
	now  map[string]*running
	n    int
}

// newServer starts a model server whose answers depend on seed alone, and returns it.
func newServer(seed uint64) *server {
	s := &server{seed: seed, now: map[string]*running{}}
	mux := http.NewServeMux()
	say := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
	}
	mux.HandleFunc("GET /api/version", say(`{"version":"0.34.3"}`))
	mux.HandleFunc("GET /api/tags", say(
		`{"models":[{"name":"qwen2.5:forms","model":"qwen2.5:forms","digest":"0123456789abcdef"}]}`))
	mux.HandleFunc("POST /api/show", say(
		`{"capabilities":["completion","tools"],"template":"{{ .Prompt }}{{ .Tools }}","details":{"family":"qwen2"},"model_info":{}}`))
	mux.HandleFunc("POST /api/chat", s.chat)
	mux.HandleFunc("POST /api/generate", s.generate)
	s.Server = httptest.NewServer(mux)
	return s
}

// begin registers a request, and returns it with the key that its conversation must contain.
func (s *server) begin(a asked) *running {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	one := &running{asked: a, key: fmt.Sprintf("[case %d]", s.n)}
	s.now[one.key] = one
	return one
}

// end removes a request from those that are being answered.
func (s *server) end(one *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.now, one.key)
}

// chat answers a request in the form of Ollama's /api/chat. If the request asks for the prompt
// only, the answer is the rendered prompt; otherwise it is a reply.
func (s *server) chat(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Messages   []struct{ Content string }
		RenderOnly bool `json:"_debug_render_only"`
	}
	json.NewDecoder(r.Body).Decode(&q)
	var prompt strings.Builder
	for _, m := range q.Messages {
		prompt.WriteString(m.Content + "\n")
	}
	if q.RenderOnly {
		fmt.Fprintf(w,
			`{"message":{"role":"assistant","content":""},"done":false,"_debug_info":{"rendered_template":%s}}`, quote(prompt.String()))
		return
	}
	s.answer(w, prompt.String(), `{"message":{"role":"assistant","content":%s},"done":false}`)
}

// generate answers a request to /api/generate, which continues a prompt.
func (s *server) generate(w http.ResponseWriter, r *http.Request) {
	var q struct{ Prompt string }
	json.NewDecoder(r.Body).Decode(&q)
	s.answer(w, q.Prompt, `{"response":%s,"done":false}`)
}

// answer streams the model's reply to a request, which it finds by the key in the prompt. The
// parameter record is the format string of one line of the stream, which has a few characters of
// the reply.
func (s *server) answer(w http.ResponseWriter, prompt, record string) {
	from := strings.Index(prompt, "[case ")
	if from < 0 {
		http.Error(w, `{"error":"no case"}`, http.StatusBadRequest)
		return
	}
	key, _, _ := strings.Cut(prompt[from:], "]")
	s.mu.Lock()
	one := s.now[key+"]"]
	one.generations++
	n := one.generations
	s.mu.Unlock()
	text, end := one.kind.write(rand.New(rand.NewPCG(s.seed, one.number()+uint64(n)<<40)), one)
	runes := []rune(text)
	for len(runes) > 0 {
		size := min(5, len(runes))
		fmt.Fprintf(w, record+"\n", quote(string(runes[:size])))
		runes = runes[size:]
	}
	if end != "" {
		fmt.Fprintf(w,
			`{"message":{"role":"assistant","content":""},"response":"","done":true,"done_reason":%q,"prompt_eval_count":3,"eval_count":4}`+"\n", end)
	}
}

// quote returns s as a JSON string.
func quote(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return string(b)
}

// writeRight returns the right answer, with white space between its tokens as models write it, and
// the finish reason "stop".
func writeRight(r *rand.Rand, one *running) (text, end string) {
	return addSpace(r, one.right()), "stop"
}

// writeLoose returns the right answer as a model writes JSON without a grammar, for example in a
// code fence, and the finish reason "stop".
func writeLoose(r *rand.Rand, one *running) (text, end string) {
	return dress(r, one.right()), "stop"
}

// halfHeld returns JSON with a value that does not fit the schema, and from the second attempt on
// the right answer.
func halfHeld(r *rand.Rand, one *running) (text, end string) {
	if one.generations > 1 {
		return string(one.right()), "stop"
	}
	return misfitting(r, one.right()), "stop"
}

// cut returns the beginning of the right answer, and the finish reason "length".
func cut(r *rand.Rand, one *running) (text, end string) {
	return part(r, addSpace(r, one.right())), "length"
}

// stopMidway returns the beginning of the right answer with the finish reason stop, and from the
// second attempt on the whole answer.
func stopMidway(r *rand.Rand, one *running) (text, end string) {
	text = addSpace(r, one.right())
	if one.generations > 1 {
		return text, "stop"
	}
	return part(r, text), "stop"
}

// part returns a random beginning of a text, of whole characters.
func part(r *rand.Rand, text string) string {
	runes := []rune(text)
	return string(runes[:r.IntN(len(runes)+1)])
}

// breakOff returns the beginning of the right answer without a finish reason.
func breakOff(r *rand.Rand, one *running) (text, end string) {
	text, _ = cut(r, one)
	return text, ""
}

// prose returns a sentence without JSON, as a model writes that never gives the answer, and the
// finish reason "stop".
func prose(*rand.Rand, *running) (text, end string) {
	return "I would rather tell you about the weather. It is fine today.", "stop"
}
