package auth

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// health routes one path that needs no key, beside others that do.
func health() *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("/healthz", http.NotFoundHandler())
	mux.Handle("/", http.NotFoundHandler())
	return mux
}

// healthNeeds are the needs of health's routes.
var healthNeeds = map[string]Need{"/healthz": Open, "/": User}

// ask is what becomes of a request behind a guard; seen is the request that came through, nil when
// none did.
func ask(g *Guard, method, path string, header ...string) (resp *http.Response, seen *http.Request) {
	h := g.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r }))
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), seen
}

func TestForeignHostsAndOriginsAreTurnedAway(t *testing.T) {
	g := &Guard{Hosts: []string{"box.lan"}, Origins: []string{"https://ui.example"}}
	for _, tt := range []struct {
		host, origin string
		ok           bool
	}{
		{"127.0.0.1:11435", "", true},
		{"localhost", "", true},
		{"LOCALHOST.:11435", "", true},
		{"[::1]:11435", "", true},
		{"192.168.1.7:11435", "", true},
		{"box.lan:11435", "", true},
		{"localhost:", "", true},
		{"[::1]", "", true},
		{"[fe80::1%25eth0]:80", "", true},
		{"evil.example", "", false},
		{"", "", false},
		{"localhost:31101.evil.example", "", false},
		{"localhost:80:80", "", false},
		{"127.0.0.1:1@evil.example", "", false},
		{"[127.0.0.1", "", false},
		{"[127.0.0.1]", "", false},
		{"[localhost]", "", false},
		{"[::1", "", false},
		{"[::1]x", "", false},
		{"[::1]:x", "", false},
		{"::1", "", false},
		{"127.0.0.1]", "", false},
		{"user@localhost", "", false},
		{"localhost..", "", false},
		{"127.0.0.1.evil.example:80", "", false},
		{"localhost.evil.example", "", false},
		{"localhost:11435", "http://localhost:3000", true},
		{"localhost:11435", "http://[::1]:3000", true},
		{"localhost:11435", "vscode-webview://1ab", true},
		{"localhost:11435", "https://ui.example", true},
		{"box.lan:11435", "http://box.lan:11435", true},
		{"localhost:11435", "https://evil.example", false},
		{"localhost:11435", "http://localhost.evil.example", false},
		{"localhost:11435", "http://evil.example@localhost", false},
		{"localhost:11435", "http://localhost@evil.example", false},
		{"localhost:11435", "http://localhost:3000.evil.example", false},
		{"localhost:11435", "http://localhost:3000/", false},
		{"localhost:11435", "http://localhost/?x", false},
		{"localhost:11435", "http://localhost#x", false},
		{"localhost:11435", "http://[127.0.0.1]", false},
		{"localhost:11435", "HTTP://LOCALHOST:3000", true},
		{"localhost:11435", "null", false},
		{"localhost:11435", "file://", false},
	} {
		resp, seen := ask(g, "GET", "/v1/models", "Host", tt.host, "Origin", tt.origin)
		if (seen != nil) != tt.ok || !tt.ok && resp.StatusCode != 403 {
			t.Errorf("host %q, origin %q: status %d, want ok = %v", tt.host, tt.origin, resp.StatusCode, tt.ok)
		}
		if got := resp.Header.Get("Access-Control-Allow-Origin"); tt.ok && got != tt.origin || !tt.ok && got != "" {
			t.Errorf("host %q, origin %q: Access-Control-Allow-Origin %q", tt.host, tt.origin, got)
		}
	}
}

func TestPreflightListsTheHeadersAskedFor(t *testing.T) {
	g := &Guard{Keys: mustKeys(t, goodKey)} // browsers send no key with it
	resp, seen := ask(g, "OPTIONS", "/v1/chat/completions", "Host", "localhost", "Origin", "http://localhost:3000",
		"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "Authorization, x-stainless-os,X-Stainless-Lang, b@d")
	if resp.StatusCode != http.StatusNoContent || seen != nil {
		t.Errorf("status %d, want 204", resp.StatusCode)
	}
	if got, want := resp.Header.Get("Access-Control-Allow-Headers"), "authorization, content-type, x-stainless-os, x-stainless-lang"; got != want {
		t.Errorf("Access-Control-Allow-Headers %q, want %q", got, want)
	}
	if vary := strings.Join(resp.Header.Values("Vary"), " "); vary != "Origin Access-Control-Request-Method Access-Control-Request-Headers" {
		t.Errorf("Vary %q", vary)
	}
	if !strings.Contains(resp.Header.Get("Access-Control-Allow-Methods"), "POST") {
		t.Errorf("header %v", resp.Header)
	}
	if resp, _ = ask(g, "OPTIONS", "/v1/models", "Host", "localhost", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST"); resp.StatusCode != 403 {
		t.Errorf("foreign preflight: status %d, want 403", resp.StatusCode)
	}
}

// What a browser sends for a page elsewhere without naming it, as for an image, is turned away;
// what its user asks for is not.
func TestWhatPagesFetchWithoutSayingSo(t *testing.T) {
	for _, tt := range []struct {
		method, path, header string // of the request, as "Name: value, …"
		ok                   bool
	}{
		{"GET", "/sse", "", true},
		{"GET", "/sse", "Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: cors|Sec-Fetch-Dest: empty", true},
		{"GET", "/debug", "Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document", true},
		{"GET", "/debug", "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document", true},
		{"GET", "/sse", "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: image", false},
		{"GET", "/sse", "Sec-Fetch-Site: same-site|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: image", false},
		{"GET", "/v1/models", "Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: script", false},
		{"GET", "/debug", "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: iframe", false},
		{"POST", "/v1/chat/completions", "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: empty", false},
		{"POST", "/api/chat", "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document", false},
		{"POST", "/v1/chat/completions", "Content-Type: application/x-www-form-urlencoded", true}, // what curl says
		{"POST", "/v1/chat/completions", "Content-Type: application/x-www-form-urlencoded|Sec-Fetch-Site: same-site", false},
		{"POST", "/runner/call", "Content-Type: Multipart/Form-Data; boundary=x|Origin: http://localhost:3000", false},
		{"POST", "/runner/call", "Content-Type: application/json|Origin: http://localhost:3000|Sec-Fetch-Site: same-site", true},
	} {
		header := []string{"Host", "localhost"}
		for line := range strings.SplitSeq(tt.header, "|") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				header = append(header, name, value)
			}
		}
		if resp, seen := ask(&Guard{}, tt.method, tt.path, header...); (seen != nil) != tt.ok || !tt.ok && resp.StatusCode != 403 {
			t.Errorf("%s %s %s: status %d, want ok = %v", tt.method, tt.path, tt.header, resp.StatusCode, tt.ok)
		}
	}
	if _, seen := ask(&Guard{Origins: []string{"*"}}, "GET", "/v1/models", "Host", "localhost", "Sec-Fetch-Site", "cross-site"); seen == nil {
		t.Error("who lets every page ask lets images ask")
	}
}

func TestWhoIsOnThisMachine(t *testing.T) {
	for _, tt := range []struct{ from, host, header, value, says string }{
		{"127.0.0.1:5", "localhost:11435", "", "", ""},
		{"[::1]:5", "[::1]:11435", "", "", ""},
		{"[::ffff:127.0.0.1]:5", "127.0.0.1", "", "", ""},
		{"127.9.9.9:5", "LOCALHOST.", "User-Agent", "curl", ""},
		{"192.168.1.7:5", "localhost", "", "", "own machine"},
		{"[fe80::1%eth0]:5", "localhost", "", "", "own machine"},
		{"@", "localhost", "", "", "own machine"},
		{"127.0.0.1:5", "localhost", "X-Forwarded-For", "127.0.0.1", "X-Forwarded-For"},
		{"127.0.0.1:5", "localhost", "Forwarded", "for=10.0.0.1", "Forwarded"},
		{"127.0.0.1:5", "localhost", "X-Real-IP", "10.0.0.1", "X-Real-Ip"},
		{"127.0.0.1:5", "localhost", "Via", "1.1 box", "Via"},
		{"127.0.0.1:5", "localhost", "Client-Ip", "10.0.0.1", "Client-Ip"},
		{"127.0.0.1:5", "localhost", "X-Cluster-Client-Ip", "10.0.0.1", "X-Cluster-Client-Ip"},
		{"127.0.0.1:5", "localhost", "X-Forwarded", "10.0.0.1", "X-Forwarded"},
		{"127.0.0.1:5", "localhost", "Fastly-Client-Ip", "10.0.0.1", "Fastly-Client-Ip"},
		{"127.0.0.1:5", "localhost", "X-Original-Forwarded-For", "10.0.0.1", "X-Original-Forwarded-For"},
		{"127.0.0.1:5", "localhost", "X-Envoy-External-Address", "10.0.0.1", "X-Envoy-External-Address"},
		{"127.0.0.1:5", "localhost", "X-ProxyUser-Ip", "10.0.0.1", "X-Proxyuser-Ip"},
		{"127.0.0.1:5", "localhost", "Tailscale-User-Login", "ann", "Tailscale-User-Login"},
		{"127.0.0.1:5", "localhost", "X-Ssl-Client-Cert", "x", "X-Ssl-Client-Cert"},
		{"127.0.0.1:5", "localhost", "Remote-User", "ann", "Remote-User"},
		{"127.0.0.1:5", "localhost", "X-Client-Version", "1", ""},
		{"127.0.0.1:5", "localhost", "Traceparent", "00-1", ""},
		{"127.0.0.1:5", "localhost", "Accept-Language", "en", ""},
		{"127.0.0.1:5", "localhost", "Sec-Ch-Ua-Platform", "Linux", ""},
		{"127.0.0.1:5", "evil.example", "", "", `not as "evil.example"`},
		{"127.0.0.1:5", "192.168.1.7:11435", "", "", "as localhost"},
	} {
		r := httptest.NewRequest("GET", "/debug", nil)
		r.RemoteAddr, r.Host = tt.from, tt.host
		if tt.header != "" {
			r.Header.Set(tt.header, tt.value)
		}
		if err := Here(r, "this page"); (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	r := httptest.NewRequest("GET", "/debug", nil)
	r.RemoteAddr, r.Host = "127.0.0.1:5", "localhost"
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.0", 1, 0
	if err := Here(r, "this page"); err == nil {
		t.Error("HTTP/1.0 is what proxies speak")
	}
}
