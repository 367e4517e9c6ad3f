package proxy

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/engine"
)

// cachingServers answer "ok" and say, each in its own way, how much of the prompt they had
// processed before.
var cachingServers = map[string]http.HandlerFunc{
	"ollama": func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/generate" {
			io.WriteString(w, `{"response":"ok","done":false}`+"\n"+`{"done":true,"done_reason":"stop","prompt_eval_count":90,"prompt_eval_cached_count":60,"eval_count":2}`+"\n")
			return
		}
		new(renderer).ServeHTTP(w, r)
	},
	"vllm": func(w http.ResponseWriter, r *http.Request) {
		chunked(w, r, `"usage":{"prompt_tokens":90,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":60}}`)
	},
	"llama-server": func(w http.ResponseWriter, r *http.Request) {
		chunked(w, r, `"usage":{"prompt_tokens":90,"completion_tokens":2},"timings":{"cache_n":60,"prompt_n":30}`)
	},
	"one that says what cannot be": func(w http.ResponseWriter, r *http.Request) {
		chunked(w, r, `"usage":{"prompt_tokens":90,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":91}}`)
	},
	"one that says nothing": func(w http.ResponseWriter, r *http.Request) {
		chunked(w, r, `"usage":{"prompt_tokens":90,"completion_tokens":2,"prompt_tokens_details":null}`)
	},
}

// chunked answers as a server of OpenAI's API.
func chunked(w http.ResponseWriter, r *http.Request, usage string) {
	switch r.URL.Path {
	case "/v1/models":
		io.WriteString(w, `{"object":"list","data":[{"id":"qwen3","object":"model","created":7,"owned_by":"x"}]}`)
	case "/v1/chat/completions":
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},\"finish_reason\":null}]}\n\n"+
			"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],%s}\n\ndata: [DONE]\n\n", usage)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// TestTokensFromACacheReachEveryClient asks each kind of server by each API.
func TestTokensFromACacheReachEveryClient(t *testing.T) {
	const said = `"messages":[{"role":"user","content":"hi"}]`
	for _, api := range []struct{ path, body, cached, none string }{
		{"/v1/chat/completions", said, `"total_tokens":92,"prompt_tokens_details":{"cached_tokens":60}}`, `"total_tokens":92}`},
		{"/v1/chat/completions", said + `,"n":2`, `"prompt_tokens":90,"completion_tokens":4,"total_tokens":94,"prompt_tokens_details":{"cached_tokens":60}}`, `"total_tokens":94}`},
		{"/v1/chat/completions", said + `,"stream":true,"stream_options":{"include_usage":true}`, `"total_tokens":92,"prompt_tokens_details":{"cached_tokens":60}}`, `"total_tokens":92}`},
		{"/v1/messages", said + `,"max_tokens":9`, `"input_tokens":30,"cache_creation_input_tokens":0,"cache_read_input_tokens":60,"output_tokens":2}`, `"input_tokens":90,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2}`},
		{"/v1/messages", said + `,"max_tokens":9,"stream":true`, `"input_tokens":30,"cache_creation_input_tokens":0,"cache_read_input_tokens":60,"output_tokens":2}`, `"cache_read_input_tokens":0,"output_tokens":2}`},
		{"/v1/responses", `"input":"hi"`, `"input_tokens":90,"input_tokens_details":{"cached_tokens":60},`, `"input_tokens_details":{"cached_tokens":0},`},
		{"/v1/responses", `"input":"hi","stream":true`, `"input_tokens":90,"input_tokens_details":{"cached_tokens":60},`, `"input_tokens_details":{"cached_tokens":0},`},
		{"/api/chat", said + `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}]`, `"prompt_eval_count":90,"prompt_eval_cached_count":60,`, `"prompt_eval_count":90,"eval_count"`},
	} {
		for name, server := range cachingServers {
			upstream := httptest.NewServer(server)
			cfg, model := engine.Config{Ollama: upstream.URL}, "qwen3"
			if name != "ollama" {
				cfg = engine.Config{Ollama: "http://127.0.0.1:1", Upstreams: []engine.Upstream{{Name: "box", URL: "openai+" + upstream.URL}}}
				model = "box/qwen3"
			}
			eng := engine.New(cfg)
			srv := httptest.NewServer(New(Config{Model: eng, Catalog: eng, Ollama: eng}))
			resp, reply := do(t, "POST", srv.URL+api.path, `{"model":"`+model+`",`+api.body+`}`)
			want := api.cached
			if strings.HasPrefix(name, "one that") {
				want = api.none
			}
			if resp.StatusCode != http.StatusOK || !strings.Contains(reply, want) {
				t.Errorf("%s %s of %s: %d %s\nwant %s", api.path, api.body, name, resp.StatusCode, reply, want)
			}
			srv.Close()
			upstream.Close()
		}
	}
}
