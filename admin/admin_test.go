package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"toolnorm/internal/auth"
)

// TestTheDocumentAndTheServerHaveTheSameRoutes holds that nothing is served that is not described, and the other way.
func TestTheDocumentAndTheServerHaveTheSameRoutes(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]any
	}
	if err := yaml.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	var described []string
	for path, methods := range doc.Paths {
		for method := range methods {
			if method != "parameters" {
				described = append(described, strings.ToUpper(method)+" "+path)
			}
		}
	}
	served := slices.Sorted(slices.Values(New(Config{}).routes))
	slices.Sort(described)
	if !slices.Equal(served, described) {
		t.Errorf("served\n%s\ndescribed\n%s", strings.Join(served, "\n"), strings.Join(described, "\n"))
	}
}

// TestReferencesOfTheDocumentExist holds that each $ref has its target.
func TestReferencesOfTheDocumentExist(t *testing.T) {
	var doc map[string]any
	if err := yaml.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	n := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				n++
				var at any = doc
				for _, step := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
					m, _ := at.(map[string]any)
					at = m[step]
				}
				if at == nil {
					t.Errorf("%s leads nowhere", ref)
				}
			}
			for _, below := range v {
				walk(below)
			}
		case []any:
			for _, below := range v {
				walk(below)
			}
		}
	}
	walk(doc)
	if n < 20 {
		t.Errorf("%d references", n)
	}
}

// ask sends one request to a server as somebody. Headers are in pairs; "From" is the address of the caller.
func ask(s *Server, who *auth.Principal, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:11435"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:5000"
	for i := 0; i+1 < len(header); i += 2 {
		switch header[i] {
		case "Host":
			r.Host = header[i+1]
		case "From":
			r.RemoteAddr = header[i+1]
		default:
			r.Header.Add(header[i], header[i+1])
		}
	}
	if who != nil {
		r = r.WithContext(auth.WithPrincipal(r.Context(), who))
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// param is the field that an error names.
func param(w *httptest.ResponseRecorder) string {
	var e struct {
		Error struct {
			Param string
		}
	}
	_ = json.Unmarshal(w.Body.Bytes(), &e)
	return e.Error.Param
}

func TestOnlyAdministratorsMayAsk(t *testing.T) {
	s := New(Config{})
	jwt := &auth.Principal{Subject: "hong", Token: "x"}
	for _, tt := range []struct {
		who    *auth.Principal
		header []string
		status int
		says   string
	}{
		{auth.Local(), nil, 200, `"principal":"local"`},
		{auth.Local(), []string{"Host", "localhost:11435", "Origin", "http://localhost:11435", "Sec-Fetch-Site", "same-origin"}, 200, ""},
		{nil, nil, 401, "key is needed"},
		{jwt, nil, 403, "hong is no administrator"},
		{auth.Local(), []string{"From", "192.168.1.9:5000"}, 403, "set admin-key"},
		{auth.Local(), []string{"Host", "box.lan:11435"}, 403, "set admin-key"},
		{auth.Local(), []string{"X-Forwarded-For", "1.2.3.4"}, 403, "set admin-key"},
		{auth.Local(), []string{"Origin", "http://localhost:3000"}, 403, "other origins"},
		{auth.Local(), []string{"Origin", "null"}, 403, "other origins"},
		{auth.Local(), []string{"Origin", "vscode-webview://127.0.0.1:11435"}, 403, "other origins"},
		{auth.Local(), []string{"Origin", "http://127.0.0.1:11435", "Origin", "http://evil.example"}, 403, "other origins"},
		{auth.Local(), []string{"Origin", "http://127.0.0.1:11435.evil.example"}, 403, "other origins"},
		{auth.Local(), []string{"Sec-Fetch-Site", "same-site"}, 403, "other origins"},
		{auth.Local(), []string{"Sec-Fetch-Site", "cross-site"}, 403, "other origins"},
	} {
		w := ask(s, tt.who, "GET", "/admin/api/session", "", tt.header...)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.says) {
			t.Errorf("%v %q: %d %s, want %d %q", tt.who, tt.header, w.Code, w.Body, tt.status, tt.says)
		}
	}
}

func TestChangesNeedWhatNoForeignPageCanSend(t *testing.T) {
	s := New(Config{})
	s.Handle("POST /admin/api/thing", func(w http.ResponseWriter, r *http.Request) error {
		var in struct{ Name string }
		if err := read(r, &in); err != nil {
			return err
		}
		return write(w, http.StatusOK, in)
	})
	good := []string{"Toolnorm-Admin", "1", "Content-Type", "application/json; charset=utf-8"}
	for _, tt := range []struct {
		method, body string
		header       []string
		status       int
		says         string
	}{
		{"POST", `{"name":"a"}`, good, 200, `{"Name":"a"}`},
		{"POST", `{"name":"a"}`, good[2:], 403, "Toolnorm-Admin"},
		{"POST", `{"name":"a"}`, good[:2], 400, "application/json"},
		{"POST", `{"name":"a"}`, append([]string{"Origin", "http://localhost:3000"}, good...), 403, "other origins"},
		{"POST", `name=a`, []string{"Toolnorm-Admin", "1", "Content-Type", "application/x-www-form-urlencoded"}, 400, "application/json"},
		{"POST", `{"nane":"a"}`, good, 400, `"param":"nane"`},
		{"POST", `{"name":1}`, good, 400, "Name cannot be a number"},
		{"POST", `{"name":"a"} {}`, good, 400, "something follows"},
		{"POST", `[`, good, 400, "no JSON object"},
		{"POST", `{"name":"` + strings.Repeat("x", maxBody) + `"}`, good, 413, "more than"},
		{"PUT", `{}`, good, 405, "takes POST, not PUT"},
		{"DELETE", ``, nil, 403, "Toolnorm-Admin"},
	} {
		w := ask(s, auth.Local(), tt.method, "/admin/api/thing", tt.body, tt.header...)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.says) {
			t.Errorf("%s %.60s %q: %d %s, want %d %q", tt.method, tt.body, tt.header, w.Code, w.Body, tt.status, tt.says)
		}
		for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Cache-Control"} {
			if w.Header().Get(name) == "" {
				t.Errorf("%s %.60s: no %s", tt.method, tt.body, name)
			}
		}
	}
	if w := ask(s, auth.Local(), "GET", "/admin/api/nothing", ""); w.Code != 404 || !strings.Contains(w.Body.String(), "openapi.yaml") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(s, nil, "GET", "/admin", ""); w.Code != 200 || !strings.Contains(w.Body.String(), "no admin page") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// events reads a stream up to n events.
func events(t *testing.T, body io.Reader, n int) (kinds []string) {
	t.Helper()
	lines := bufio.NewScanner(body)
	for len(kinds) < n && lines.Scan() {
		if kind, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func TestPagesHearOfChanges(t *testing.T) {
	s := New(Config{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r.WithContext(auth.WithPrincipal(r.Context(), auth.Local())))
	}))
	defer srv.Close()
	defer s.Close()
	var bodies []io.ReadCloser
	for range 2 {
		resp, err := http.Get(srv.URL + "/admin/api/events")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		bodies = append(bodies, resp.Body)
		if got := events(t, resp.Body, 1); fmt.Sprint(got) != "[ready]" {
			t.Fatalf("first %q", got)
		}
	}
	s.Publish("tools")
	for i, b := range bodies {
		if got := events(t, b, 1); fmt.Sprint(got) != "[tools]" {
			t.Errorf("page %d heard %q", i, got)
		}
	}
	s.Close()
	for i, b := range bodies {
		if rest, err := io.ReadAll(b); err != nil || len(rest) > 0 {
			t.Errorf("page %d: %q, %v after the end", i, rest, err)
		}
	}
}

func TestTooManyPagesAreRefused(t *testing.T) {
	s := New(Config{})
	for range mostPages {
		if s.events.join() == nil {
			t.Fatal("refused too early")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(auth.WithPrincipal(ctx, &auth.Principal{Subject: "a", Admin: true}), "GET", "http://127.0.0.1/admin/api/events", nil)
	r.RemoteAddr = "127.0.0.1:1"
	if s.ServeHTTP(w, r); w.Code != 503 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
