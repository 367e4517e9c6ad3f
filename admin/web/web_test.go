package web

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// built is what a build leaves.
var built = fstest.MapFS{
	"dist/page/index.html":         {Data: []byte(`<meta name="page-nonce" content="__NONCE__"><script type="module" src="/admin/assets/index-1.js"></script>`)},
	"dist/page/assets/index-1.js":  {Data: []byte("1")},
	"dist/page/assets/index-1.css": {Data: []byte("a{}")},
	"dist/page/.built":             {Data: []byte("2")},
}

func TestThePageHasAStrictPolicyWithANonceOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, path := range []string{"/admin", "/admin/"} {
		w := httptest.NewRecorder()
		handler(built).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		policy := w.Header().Get("Content-Security-Policy")
		nonce := regexp.MustCompile(`style-src 'self' 'nonce-([A-Z2-7]{26})'`).FindStringSubmatch(policy)
		if w.Code != 200 || nonce == nil || seen[nonce[1]] || !strings.Contains(w.Body.String(), `content="`+nonce[1]+`"`) {
			t.Fatalf("%s: %d, policy %q, body %s", path, w.Code, policy, w.Body)
		}
		seen[nonce[1]] = true
		if strings.Contains(policy, "unsafe") || !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", path, w.Header())
		}
	}
}

func TestAssetsAreKeptForEverAndNothingElseIsServed(t *testing.T) {
	for _, row := range []struct {
		path, kind string // empty: 404
	}{
		{"/admin/assets/index-1.js", "text/javascript; charset=utf-8"},
		{"/admin/assets/index-1.css", "text/css; charset=utf-8"},
		{"/admin/assets/none.js", ""},
		{"/admin/assets/..%2f.built", ""},
		{"/admin/assets/%2e%2e%2findex.html", ""},
		{"/admin/assets/", ""},
		{"/admin/index.html", ""},
		{"/admin/.built", ""},
	} {
		w := httptest.NewRecorder()
		handler(built).ServeHTTP(w, httptest.NewRequest("GET", row.path, nil))
		if row.kind == "" && w.Code != 404 || row.kind != "" && (w.Code != 200 || w.Header().Get("Content-Type") != row.kind || !strings.Contains(w.Header().Get("Cache-Control"), "immutable")) {
			t.Errorf("%s: %d %v %s", row.path, w.Code, w.Header(), w.Body)
		}
	}
}

func TestABinaryWithoutThePageSaysHowToGetIt(t *testing.T) {
	w := httptest.NewRecorder()
	handler(fstest.MapFS{"dist/README": {}}).ServeHTTP(w, httptest.NewRequest("GET", "/admin", nil))
	if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, "make build") || !strings.Contains(body, "/debug") || !strings.Contains(body, "Node") {
		t.Errorf("%d %s", w.Code, body)
	}
}
