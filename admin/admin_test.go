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
	"toolnorm/internal/test/must"
)

// TestTheDocumentAndTheServerHaveTheSameRoutes holds that nothing is served that is not described,
// and the other way.
func TestTheDocumentAndTheServerHaveTheSameRoutes(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]any
	}
	must.OK(t, yaml.Unmarshal(document, &doc))
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
	must.OK(t, yaml.Unmarshal(document, &doc))
	n := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				n++
				var at any = doc
				for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
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

// ask sends one request to a server as somebody. Headers are in pairs; "From" is the address of the
// caller.
func ask(s http.Handler, who *auth.Principal, method, path, body string, header ...string) *httptest.ResponseRecorder {
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

func TestBodiesAreOneObjectOfKnownFields(t *testing.T) {
	s := New(Config{})
	s.Handle("POST /admin/api/thing", func(w http.ResponseWriter, r *http.Request) error {
		var in struct{ Name string }
		if err := read(r, &in); err != nil {
			return err
		}
		return write(w, http.StatusOK, in)
	})
	for _, tt := range []struct {
		method, body string
		status       int
		says         string
	}{
		{"POST", `{"name":"a"}`, 200, `{"Name":"a"}`},
		{"POST", `{"nane":"a"}`, 400, `"param":"nane"`},
		{"POST", `{"name":1}`, 400, "Name has the wrong type: number"},
		{"POST", `{"name":"a"} {}`, 400, "something follows"},
		{"POST", `[`, 400, "not a JSON object"},
		{"POST", `{"name":"` + strings.Repeat("x", maxBody) + `"}`, 413, "more than"},
		{"PUT", `{}`, 405, "takes POST, not PUT"},
	} {
		w := ask(s, auth.Local(), tt.method, "/admin/api/thing", tt.body)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.says) {
			t.Errorf("%s %.60s: %d %s, want %d %q", tt.method, tt.body, w.Code, w.Body, tt.status, tt.says)
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
		resp := must.Open(t, "GET", srv.URL+"/admin/api/events", "")
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

// Long answers come compressed to those who take that, and a stream of events never does.
func TestAnswersAreCompressed(t *testing.T) {
	s := New(Config{})
	defer s.Close()
	ask := func(path, takes string) *http.Response {
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("Accept-Encoding", takes)
		ctx, cancel := context.WithCancel(t.Context())
		if strings.HasSuffix(path, "events") {
			cancel()
		}
		defer cancel()
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r.WithContext(ctx))
		return w.Result()
	}
	for _, c := range []struct{ path, takes, want string }{
		{"openapi.yaml", "gzip, br", "gzip"}, {"openapi.yaml", "", ""}, {"openapi.yaml", "gzip;q=0", ""}, {"events", "gzip", ""},
	} {
		if got := ask(API+c.path, c.takes).Header.Get("Content-Encoding"); got != c.want {
			t.Errorf("%s, Accept-Encoding %q: Content-Encoding %q, want %q", c.path, c.takes, got, c.want)
		}
	}
}
