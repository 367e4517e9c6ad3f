package proxy

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// listing is a fakeOllama with a list of models.
type listing struct {
	*fakeOllama
	tags string
}

func (l listing) Tags(context.Context) (json.RawMessage, error) { return json.RawMessage(l.tags), nil }

func TestAliasesAreListedToVoid(t *testing.T) {
	for _, tt := range []struct {
		when, agent string
		listed      bool
	}{
		{"", "OpenAI/JS 4.96.0", true}, {"", "ollama-js/0.5.15 (x64 linux Node.js/v20)", true}, {"", "curl/8", false},
		{AliasesAlways, "curl/8", true}, {AliasesNever, "OpenAI/JS 4.96.0", false},
	} {
		srv, _ := serve(t, nil, func(c *Config) {
			c.VoidAliases = tt.when
			c.Ollama = listing{&fakeOllama{}, `{"models":[{"name":"qwen3:latest","model":"qwen3:latest","size":5},{"name":"demo/hermes"},{"name":"my-gemini"}]}`}
		})
		_, models := do(t, "GET", srv.URL+"/v1/models", "", "User-Agent", tt.agent)
		if got := strings.Contains(models, `{"id":"grok-local-qwen3:latest","object":"model","created":5,"owned_by":"ollama"}]`); got != tt.listed {
			t.Errorf("%+v: %s", tt, models)
		}
		_, tags := do(t, "GET", srv.URL+"/api/tags", "", "User-Agent", tt.agent)
		if got := strings.HasSuffix(tags, `,{"name":"grok-local-qwen3:latest","model":"grok-local-qwen3:latest","size":5}]}`); got != tt.listed {
			t.Errorf("%+v: %s", tt, tags)
		}
	}
}

func TestAliasesAndSuffixesNameTheirModel(t *testing.T) {
	srv, _ := serve(t, nil)
	for _, id := range []string{"grok-local-qwen3", "qwen3:latest@shell", "grok-local-demo/hermes@void"} {
		if resp, body := do(t, "GET", srv.URL+"/v1/models/"+id, ""); resp.StatusCode != 200 || !strings.Contains(body, `{"id":"`+id+`"`) {
			t.Errorf("%s: %d %s", id, resp.StatusCode, body)
		}
	}
}

func TestAnAliasReadsOneCallAReply(t *testing.T) {
	srv, m := serve(t, script{say("a"), finish("stop")})
	do(t, "POST", srv.URL+"/v1/chat/completions", strings.Replace(ask(""), `"m"`, `"grok-local-m"`, 1))
	if !m.last.Single || m.last.Model != "grok-local-m" {
		t.Errorf("asked %+v", m.last)
	}
}
