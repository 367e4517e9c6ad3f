package admin

import (
	"net/http"
	"strings"
	"testing"

	"toolnorm/internal/auth"
)

// TestASignInComesBackToWhereThePageIs begins sign-ins behind different proxies.
func TestASignInComesBackToWhereThePageIs(t *testing.T) {
	who := &auth.Principal{Subject: "local", Admin: true}
	for _, tt := range []struct{ origin, public, want, cookie string }{
		{"http://127.0.0.1:11435", "", "http%3A%2F%2F127.0.0.1%3A11435%2Fadmin%2Fsigned-in", "SameSite=Lax"},
		{"https://tools.example", "", "https%3A%2F%2Ftools.example%2Fadmin%2Fsigned-in", "Secure; SameSite=Lax"},
		{"https://tools.example", "https://other.example/mcp", "https%3A%2F%2Ftools.example%2Fadmin%2Fsigned-in", "Secure; SameSite=Lax"},
		{"", "https://tools.example/mcp", "https%3A%2F%2Ftools.example%2Fadmin%2Fsigned-in", "Secure; SameSite=Lax"},
	} {
		s := New(Config{Servers: &someServers{}, PublicURL: tt.public})
		header := []string{}
		if tt.origin != "" {
			header = append(header, "Origin", tt.origin)
		}
		w := ask(s, who, "POST", "/admin/api/servers/a/sign-in", "{}", header...)
		if got := w.Body.String(); w.Code != 200 || got != `{"url":"https://signs.example/authorize?redirect_uri=`+tt.want+`"}`+"\n" {
			t.Errorf("%+v: %d %s", tt, w.Code, got)
		}
		if got := w.Header().Get("Set-Cookie"); got != "toolnorm-sign-in-STATE=1; Path=/admin/signed-in; Max-Age=600; HttpOnly; "+tt.cookie {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// TestABrowserComesBack brings answers of the server at which its user was.
func TestABrowserComesBack(t *testing.T) {
	const mark = "toolnorm-sign-in-STATE=1"
	for _, tt := range []struct {
		method, query, cookie string
		status                int
		want                  string
	}{
		{"GET", "?code=c&state=STATE", mark, 200, "Signed in to a. It is connected"},
		{"GET", "?code=c&state=STATE", "", 400, "did not begin in this browser"},
		{"GET", "?code=c&state=OTHER", mark, 400, "did not begin in this browser"},
		{"GET", "", mark, 400, "did not begin in this browser"},
		{"GET", "?state=STATE&error=access_denied&error_description=%3Cscript%3Ealert(1)%3C/script%3E", mark, 400, "was denied: &lt;script&gt;alert(1)&lt;/script&gt;"},
		{"HEAD", "?code=c&state=STATE", mark, 405, ""},
		{"POST", "?code=c&state=STATE", mark, 405, ""},
	} {
		s := New(Config{Servers: &someServers{}})
		header := []string{}
		if tt.cookie != "" {
			header = append(header, "Cookie", tt.cookie)
		}
		w := ask(s, nil, tt.method, SignedIn+tt.query, "", header...)
		text := w.Body.String()
		if w.Code != tt.status || !strings.Contains(text, tt.want) || tt.status == 200 != strings.Contains(text, "<h1>Signed in</h1>") {
			t.Errorf("%+v: %d %s", tt, w.Code, text)
		}
		if strings.Contains(text, "<script") || w.Header().Get("Location") != "" || strings.Contains(text, "OTHER") {
			t.Errorf("%+v: the page runs or leads somewhere, or repeats what it was given: %s", tt, text)
		}
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%+v: %v", tt, w.Header())
		}
		// Whatever came of it, the mark of the browser is taken back once it was used.
		if used := tt.method == http.MethodGet && tt.cookie != "" && strings.Contains(tt.query, "STATE"); used != strings.Contains(w.Header().Get("Set-Cookie"), "toolnorm-sign-in-STATE=; Path=/admin/signed-in; Max-Age=0") {
			t.Errorf("%+v: %s", tt, w.Header().Get("Set-Cookie"))
		}
	}
	if w := ask(New(Config{}), nil, "GET", SignedIn+"?state=STATE", ""); w.Code != 400 || !strings.Contains(w.Body.String(), "manages no other") {
		t.Errorf("without servers: %d %s", w.Code, w.Body)
	}
}
