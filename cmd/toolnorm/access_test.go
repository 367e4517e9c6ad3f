package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/internal/test/must"
)

// accessPage shows what this file measures, between comments; -update writes it.
const accessPage = "../../docs/auth.md"

const (
	aKey    = "sk-0123456789abcdef"
	anAdmin = "ad-0123456789abcdef"

	aScraper = "me-0123456789abcdef"
)

// caller is somebody who asks, and the settings of the server that is asked.
type caller struct {
	name   string
	args   []string
	header []string // in pairs; From is the address
}

// callers are those whom the settings can tell apart.
func callers(t *testing.T) []caller {
	t.Setenv("TOOLNORM_JWT_SECRET", "")
	jwt := []string{"--jwt-secret", jwtSecret, "--jwt-admin-role", "boss"}
	keys := []string{"--api-keys", aKey}
	both := append(slices.Clone(keys), "--admin-key", anAdmin)
	bearer := func(key string) []string { return []string{"Authorization", "Bearer " + key} }
	return []caller{
		{"no credential is configured: a program of this machine", nil, nil},
		{"… a program from elsewhere", []string{"--insecure-no-keys"}, []string{"From", "192.168.1.9:5000"}},
		{"… a program from elsewhere, in a container", []string{"--listen", "0.0.0.0:0", "--published", "127.0.0.1"}, []string{"From", "172.18.0.1:5000"}},
		{"… through a proxy on this machine", nil, []string{"X-Forwarded-For", "127.0.0.1"}},
		{"… under another host name", []string{"--hosts", "box.lan"}, []string{"Host", "box.lan"}},
		{"credentials are configured: without one", keys, nil},
		{"… an API key, no admin key configured", keys, append(bearer(aKey), "From", "192.168.1.9:5000")},
		{"… an API key beside an admin key", both, bearer(aKey)},
		{"… an admin key", both, append(bearer(anAdmin), "From", "192.168.1.9:5000")},
		{"only admin keys are configured: without one", []string{"--admin-key", anAdmin}, nil},
		{"… a metrics key", append(slices.Clone(keys), "--metrics-key", aScraper), append(bearer(aScraper), "From", "192.168.1.9:5000")},
		{"… a metrics key, and no other is configured", []string{"--metrics-key", aScraper, "--insecure-no-keys"}, append(bearer(aScraper), "From", "192.168.1.9:5000")},
		{"… a JWT", jwt, bearer(tokenOf(t, "ann"))},
		{"… a JWT with the administrator's role", jwt, bearer(tokenOf(t, "kim", "role", "boss"))},
	}
}

// origins are where the request is made: by a program, by this server's page, or by others.
var origins = []struct {
	name   string
	header []string
}{
	{"program", nil},
	{"program, with the header", []string{"Toolnorm-Admin", "1", "Content-Type", "application/json"}},
	{"own page", []string{"Origin", "http://127.0.0.1:11435", "Sec-Fetch-Site", "same-origin", "Toolnorm-Admin", "1", "Content-Type", "application/json"}},
	{"own page, as a form", []string{"Origin", "http://127.0.0.1:11435", "Sec-Fetch-Site", "same-origin", "Content-Type", "text/plain"}},
	{"page of another port", []string{"Origin", "http://localhost:3000", "Sec-Fetch-Site", "same-site", "Toolnorm-Admin", "1", "Content-Type", "application/json"}},
	{"editor's web view", []string{"Origin", "vscode-webview://x", "Content-Type", "application/json"}},
	{"page of the internet", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site", "Content-Type", "application/json"}},
	{"link or image", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}},
}

// place is what stands for a placeholder of a pattern.
var place = regexp.MustCompile(`\{[^}]*\}`)

// everyRoute lists the method and path of every route that the program serves, as its routers
// have them, and the pattern by which the guard knows it.
func everyRoute(r *routes, m *Main) map[string]string {
	asks := map[string]string{}
	add := func(method, path string) {
		if strings.HasSuffix(path, "/") {
			path += "x"
		}
		path = place.ReplaceAllString(strings.ReplaceAll(path, "{$}", ""), "x")
		_, pattern := r.mux.Handler(httptest.NewRequest(method, path, nil))
		asks[method+" "+path] = pattern
	}
	for _, pattern := range r.patterns {
		for _, method := range []string{"GET", "POST", "DELETE", "PUT", "HEAD"} {
			add(method, pattern)
		}
	}
	for _, pattern := range append(m.admin.Patterns(), m.runners.Patterns()...) {
		method, path, _ := strings.Cut(pattern, " ")
		add(method, path)
	}
	return asks
}

// answer asks a guard, behind which everything is a 204, and says in a word what comes.
func answer(h http.Handler, c caller, ask string, origin []string) string {
	method, path, _ := strings.Cut(ask, " ")
	r := httptest.NewRequest(method, path, strings.NewReader("{}"))
	r.RemoteAddr, r.Host = "127.0.0.1:5000", "127.0.0.1:11435"
	for list := append(slices.Clone(c.header), origin...); len(list) > 0; list = list[2:] {
		switch list[0] {
		case "From":
			r.RemoteAddr = list[1]
		case "Host":
			r.Host = list[1]
		case "Origin":
			r.Header.Set("Origin", strings.Replace(list[1], "127.0.0.1:11435", r.Host, 1))
		default:
			r.Header.Set(list[0], list[1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code == http.StatusNoContent {
		return "yes"
	}
	return fmt.Sprint(w.Code)
}

// TestEveryRouteSaysWhoMayAsk walks every route with every caller from every origin. Routes of
// one need must answer alike, and the page must show these answers.
func TestEveryRouteSaysWhoMayAsk(t *testing.T) {
	clean(t, "")
	cells := map[auth.Need]map[string]string{} // by caller and origin
	var asks map[string]string
	who := callers(t)
	for _, c := range who {
		m := serving(t, io.Discard, append([]string{"--data", t.TempDir()}, c.args...)...)
		f := m.now.Load()
		r := f.routes
		stub := m.guard(f, r).Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
		asks = everyRoute(r, m)
		if len(asks) < 200 {
			t.Fatalf("%d routes: the walk misses most", len(asks))
		}
		for ask, pattern := range asks {
			need, declared := needs[pattern]
			if !declared {
				t.Errorf("%s: the route %s is not among the needs", ask, pattern)
			}
			for _, o := range origins {
				reads := strings.HasPrefix(ask, "GET ") || strings.HasPrefix(ask, "HEAD ")
				if (o.name == "own page, as a form" || o.name == "program" && need == auth.Console) && reads || o.name == "link or image" && !reads {
					continue // a page reads without the header, and a link cannot write
				}
				cell, got := c.name+"|"+o.name, answer(stub, c, ask, o.header)
				if cells[need] == nil {
					cells[need] = map[string]string{}
				}
				if want, seen := cells[need][cell]; seen && want != got {
					t.Errorf("%s, %s: %s, where others of the need %v answer %s", ask, cell, got, need, want)
				}
				cells[need][cell] = got
			}
		}
	}
	for _, c := range who {
		for _, o := range origins[4:] {
			for need := auth.Console; need <= auth.Program; need++ {
				if got := cells[need][c.name+"|"+o.name]; got != "403" {
					t.Errorf("%v: %s, %s: %s, want 403 for every foreign page", need, c.name, o.name, got)
				}
			}
		}
	}
	checkAccessPage(t, cells, who, asks)
}

// like lists the needs whose routes answer as those of one need do, by their words.
func like(cells map[auth.Need]map[string]string, need auth.Need) string {
	var words []string
	for other := range auth.Page {
		if maps.Equal(cells[need], cells[other]) {
			words = append(words, other.String())
		}
	}
	return strings.Join(words, "**, **")
}

// accessTable is what the page shows of this test, between the comments that mark it.
var accessTable = regexp.MustCompile(`(?s)(<!-- routes -->\n).*?(<!-- end -->)`)

// checkAccessPage compares the page with what was measured; -update writes it.
func checkAccessPage(t *testing.T, cells map[auth.Need]map[string]string, who []caller, asks map[string]string) {
	t.Helper()
	var b strings.Builder
	byNeed := map[auth.Need][]string{}
	for pattern, need := range needs {
		if !slices.Contains(slices.Collect(maps.Values(asks)), pattern) {
			t.Errorf("no router has the route %s of the needs", pattern)
		}
		byNeed[need] = append(byNeed[need], "`"+pattern+"`")
	}
	b.WriteString("\n| need | routes |\n|---|---|\n")
	for need := auth.Console; need <= auth.Page; need++ {
		slices.Sort(byNeed[need])
		fmt.Fprintf(&b, "| %v | %s |\n", need, strings.Join(byNeed[need], ", "))
	}
	told := map[string]bool{}
	for need := range auth.Page {
		alike := like(cells, need)
		if told[alike] {
			continue
		}
		told[alike] = true
		fmt.Fprintf(&b, "\nRoutes that need **%s**:\n\n| caller |", alike)
		for _, o := range origins {
			b.WriteString(" " + o.name + " |")
		}
		b.WriteString("\n|---|" + strings.Repeat("---|", len(origins)) + "\n")
		for _, c := range who {
			b.WriteString("| " + c.name + " |")
			for _, o := range origins {
				b.WriteString(" " + cells[need][c.name+"|"+o.name] + " |")
			}
			b.WriteString("\n")
		}
	}
	src := must.Read(t, accessPage)
	if !accessTable.Match(src) {
		t.Fatalf("%s has no place for the table", accessPage)
	}
	page := accessTable.ReplaceAllString(string(src), "${1}"+strings.ReplaceAll(b.String(), "$", "$$")+"\n${2}")
	must.Match(t, accessPage, page)
}
