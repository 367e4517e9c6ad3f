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
