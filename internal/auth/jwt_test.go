package auth

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/rs/zerolog"

	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
)

const sharedSecret = "0123456789abcdef0123456789abcdef"

// clock is a time that a test moves.
type clock struct{ at atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.at.Store(1_700_000_000)
	return c
}
func (c *clock) now() time.Time       { return time.Unix(c.at.Load(), 0) }
func (c *clock) pass(d time.Duration) { c.at.Add(int64(d / time.Second)) }

// with is a set of claims that are believed, and further ones.
func (c *clock) with(more jwt.MapClaims) jwt.MapClaims {
	all := jwt.MapClaims{"sub": "hong", "exp": c.now().Add(time.Minute).Unix()}
	for name, value := range more {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	return all
}

// signed is a token.
func signed(t *testing.T, method jwt.SigningMethod, key any, kid string, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	if kid != "" {
		token.Header["kid"] = kid
	}
	text, err := token.SignedString(key)
	must.OK(t, err)
	return text
}

// mustTokens is a verifier with a clock.
func mustTokens(t *testing.T, c TokenConfig, now *clock) *Tokens {
	t.Helper()
	v, err := newTokens(c, now.now)
	if err != nil || v == nil {
		t.Fatalf("%v, %v", v, err)
	}
	return v
}

// statusOf is what a client gets for an error.
func statusOf(err error) int {
	if err == nil {
		return 200
	}
	return fault.From(err).Status()
}

func rsaKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must.OK(t, err)
	return key
}

// jwkOf is a public key as a JWKS holds it.
func jwkOf(kid string, key any) map[string]string {
	b64 := base64.RawURLEncoding.EncodeToString
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return map[string]string{"kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256", "n": b64(key.N.Bytes()), "e": b64(big.NewInt(int64(key.E)).Bytes())}
	case ed25519.PrivateKey:
		return map[string]string{"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": b64(key.Public().(ed25519.PublicKey))}
	}
	return map[string]string{"kty": "oct", "kid": kid, "k": b64([]byte(sharedSecret))}
}

// keyServer serves a JWKS that a test changes; an empty one is a server that is broken.
type keyServer struct {
	*httptest.Server
	body  atomic.Value
	asked atomic.Int32
}

func newKeyServer(t *testing.T, keys ...map[string]string) *keyServer {
	s := new(keyServer)
	s.set(keys...)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.asked.Add(1)
		if body := s.body.Load().([]byte); body != nil {
			_, _ = w.Write(body)
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *keyServer) set(keys ...map[string]string) {
	body := []byte(nil)
	if keys != nil {
		body, _ = json.Marshal(map[string]any{"keys": keys})
	}
	s.body.Store(body)
}

func TestClaimsAreThePrincipal(t *testing.T) {
	now := newClock()
	v := mustTokens(t, TokenConfig{Secret: []byte(sharedSecret), AdminRole: "kb-admin"}, now)
	raw := signed(t, jwt.SigningMethodHS256, []byte(sharedSecret), "", now.with(jwt.MapClaims{
		"tenant_id": "acme", "department": "hr", "departments": []string{"sales", "legal"}, "clearance": 3, "kb_ids": []string{"a"}, "role": "reader", "Tenant_ID": "evil", "CLEARANCE": 9,
	}))
	p, err := v.Verify(context.Background(), raw)
	if err != nil || p.Subject != "hong" || p.Tenant != "acme" || !slices.Equal(p.Departments, []string{"hr", "sales", "legal"}) || p.Clearance != 3 || !slices.Equal(p.Bases, []string{"a"}) || p.Admin || p.Token != raw {
		t.Errorf("%+v, %v", p, err)
	}
	bare, err := v.Verify(context.Background(), signed(t, jwt.SigningMethodHS256, []byte(sharedSecret), "", now.with(jwt.MapClaims{"kb_ids": nil, "roles": []string{"x", "kb-admin"}})))
	if err != nil || bare.Tenant != "" || bare.Clearance != 0 || bare.Bases != nil || !bare.Admin || bare.caller == p.caller {
		t.Errorf("%+v, %v", bare, err)
	}
	// No base at all is not the same as no list.
	none, err := v.Verify(context.Background(), signed(t, jwt.SigningMethodHS256, []byte(sharedSecret), "", now.with(jwt.MapClaims{"kb_ids": []string{}})))
	if err != nil || none.Bases == nil || len(none.Bases) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
	// A later token of the same person goes on with the same sessions, and a role that nobody named
	// makes no admin.
	v.cfg.AdminRole = ""
	later, err := v.Verify(context.Background(), signed(t, jwt.SigningMethodHS256, []byte(sharedSecret), "", now.with(jwt.MapClaims{"tenant_id": "acme", "role": ""})))
	if err != nil || later.caller != p.caller || later.Admin {
		t.Errorf("%+v, %v", later, err)
	}
}

// withHeader signs a token whose header has one more member.
func withHeader(t *testing.T, claims jwt.MapClaims, name string, value any) string {
	t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims)
	token.Header[name] = value
	text, err := token.SignedString([]byte(sharedSecret))
	must.OK(t, err)
	return text
}

func TestTokensThatAreNotBelieved(t *testing.T) {
	now := newClock()
	hs := func(more jwt.MapClaims) string {
		return signed(t, jwt.SigningMethodHS256, []byte(sharedSecret), "", now.with(more))
	}
	good := jwt.MapClaims{"aud": []string{"other", "toolnorm"}, "iss": "https://id.example"}
	with := func(name string, value any) string {
		claims := jwt.MapClaims{"aud": "toolnorm", "iss": "https://id.example", name: value}
		return hs(claims)
	}
	v := mustTokens(t, TokenConfig{Secret: []byte(sharedSecret), Audience: []string{"toolnorm"}, Issuer: "https://id.example", Leeway: 30 * time.Second}, now)
	unsigned, err := jwt.NewWithClaims(jwt.SigningMethodNone, now.with(good)).SignedString(jwt.UnsafeAllowNoneSignatureType)
	must.OK(t, err)
	for name, row := range map[string]struct {
		token string
		ok    bool
	}{
		"good":               {hs(good), true},
		"expired in leeway":  {with("exp", now.now().Add(-20*time.Second).Unix()), true},
		"expired":            {with("exp", now.now().Add(-40*time.Second).Unix()), false},
		"exp a text":         {with("exp", strconv.FormatInt(now.now().Add(time.Hour).Unix(), 10)), false},
		"crit in its header": {withHeader(t, now.with(good), "crit", []string{"b64"}), false},
		"without exp":        {with("exp", nil), false},
		"not yet":            {with("nbf", now.now().Add(time.Minute).Unix()), false},
		"wrong audience":     {with("aud", "elsewhere"), false},
		"no audience":        {with("aud", nil), false},
		"wrong issuer":       {with("iss", "https://id.example.evil"), false},
		"no subject":         {with("sub", nil), false},
		"the operator's":     {with("sub", "local"), false},
		"nearly that":        {with("sub", " Local "), false},
		"clearance a text":   {with("clearance", "9"), false},
		"clearance a half":   {with("clearance", 2.5), false},
		"tenant a list":      {with("tenant_id", []string{"a"}), false},
		"other secret":       {signed(t, jwt.SigningMethodHS256, []byte(strings.Repeat("x", 32)), "", now.with(good)), false},
		"other algorithm":    {signed(t, jwt.SigningMethodHS512, []byte(sharedSecret), "", now.with(good)), false},
		"none":               {unsigned, false},
		"none in capitals":   {strings.Replace(unsigned, base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)), base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"NONE","typ":"JWT"}`)), 1), false},
		"signature cut off":  {hs(good)[:strings.LastIndexByte(hs(good), '.')+1], false},
		"no token":           {"nonsense", false},
		"longer than it may": {hs(good) + strings.Repeat("x", longestToken), false},
	} {
		p, err := v.Verify(context.Background(), row.token)
		if row.ok != (err == nil) || (p != nil) != row.ok || err != nil && (statusOf(err) != 401 || err.Error() != "Invalid authentication credentials") {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// With the public key as the secret anybody could sign, were the algorithm taken from the token.
func TestThePublicKeyIsNoSecret(t *testing.T) {
	now, key := newClock(), rsaKey(t)
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	must.OK(t, err)
	file := filepath.Join(t.TempDir(), "key.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	must.Write(t, file, text)
	for _, c := range []TokenConfig{{Keys: file}, {Keys: file, Secret: []byte(sharedSecret)}} {
		v := mustTokens(t, c, now)
		if _, err := v.Verify(context.Background(), signed(t, jwt.SigningMethodRS256, key, "any", now.with(nil))); err != nil {
			t.Error(err)
		}
		for _, secret := range [][]byte{text, der, key.N.Bytes()} {
			if _, err := v.Verify(context.Background(), signed(t, jwt.SigningMethodHS256, secret, "", now.with(nil))); statusOf(err) != 401 {
				t.Errorf("a token signed with the public key: %v", err)
			}
		}
		if _, err := v.Verify(context.Background(), signed(t, jwt.SigningMethodPS256, key, "", now.with(nil))); statusOf(err) != 401 {
			t.Errorf("PS256: %v", err)
		}
	}
}

func TestKeysOfAServer(t *testing.T) {
	now, first, second := newClock(), rsaKey(t), rsaKey(t)
	_, third, err := ed25519.GenerateKey(rand.Reader)
	must.OK(t, err)
	s := newKeyServer(t, jwkOf("one", first), jwkOf("shared", nil))
	v := mustTokens(t, TokenConfig{Keys: s.URL}, now)
	verify := func(method jwt.SigningMethod, key any, kid string) int {
		_, err := v.Verify(context.Background(), signed(t, method, key, kid, now.with(nil)))
		return statusOf(err)
	}
	check := func(what string, got, want int, asked int32) {
		t.Helper()
		if got != want || s.asked.Load() != asked {
			t.Errorf("%s: status %d, want %d; the server was asked %d times, want %d", what, got, want, s.asked.Load(), asked)
		}
	}
	check("the first token", verify(jwt.SigningMethodRS256, first, "one"), 200, 1)
	check("without a key id", verify(jwt.SigningMethodRS256, first, ""), 200, 1)
	check("another's signature", verify(jwt.SigningMethodRS256, second, "one"), 401, 1)
	check("the secret of a public set", verify(jwt.SigningMethodHS256, []byte(sharedSecret), "shared"), 401, 1)
	check("an unknown id, just after a fetch", verify(jwt.SigningMethodRS256, second, "two"), 401, 1)
	s.set(jwkOf("two", second), jwkOf("three", third))
	now.pass(fetchAgain)
	check("a new key", verify(jwt.SigningMethodRS256, second, "two"), 200, 2)
	check("a new key of another kind", verify(jwt.SigningMethodEdDSA, third, "three"), 200, 2)
	check("a key id with the wrong kind", verify(jwt.SigningMethodEdDSA, third, "two"), 401, 2)
	check("a key that is gone", verify(jwt.SigningMethodRS256, first, "one"), 401, 2)
}

func TestAServerOfKeysThatIsDown(t *testing.T) {
	now, key := newClock(), rsaKey(t)
	s := newKeyServer(t)
	v := mustTokens(t, TokenConfig{Keys: s.URL}, now)
	verify := func(kid string) int {
		_, err := v.Verify(context.Background(), signed(t, jwt.SigningMethodRS256, key, kid, now.with(nil)))
		return statusOf(err)
	}
	if got := verify("one"); got != 503 {
		t.Errorf("nothing is known yet: status %d", got)
	}
	if got := verify("one"); got != 503 || s.asked.Load() != 1 {
		t.Errorf("status %d, asked %d times within seconds", got, s.asked.Load())
	}
	s.set(jwkOf("one", key))
	now.pass(fetchAgain)
	if got := verify("one"); got != 200 {
		t.Errorf("it came back: status %d", got)
	}
	s.set()
	now.pass(keysFresh + time.Second)
	if got := verify("one"); got != 200 {
		t.Errorf("the known key goes on: status %d", got)
	}
	if got := verify("two"); got != 401 {
		t.Errorf("an unknown key while some are known: status %d", got)
	}
	now.pass(keysStale)
	if got := verify("one"); got != 503 {
		t.Errorf("a key that could not be confirmed for an hour: status %d", got)
	}
}

func TestAnswersOfAKeyServerAreBounded(t *testing.T) {
	key := rsaKey(t)
	real := newKeyServer(t, jwkOf("one", key))
	for name, h := range map[string]http.HandlerFunc{
		"large":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Repeat([]byte(" "), largestSet+1)) },
		"redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, real.URL, http.StatusFound) },
		"page":     func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"no keys": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}`)
		},
	} {
		s := httptest.NewServer(h)
		now := newClock()
		v := mustTokens(t, TokenConfig{Keys: s.URL}, now)
		if _, err := v.Verify(context.Background(), signed(t, jwt.SigningMethodRS256, key, "one", now.with(nil))); statusOf(err) != 503 {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
}

func TestWrongTokenSettings(t *testing.T) {
	dir := t.TempDir()
	private := filepath.Join(dir, "private.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rsaKey(t))})
	must.Write(t, private, text)
	for want, c := range map[string]TokenConfig{
		"at least 32":            {Secret: []byte("short")},
		"no such file":           {Keys: filepath.Join(dir, "nowhere")},
		"a public key is wanted": {Keys: private},
		"must be https://":       {Keys: "ftp://host/keys"},
	} {
		if _, err := NewTokens(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
	if v, err := NewTokens(TokenConfig{Audience: []string{"x"}}); v != nil || err != nil {
		t.Errorf("nothing configured: %v, %v", v, err)
	}
}

func TestTheGuardTakesKeysAndTokens(t *testing.T) {
	now := newClock()
	var log bytes.Buffer
	g := &Guard{Keys: mustKeys(t, goodKey), Tokens: mustTokens(t, TokenConfig{Secret: []byte(sharedSecret)}, now), Routes: health(), Needs: healthNeeds, Log: zerolog.New(&log)}
	token := signed(t, jwt.SigningMethodHS256, []byte(sharedSecret), "", now.with(nil))
	old := signed(t, jwt.SigningMethodHS256, []byte(sharedSecret), "", now.with(jwt.MapClaims{"exp": 1}))
	for _, row := range []struct {
		path, bearer, who string
		challenge         string
	}{
		{"/v1/models", token, "hong", ""},
		{"/mcp", goodKey, "key", ""},
		{"/healthz", "", "nobody", ""},
		{"/healthz", old, "nobody", ""},
		{"/v1/models", "", "", `Bearer realm="toolnorm"`},
		{"/v1/models", old, "", `Bearer realm="toolnorm", error="invalid_token"`},
		{"/admin/api/tools?access_token=" + token, "", "", `Bearer realm="toolnorm"`},
	} {
		header := []string{"Host", "localhost"}
		if row.bearer != "" {
			header = append(header, "Authorization", "Bearer "+row.bearer)
		}
		resp, seen := ask(g, "GET", row.path, header...)
		if row.who == "" {
			body, _ := io.ReadAll(resp.Body)
			if seen != nil || resp.StatusCode != 401 || resp.Header.Get("WWW-Authenticate") != row.challenge || !strings.Contains(string(body), `"message":"Invalid authentication credentials","type":"invalid_request_error","param":null,"code":"invalid_api_key"`) {
				t.Errorf("%+v: %d %v %s", row, resp.StatusCode, resp.Header, body)
			}
			continue
		}
		p := PrincipalOf(seen.Context())
		if got := map[bool]string{true: "nobody"}[p == nil]; got != "" && got != row.who || p != nil && !strings.HasPrefix(p.Subject, row.who) {
			t.Errorf("%+v: %+v", row, p)
		}
		if seen.Header.Get("Authorization") != "" {
			t.Errorf("%+v: the credential went on", row)
		}
	}
	if strings.Contains(log.String(), "eyJ") || !strings.Contains(log.String(), "token is expired") {
		t.Errorf("the log says %s", log.String())
	}
}
