package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"toolnorm/internal/test/must"
	"toolnorm/tools"
	"toolnorm/tools/remote"
)

// signsIn is a server of OAuth that lets everybody in as ann. Its tokens are for tools, where the
// resource that was asked for is one of MCP.
func signsIn(t *testing.T) (issuer string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	must.OK(t, err)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/.well-known/oauth-authorization-server":
			fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":"%[1]s/authorize","token_endpoint":"%[1]s/token","registration_endpoint":"%[1]s/register","code_challenge_methods_supported":["S256"]}`, issuer)
		case "/register":
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"client_id":"c"}`)
		case "/authorize":
			q := r.URL.Query()
			http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"code"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
		case "/token":
			if !strings.HasSuffix(r.FormValue("resource"), "/mcp") {
				t.Errorf("a token is asked for %q", r.FormValue("resource"))
			}
			claims := jwt.MapClaims{"iss": issuer, "aud": "tools", "sub": "ann", "tenant_id": "acme", "exp": time.Now().Add(time.Hour).Unix()}
			token, err := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims).SignedString(private)
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":3600}`, token)
		case "/keys":
			fmt.Fprintf(w, `{"keys":[{"kty":"OKP","crv":"Ed25519","x":%q}]}`, base64.RawURLEncoding.EncodeToString(public))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	issuer = s.URL
	return issuer
}

// TestMCPClientsAreToldWhereToSignIn has the part of toolnorm that is a client of MCP sign in to a
// toolnorm.
func TestMCPClientsAreToldWhereToSignIn(t *testing.T) {
	clean(t, "")
	issuer := signsIn(t)
	m := serving(t, io.Discard, "--jwt-keys", issuer+"/keys", "--jwt-issuer", issuer, "--jwt-audience", "tools")
	resp := must.Open(t, "POST", m.URL()+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Content-Type: application/json")
	resp.Body.Close()
	about := m.URL() + "/.well-known/oauth-protected-resource/mcp"
	if got := resp.Header.Get("WWW-Authenticate"); resp.StatusCode != 401 || got != `Bearer realm="toolnorm", resource_metadata="`+about+`"` {
		t.Errorf("%d %s", resp.StatusCode, got)
	}
	var says struct {
		Resource string
		Servers  []string `json:"authorization_servers"`
	}
	if status, text := withToken(t, "GET", about, "", ""); status != 200 || json.Unmarshal([]byte(text), &says) != nil ||
		says.Resource != m.URL()+"/mcp" || len(says.Servers) != 1 || says.Servers[0] != issuer {
		t.Errorf("%d %s", status, text)
	}
	if status, _ := withToken(t, "GET", m.URL()+"/.well-known/oauth-protected-resource/v1/models", "", ""); status != 404 {
		t.Errorf("what is not of MCP: %d", status)
	}

	dir := t.TempDir()
	file, accounts := filepath.Join(dir, "mcp.json"), filepath.Join(dir, "accounts")
	must.OK(t, os.WriteFile(file, fmt.Appendf(nil, `{"mcpServers":{"t":{"url":%q}}}`, m.URL()+"/mcp"), 0o600))
	must.OK(t, remote.SignIn(t.Context(), file, accounts, "t", func(to string) {
		go func() {
			if resp, err := http.Get(to); err == nil {
				resp.Body.Close()
			}
		}()
	}))
	registry := tools.New(tools.Options{})
	set := remote.Open(remote.Config{Path: file, Accounts: accounts, Registry: registry, Version: "1"})
	defer set.Close()
	for _, ok := registry.Snapshot().Find("t.calculate_vacation_days"); !ok && t.Context().Err() == nil; _, ok = registry.Snapshot().Find("t.calculate_vacation_days") {
		time.Sleep(20 * time.Millisecond) // the server is connected with in the background
	}
	got := registry.Call(t.Context(), "t.calculate_vacation_days", json.RawMessage(`{"employee_id":"EMP001","year":2025}`))
	if got.IsError || !strings.Contains(got.Text(), "14.5") {
		t.Errorf("%+v", got)
	}
}

// TestWithoutAnAudienceNobodyIsToldWhereToSignIn holds that tokens for other servers are not asked
// for.
func TestWithoutAnAudienceNobodyIsToldWhereToSignIn(t *testing.T) {
	clean(t, "")
	issuer := signsIn(t)
	m := serving(t, io.Discard, "--jwt-keys", issuer+"/keys", "--jwt-issuer", issuer)
	if status, _ := withToken(t, "GET", m.URL()+"/.well-known/oauth-protected-resource/mcp", "", ""); status != 404 {
		t.Errorf("%d", status)
	}
}

// TestThePageSignsInToAServer has one toolnorm sign in to another from its page: through the guard
// with an administrator's key, behind a proxy with another name, by a browser that keeps cookies
// and knows no key.
func TestThePageSignsInToAServer(t *testing.T) {
	clean(t, "")
	issuer := signsIn(t)
	protected := serving(t, io.Discard, "--jwt-keys", issuer+"/keys", "--jwt-issuer", issuer, "--jwt-audience", "tools")
	file := filepath.Join(t.TempDir(), "mcp.json")
	must.OK(t, os.WriteFile(file, fmt.Appendf(nil, `{"mcpServers":{"t":{"url":%q}}}`, protected.URL()+"/mcp"), 0o600))
	m := serving(t, io.Discard, "--mcp-file", file, "--admin-key", "admin-key-of-the-test", "--hosts", "tools.example")
	// sent is a request behind a proxy that ends TLS and keeps Host.
	sent := func(method, path, body string, header ...string) (*http.Response, string) {
		t.Helper()
		r := must.Have(http.NewRequestWithContext(t.Context(), method, m.URL()+path, strings.NewReader(body)))(t)
		r.Host = "tools.example"
		for ; len(header) > 0; header = header[2:] {
			if r.Header.Set(header[0], header[1]); header[0] == "Host" {
				r.Host = header[1]
			}
		}
		resp := must.Have(http.DefaultClient.Do(r))(t)
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp, string(text)
	}
	const begin = "/admin/api/servers/t/sign-in"
	page := []string{"Authorization", "Bearer admin-key-of-the-test", "Origin", "https://tools.example", "Sec-Fetch-Site", "same-origin", "Toolnorm-Admin", "1", "Content-Type", "application/json"}
	with := func(more ...string) []string { return append(append([]string{}, page...), more...) }
	for _, wrong := range [][]string{with("Origin", "https://evil.example"), with("Sec-Fetch-Site", "cross-site"), with("Toolnorm-Admin", ""), with("Host", "evil.example")} {
		if resp, text := sent("POST", begin, "{}", wrong...); resp.StatusCode != 403 {
			t.Errorf("%v: %d %s", wrong, resp.StatusCode, text)
		}
	}
	if resp, _ := sent("POST", begin, "{}", with("Authorization", "")...); resp.StatusCode != 401 {
		t.Errorf("without a key: %d", resp.StatusCode)
	}
	resp, text := sent("POST", begin, "{}", page...)
	var to struct{ URL string }
	if json.Unmarshal([]byte(text), &to) != nil || len(resp.Cookies()) != 1 {
		t.Fatalf("%d %s %v", resp.StatusCode, text, resp.Cookies())
	}
	elsewhere := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer := must.Have(elsewhere.Get(to.URL))(t)
	answer.Body.Close()
	at, err := answer.Location()
	if err != nil || at.Scheme+"://"+at.Host+at.Path != "https://tools.example/admin/signed-in" {
		t.Fatalf("the browser is sent to %v: %v", at, err)
	}
	back := at.Path + "?" + at.RawQuery
	cookie := resp.Cookies()[0].Name + "=" + resp.Cookies()[0].Value
	browser := []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	for _, tt := range []struct {
		status int
		want   string
		header []string
	}{
		{403, "evil.example", append(append([]string{}, browser...), "Host", "evil.example")},
		{403, "as a image", append(append([]string{}, browser...), "Sec-Fetch-Dest", "image", "Sec-Fetch-Mode", "no-cors")},
		{400, "did not begin in this browser", browser[2:]},
		{200, "Signed in to t. It is connected", browser},
		{400, "used already", browser},
	} {
		if resp, text := sent("GET", back, "", tt.header...); resp.StatusCode != tt.status || !strings.Contains(text, tt.want) {
			t.Errorf("%v: %d %s", tt.header, resp.StatusCode, text)
		}
	}
	call := func() string {
		_, text := sent("POST", "/admin/api/registry/call", `{"name":"t.calculate_vacation_days","arguments":"{\"employee_id\":\"EMP001\",\"year\":2025}"}`, page...)
		return text
	}
	if got := call(); !strings.Contains(got, "14.5") {
		t.Errorf("signed in: %s", got)
	}
	if _, text := sent("GET", "/admin/api/servers", "", page...); !strings.Contains(text, `"signed_in":true`) || strings.Contains(text, "eyJ") {
		t.Errorf("the list, in which no token is: %s", text)
	}
	if resp, text := sent("DELETE", begin, "", page...); resp.StatusCode != 204 {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	if got := call(); strings.Contains(got, "14.5") {
		t.Errorf("signed out: %s", got)
	}
}
