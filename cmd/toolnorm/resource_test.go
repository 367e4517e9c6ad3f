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

	"toolnorm/tools"
	"toolnorm/tools/remote"
)

// signsIn is a server of OAuth that lets everybody in as ann. Its tokens are for tools, where the
// resource that was asked for is one of MCP.
func signsIn(t *testing.T) (issuer string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
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
	resp, err := http.Post(m.URL()+"/mcp", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
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
	if err := os.WriteFile(file, fmt.Appendf(nil, `{"mcpServers":{"t":{"url":%q}}}`, m.URL()+"/mcp"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := remote.SignIn(t.Context(), file, accounts, "t", func(to string) {
		go func() {
			if resp, err := http.Get(to); err == nil {
				resp.Body.Close()
			}
		}()
	}); err != nil {
		t.Fatal(err)
	}
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
