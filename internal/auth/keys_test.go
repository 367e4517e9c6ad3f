package auth

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/internal/test/must"

	"github.com/rs/zerolog"
)

const (
	goodKey  = "sk-0123456789abcdef"
	otherKey = "sk-fedcba9876543210"
)

// mustKeys are the keys that the words say.
func mustKeys(t *testing.T, words ...string) Keys {
	t.Helper()
	k, odd, err := ParseKeys(words)
	if err != nil || odd != nil {
		t.Fatal(odd, err)
	}
	return k
}

func TestARequestNeedsAKey(t *testing.T) {
	var log bytes.Buffer
	sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(otherKey)))
	g := &Guard{Keys: mustKeys(t, goodKey, sum), Routes: health(), Needs: healthNeeds, Log: zerolog.New(&log)}
	basic := func(key string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+key)) }
	for name, row := range map[string]struct {
		path, header, value string
		ok                  bool
	}{
		"none":                  {"/v1/models", "Accept", "*/*", false},
		"bearer":                {"/v1/models", "Authorization", "Bearer " + goodKey, true},
		"small letters":         {"/v1/models", "Authorization", "bearer  " + goodKey + " ", true},
		"only the sum is known": {"/mcp", "Authorization", "Bearer " + otherKey, true},
		"the sum is no key":     {"/v1/models", "Authorization", "Bearer " + sum, false},
		"Azure's header":        {"/v1/models", "Api-Key", goodKey, true},
		"Anthropic's header":    {"/v1/models", "X-Api-Key", goodKey, true},
		"a browser's":           {"/debug", "Authorization", basic(goodKey), true},
		"wrong":                 {"/v1/models", "Authorization", "Bearer sk-0123456789abcdeg", false},
		"a part of one":         {"/v1/models", "Authorization", "Bearer sk-0123456789abcde", false},
		"more than one":         {"/v1/models", "Authorization", "Bearer " + goodKey + "0", false},
		"no scheme":             {"/v1/models", "Authorization", goodKey, false},
		"empty":                 {"/v1/models", "Authorization", "Bearer ", false},
		"wrong password":        {"/debug", "Authorization", basic("x"), false},
		"open":                  {"/healthz", "Accept", "*/*", true},
		"beside what is open":   {"/healthz/x", "Accept", "*/*", false},
		"Ollama's":              {"/api/tags", "Accept", "*/*", false},
	} {
		resp, seen := ask(g, "GET", row.path, "Host", "localhost", row.header, row.value)
		if (seen != nil) != row.ok {
			t.Errorf("%s: status %d, want ok = %v", name, resp.StatusCode, row.ok)
		}
		if seen != nil {
			for _, h := range keyHeaders {
				if seen.Header.Get(h) != "" {
					t.Errorf("%s: the key went on in %s", name, h)
				}
			}
			continue
		}
		body, _ := io.ReadAll(resp.Body)
		want := `{"error":{"message":"missing or wrong API key; send Authorization: Bearer KEY","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}` + "\n"
		if strings.HasPrefix(row.path, "/api/") {
			want = `{"error":"missing or wrong API key; send Authorization: Bearer KEY"}` + "\n"
		}
		if resp.StatusCode != 401 || resp.Header.Get("WWW-Authenticate") != `Bearer realm="toolnorm"` || string(body) != want {
			t.Errorf("%s: %d %v %s", name, resp.StatusCode, resp.Header, body)
		}
	}
	if strings.Contains(log.String(), "0123456789abcde") || !strings.Contains(log.String(), `"status":401`) {
		t.Errorf("the log says %s", log.String())
	}
}

func TestABrowserMayAskItsUser(t *testing.T) {
	resp, _ := ask(&Guard{Keys: mustKeys(t, goodKey)}, "GET", "/debug", "Host", "localhost", "Accept", "text/html,*/*")
	if all := strings.Join(resp.Header.Values("WWW-Authenticate"), "; "); !strings.Contains(all, "Bearer") || !strings.Contains(all, "Basic") {
		t.Errorf("WWW-Authenticate: %s", all)
	}
}

func TestWrongKeysAreNamedAndNotShown(t *testing.T) {
	for text, want := range map[string]string{
		"# only a remark\n\n":               "contains no key",
		"short\n":                           "line 1: a key needs at least 16 characters",
		"two words that are long enough":    "line 1: a key may not contain spaces",
		"sha256:0123":                       "line 1: sha256: must be followed by 64 hexadecimal digits",
		"sha256:" + strings.Repeat("z", 64): "line 1: sha256: must be followed",
	} {
		path := filepath.Join(t.TempDir(), "keys")
		must.Write(t, path, text)
		if _, _, err := ReadKeys(path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "words") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "keys")
	must.Write(t, path, "# mine\n"+goodKey+"\r\n\n"+otherKey)
	if k, _, err := ReadKeys(path); err != nil || len(k) != 2 || !hasKey(k, goodKey) || !hasKey(k, otherKey) || hasKey(k, "# mine") {
		t.Errorf("%d keys, %v", len(k), err)
	}
	all, odd, err := ParseKeys([]string{goodKey, "secret"})
	if err != nil || len(all) != 1 || len(odd) != 1 || !strings.Contains(odd[0].Error(), "key 2") || strings.Contains(odd[0].Error(), "secret") {
		t.Errorf("ParseKeys: %d keys, %v, %v", len(all), odd, err)
	}
}

// hasKey says that a key is among them.
func hasKey(k Keys, key string) bool {
	_, ok := k.find(key)
	return ok
}

// A word in front of a key names its holder; lines without one are what they were.
func TestKeysHaveLabels(t *testing.T) {
	sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(otherKey)))
	g := &Guard{Keys: mustKeys(t, "ci-laptop "+goodKey, "ops@box  "+sum)}
	for key, want := range map[string]string{goodKey: "ci-laptop", otherKey: "ops@box"} {
		_, seen := ask(g, "GET", "/v1/models", "Host", "localhost", "X-Api-Key", key)
		if seen == nil || PrincipalOf(seen.Context()).Subject != want {
			t.Errorf("%s is not the holder", want)
		}
	}
	for line, want := range map[string]string{
		"läptop " + goodKey: "the label in front of a key", strings.Repeat("x", 65) + " " + goodKey: "the label in front", "ci short": "at least 16", " " + goodKey: "the label in front",
	} {
		if _, _, err := ParseKeys([]string{line}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), goodKey) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}
