package main

import (
	"net/http"
	"strings"
	"testing"

	"toolnorm/admin/web"
	"toolnorm/internal/test/must"
)

func TestABrowserIsLedToThePage(t *testing.T) {
	if !web.HasPage() {
		t.Skip("the binary has no page; make page builds it")
	}
	m := fresh(t, "--data", t.TempDir())
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	for accept, want := range map[string]string{
		"text/html,application/xhtml+xml;q=0.9": "/admin",
		"*/*":                                   "", // curl, and Ollama's own programs
		"":                                      "",
	} {
		r, _ := http.NewRequest(http.MethodGet, m.URL()+"/", nil)
		r.Header.Set("Accept", accept)
		resp := must.Have(client.Do(r))(t)
		_ = resp.Body.Close()
		if got := resp.Header.Get("Location"); got != want {
			t.Errorf("Accept %q leads to %q, want %q", accept, got, want)
		}
	}
}

func TestAnAliasMayEndInASuffix(t *testing.T) {
	m := fresh(t, "--data", t.TempDir(), "--sample", "always",
		"--alias", "helper=demo/hermes@agent", "--alias", "term=demo/hermes@shell")
	for model, want := range map[string]string{"helper": "EMP001", "term": "```bash"} {
		status, body := ask(t, "POST", m.URL()+"/v1/chat/completions",
			`{"model":"`+model+`","messages":[{"role":"user","content":"How many vacation days has employee EMP001 left in 2025?"}]}`)
		if status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want %q in it", model, status, body, want)
		}
	}
}

func TestAnAdminKeyOpensAdmin(t *testing.T) {
	const apiKey, adminKey = "sk-0123456789abcdef", "ad-0123456789abcdef"
	for _, tt := range []struct {
		name string
		args []string
		want map[string]int // by "path key"
	}{
		{"no keys", nil, map[string]int{"/admin ": 200, "/admin/api/session ": 200, "/adminx ": 404}},
		{"API keys", []string{"--api-keys", apiKey}, map[string]int{
			"/admin ": 200, "/admin/api/session ": 401, "/admin/api/session " + apiKey: 200, "/admin/api/session " + adminKey: 401,
		}},
		{"both", []string{"--api-keys", apiKey, "--admin-key", adminKey}, map[string]int{
			"/admin ": 200, "/admin/api/session ": 401, "/admin/api/session " + apiKey: 403, "/admin/api/session " + adminKey: 200,
			"/v1/models " + adminKey: 200, "/v1/models " + apiKey: 200,
		}},
		{"an admin key", []string{"--admin-key", adminKey}, map[string]int{
			"/admin/api/session ": 401, "/admin/api/session " + adminKey: 200, "/v1/models ": 200,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := fresh(t, append(tt.args, "--data", t.TempDir())...)
			for ask, want := range tt.want {
				path, key, _ := strings.Cut(ask, " ")
				got := status(t, m.URL()+path, key)
				if got != want {
					t.Errorf("%s: %d, want %d", ask, got, want)
				}
			}
		})
	}
}
