package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/server"
	"github.com/rs/zerolog"

	"toolnorm/internal/test/locked"
	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// issuer is a small authorization server, and the MCP server that takes its tokens.
type issuer struct {
	t    *testing.T
	url  string // of the authorization server
	mcp  string // of the MCP server
	odd  string // what is wrong with it
	mu   sync.Mutex
	code map[string]url.Values // what was asked for with each code
	good map[string]bool       // access tokens that are taken
	old  map[string]bool       // refresh tokens that are good
	n    int
	seen []string // paths in order

	mcpServer *httptest.Server
	stop      func() // ends the authorization server
}

// newIssuer starts both.
func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{t: t, code: map[string]url.Values{}, good: map[string]bool{}, old: map[string]bool{}}
	signs := httptest.NewServer(http.HandlerFunc(i.sign))
	t.Cleanup(signs.Close)
	i.url, i.stop = signs.URL, signs.Close
	tools := server.NewStreamableHTTPServer(fake("protected"))
	mcp := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
			fmt.Fprintf(w, `{"resource":%q,"authorization_servers":[%q],"scopes_supported":["tools"]}`, i.mcp, i.url)
			return
		}
		i.mu.Lock()
		ok := i.good[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		i.mu.Unlock()
		if !ok {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="x", resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, strings.TrimSuffix(i.mcp, "/mcp")))
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		tools.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { mcp.CloseClientConnections(); mcp.Close() })
	i.mcp, i.mcpServer = mcp.URL+"/mcp", mcp
	return i
}

// sign is the authorization server.
func (i *issuer) sign(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.seen = append(i.seen, r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		methods, issued := `["S256"]`, i.url
		if i.odd == "no PKCE" {
			methods = `["plain"]`
		}
		if i.odd == "another issuer" {
			issued = "https://elsewhere.example"
		}
		at := i.url + "/authorize"
		if i.odd == "plain http" {
			at = "http://elsewhere.example/authorize"
		}
		revoking := fmt.Sprintf(`"revocation_endpoint":"%s/revoke",`, i.url)
		if i.odd == "no revoking" {
			revoking = ""
		}
		fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":"%[4]s","token_endpoint":"%[2]s/token","registration_endpoint":"%[2]s/register",%[5]s"code_challenge_methods_supported":%[3]s,"authorization_response_iss_parameter_supported":true}`, issued, i.url, methods, at, revoking)
	case "/register":
		var asked struct {
			URIs []string `json:"redirect_uris"`
			Kind string   `json:"application_type"`
		}
		if json.NewDecoder(r.Body).Decode(&asked) != nil || len(asked.URIs) != 1 {
			i.t.Error("a registration without the address to come back to")
		} else if web := strings.HasPrefix(asked.URIs[0], "https:"); web != (asked.Kind == "web") {
			i.t.Errorf("a program at %s registers as %s", asked.URIs[0], asked.Kind)
		}
		if i.odd == "no registration" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_redirect_uri","error_description":"not such an address"}`)
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"client_id":"registered"}`)
	case "/authorize":
		i.n++
		code := fmt.Sprint("code", i.n)
		q := r.URL.Query()
		i.code[code] = q
		back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {i.url}}
		switch i.odd {
		case "another iss":
			back.Set("iss", "https://elsewhere.example")
		case "no iss":
			back.Del("iss")
		case "refused":
			back = url.Values{"error": {"access_denied"}, "error_description": {"the user says no"}, "state": {q.Get("state")}}
		}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	case "/token":
		i.token(w, r)
	case "/revoke":
		i.revoke(w, r)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// revoke takes a token back from the program that it was issued to (RFC 7009).
func (i *issuer) revoke(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	if r.Form.Get("client_id") != "registered" || i.odd == "fails to revoke" {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error":"out of order"}`)
		return
	}
	all := map[string]map[string]bool{"refresh_token": i.old, "access_token": i.good}
	delete(all[r.Form.Get("token_type_hint")], r.Form.Get("token"))
}

// token exchanges codes, each once and with its verifier, and refresh tokens, each once.
func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	ok := r.Form.Get("client_id") == "registered" && r.Form.Get("resource") == i.mcp
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		asked, known := i.code[r.Form.Get("code")]
		delete(i.code, r.Form.Get("code"))
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		ok = ok && known && asked.Get("code_challenge_method") == "S256" && asked.Get("scope") == "tools" && asked.Get("resource") == i.mcp &&
			asked.Get("code_challenge") == base64.RawURLEncoding.EncodeToString(sum[:]) && asked.Get("redirect_uri") == r.Form.Get("redirect_uri")
	case "refresh_token":
		ok = ok && i.old[r.Form.Get("refresh_token")]
		delete(i.old, r.Form.Get("refresh_token"))
	}
	if !ok {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"invalid_grant"}`)
		return
	}
	i.n++
	access, refresh := fmt.Sprint("secret-access-", i.n), fmt.Sprint("secret-refresh-", i.n)
	i.good[access], i.old[refresh] = true, true
	fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":3600,"refresh_token":%q}`, access, refresh)
}

// browse opens an address as a browser does.
func browse(t *testing.T) func(string) {
	return func(to string) {
		go func() {
			if resp, err := http.Get(to); err == nil {
				resp.Body.Close()
			}
		}()
	}
}

// TestAUserSignsIn goes the whole way: from a server that answers 401 to one whose tools are
// called, and over a token that the server takes no more.
func TestAUserSignsIn(t *testing.T) {
	i := newIssuer(t)
	dir := t.TempDir()
	path, accounts := filepath.Join(dir, "mcp.json"), filepath.Join(dir, "mcp.accounts")
	text := fmt.Sprintf(`{"mcpServers": {"p": {"url": %q}}}`, i.mcp)
	must.Write(t, path, text)
	r, log := tools.New(tools.Options{}), new(locked.Buffer)
	s := Open(Config{Path: path, Registry: r, Accounts: accounts, Log: zerolog.New(log)})
	t.Cleanup(s.Close)
	until(t, "the sentence about the sign-in", func() bool { return strings.Contains(s.List()[0].Error, "toolnorm mcp login") })
	must.OK(t, SignIn(t.Context(), path, accounts, "p", browse(t)))
	until(t, "the server's tools", func() bool { return r.Snapshot().Source("p.add") != "" })
	if got := called(r, "p.add", `{"a":1,"b":2}`); got != "3" {
		t.Error(got)
	}
	if info, err := os.Stat(accounts); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of accounts: %v %v", info.Mode(), err)
	}
	// The server forgets its tokens: the next call refreshes, and is made.
	i.mu.Lock()
	clear(i.good)
	i.mu.Unlock()
	if got := called(r, "p.add", `{"a":2,"b":2}`); got != "4" {
		t.Errorf("behind a token that is taken no more: %s", got)
	}
	if strings.Contains(log.String(), "secret-") {
		t.Errorf("a token is in the log:\n%s", log)
	}
}

// TestASignInThatIsWrongIsRefused has one thing wrong at a time.
func TestASignInThatIsWrongIsRefused(t *testing.T) {
	for odd, want := range map[string]string{
		"no PKCE": "without PKCE", "another issuer": "does not say who signs", "another iss": "the answer comes from", "refused": "was denied at", "plain http": "neither https nor", "no registration": "not such an address", "no iss": "does not say who signs in",
	} {
		i := newIssuer(t)
		i.odd = odd
		dir := t.TempDir()
		path, accounts := filepath.Join(dir, "mcp.json"), filepath.Join(dir, "mcp.accounts")
		must.OK(t, os.WriteFile(path, fmt.Appendf(nil, `{"mcpServers": {"p": {"url": %q}}}`, i.mcp), 0o600))
		if err := SignIn(t.Context(), path, accounts, "p", browse(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", odd, err)
		}
		if _, err := os.Stat(accounts); err == nil {
			t.Errorf("%s: something was saved", odd)
		}
	}
}

// TestATokenIsForItsURLAlone moves an entry to another address: the token of the first is not sent
// there.
func TestATokenIsForItsURLAlone(t *testing.T) {
	accounts := filepath.Join(t.TempDir(), "mcp.accounts")
	here := &account{entry: Entry{Name: "p", URL: "https://a.example/mcp"}, path: accounts}
	var s saved
	must.OK(t, json.NewDecoder(bytes.NewReader([]byte(`{"client_id":"c","token":{"access_token":"secret","token_type":"bearer"}}`))).Decode(&s))
	must.OK(t, here.save(s))
	if got := here.header(context.Background()); got != "Bearer secret" {
		t.Errorf("at its own address: %q", got)
	}
	for _, moved := range []string{"https://b.example/mcp", "https://a.example/other", "http://a.example/mcp"} {
		there := &account{entry: Entry{Name: "p", URL: moved}, path: accounts}
		if got := there.header(context.Background()); got != "" {
			t.Errorf("%s gets %q", moved, got)
		}
	}
}

// TestWhoSignsInIsReachedSafely is about the addresses that a server may name for it.
func TestWhoSignsInIsReachedSafely(t *testing.T) {
	outside := Entry{Name: "p", URL: "https://192.0.43.8/mcp"}.signInClient()
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(inner.Close)
	if resp, err := outside.Get(inner.URL); err == nil {
		resp.Body.Close()
		t.Error("a server outside may name one inside")
	}
	inside := Entry{Name: "p", URL: "http://127.0.0.1:1/mcp"}.signInClient()
	for _, at := range []string{"http://192.168.7.7/token", "http://169.254.169.254/token", "http://token.example/"} {
		if resp, err := inside.Get(at); err == nil || !strings.Contains(err.Error(), "without https") {
			t.Errorf("%s: %v %v", at, resp, err)
		}
	}
}
