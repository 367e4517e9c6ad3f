package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"toolnorm/engine"
	"toolnorm/internal/test/must"
)

func TestUpstreamsOfFlagsAndFile(t *testing.T) {
	path := clean(t, `
upstreams:
  - {name: cloud, url: "https://api.openai.com/v1", key-env: CLOUD_KEY}
  - name: box
    url: http://box:8000
    kind: openai
alias: {gpt-4o: cloud/gpt-4o}
`)
	t.Setenv("CLOUD_KEY", "sk-1")
	t.Setenv("BOX_KEY", "sk-2")
	m := parsed(t, strings.Fields("--upstream box=openai+http://127.0.0.1:1 --upstream near=127.0.0.1:2 --key-env box=BOX_KEY --config "+path)...)
	s, err := m.Config.resolve()
	want := []engine.Upstream{
		{Name: "box", URL: "openai+http://127.0.0.1:1", Key: "sk-2"},
		{Name: "near", URL: "127.0.0.1:2"},
		{Name: "cloud", URL: "https://api.openai.com/v1", Key: "sk-1"},
	}
	if err != nil || !reflect.DeepEqual(s.upstreams, want) || m.Config.Alias["gpt-4o"] != "cloud/gpt-4o" {
		t.Errorf("upstreams %+v, aliases %v, error %v, want %+v", s.upstreams, m.Config.Alias, err, want)
	}
}

// TestAnUpstreamAnswers runs the program in front of a server that wants a key, asked by an alias,
// and looks for the key in the log.
func TestAnUpstreamAnswers(t *testing.T) {
	box := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer sk-secret":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/v1/models":
			io.WriteString(w, `{"data":[{"id":"m"}]}`)
		case r.URL.Path == "/v1/chat/completions":
			io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"from the box\"},\"finish_reason\":\"stop\"}]}\n\n")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer box.Close()
	t.Setenv("BOX_KEY", "sk-secret")
	var out log
	m := NewMain(io.Discard, &out)
	path := clean(t, "listen: 127.0.0.1:0\nollama: 127.0.0.1:1\nlog-level: debug\nupstream: {box: '"+box.URL+"'}\nkey-env: {box: BOX_KEY}\naliases: {mine: box/m}\n")
	must.OK(t, m.ParseFlags([]string{"--config", path}))
	must.OK(t, m.Run())
	defer m.Close()
	resp := must.Open(t, "POST", m.URL()+"/v1/chat/completions", `{"model":"mine","messages":[{"role":"user","content":"hi"}]}`, "Content-Type: application/json")
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); !strings.Contains(string(body), "from the box") || !strings.Contains(string(body), `"model":"mine"`) {
		t.Errorf("status %d: %s", resp.StatusCode, body)
	}
	if strings.Contains(out.String(), "sk-secret") {
		t.Errorf("the log has the key:\n%s", out.String())
	}
}
