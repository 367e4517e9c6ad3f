package proxy

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestForeignHostsAndOriginsAreTurnedAway(t *testing.T) {
	srv, _ := serve(t, script{say("a"), finish("stop")}, func(c *Config) {
		c.Hosts, c.Origins = []string{"box.lan"}, []string{"https://ui.example"}
	})
	for _, tt := range []struct {
		host, origin string
		ok           bool
	}{
		{"127.0.0.1:11435", "", true},
		{"localhost", "", true},
		{"LOCALHOST.:11435", "", true},
		{"[::1]:11435", "", true},
		{"192.168.1.7:11435", "", true},
		{"box.lan:11435", "", true},
		{"evil.example", "", false},
		{"127.0.0.1.evil.example:80", "", false},
		{"localhost.evil.example", "", false},
		{"localhost:11435", "http://localhost:3000", true},
		{"localhost:11435", "http://[::1]:3000", true},
		{"localhost:11435", "vscode-webview://1ab", true},
		{"localhost:11435", "https://ui.example", true},
		{"box.lan:11435", "http://box.lan:11435", true},
		{"localhost:11435", "https://evil.example", false},
		{"localhost:11435", "http://localhost.evil.example", false},
		{"localhost:11435", "null", false},
		{"localhost:11435", "file://", false},
	} {
		resp, body := do(t, "GET", srv.URL+"/v1/models", "", "Host", tt.host, "Origin", tt.origin)
		if (resp.StatusCode == 200) != tt.ok || !tt.ok && resp.StatusCode != 403 {
			t.Errorf("host %q, origin %q: status %d, want ok = %v", tt.host, tt.origin, resp.StatusCode, tt.ok)
		}
		if !tt.ok {
			wantErrorBody(t, body, "name that")
		}
		if got := resp.Header.Get("Access-Control-Allow-Origin"); tt.ok && got != tt.origin || !tt.ok && got != "" {
			t.Errorf("host %q, origin %q: Access-Control-Allow-Origin %q", tt.host, tt.origin, got)
		}
	}
}

func TestPreflightListsTheHeadersAskedFor(t *testing.T) {
	srv, _ := serve(t, nil)
	resp, _ := do(t, "OPTIONS", srv.URL+"/v1/chat/completions", "", "Origin", "http://localhost:3000",
		"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "Authorization, x-stainless-os,X-Stainless-Lang, b@d")
	if resp.StatusCode != http.StatusNoContent {
		t.Errorf("status %d, want 204", resp.StatusCode)
	}
	if got, want := resp.Header.Get("Access-Control-Allow-Headers"), "authorization, content-type, x-stainless-os, x-stainless-lang"; got != want {
		t.Errorf("Access-Control-Allow-Headers %q, want %q", got, want)
	}
	if vary := strings.Join(resp.Header.Values("Vary"), " "); vary != "Origin Access-Control-Request-Method Access-Control-Request-Headers" {
		t.Errorf("Vary %q", vary)
	}
	if !strings.Contains(resp.Header.Get("Access-Control-Allow-Methods"), "POST") {
		t.Errorf("header %v", resp.Header)
	}
	resp, _ = do(t, "OPTIONS", srv.URL+"/v1/chat/completions", "", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST")
	if resp.StatusCode != 403 {
		t.Errorf("foreign preflight: status %d, want 403", resp.StatusCode)
	}
}

func TestPagesCanReadWhatAReplySaysOfItself(t *testing.T) {
	srv, _ := serve(t, script{say("a"), finish("stop")})
	resp, _ := do(t, "POST", srv.URL+"/v1/chat/completions", ask(""), "Origin", "http://localhost:3000")
	exposed := strings.Split(resp.Header.Get("Access-Control-Expose-Headers"), ", ")
	for name := range resp.Header {
		if (strings.HasPrefix(name, "Toolnorm-") || name == "X-Request-Id") && !slices.Contains(exposed, name) {
			t.Errorf("%s is not among %q", name, exposed)
		}
	}
	if resp.Header.Get("X-Request-Id") == "" || resp.Header.Get("Vary") != "Origin" {
		t.Errorf("header %v", resp.Header)
	}
}
