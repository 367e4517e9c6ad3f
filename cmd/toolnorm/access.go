package main

import (
	"net/http"

	"toolnorm/admin"
	"toolnorm/agent"
	"toolnorm/internal/auth"
	"toolnorm/mcpserver"
	"toolnorm/proxy"
	"toolnorm/runner"
	"toolnorm/tools/kb"
)

// needs is the right that each route of the program requires. No other place says it. A route that
// is missing here is for administrators, and a test checks that none is missing.
//
// docs/auth.md explains each right. Administrators change the server or look inside it, by the
// console of /admin or otherwise. /runner runs tools as /mcp does, so it is open to every user too.
// But a call there is a single request, which a foreign page could send blindly, so it has a right
// of its own.
var needs = map[string]auth.Need{
	"/":        auth.User, // paths that do not exist
	"/{$}":     auth.User,
	"/healthz": auth.Open,
	readyPath:  auth.Open,
	"/version": auth.User,

	"/v1/chat/completions":           auth.Ask,
	"/v1/completions":                auth.Ask,
	"/v1/embeddings":                 auth.Ask,
	"/v1/messages":                   auth.Ask,
	"/v1/messages/count_tokens":      auth.Ask,
	"/v1/responses":                  auth.Ask,
	"/v1/responses/{id}":             auth.Ask,
	"/v1/responses/{id}/input_items": auth.Ask,
	"/v1/models":                     auth.User,
	"/v1/models/{id...}":             auth.User,
	agent.Path:                       auth.Ask,
	"/mcp":                           auth.Call,
	"/mcp/{$}":                       auth.Call,
	mcpserver.Sets:                   auth.Call,
	mcpserver.Sets + "/{$}":          auth.Call,
	"/sse":                           auth.Call,
	"/sse/{$}":                       auth.Call,
	"/sse/message":                   auth.Call,
	auth.MetadataPath:                auth.Open,
	auth.MetadataPath + "/":          auth.Open,
	runner.Paths:                     auth.Program,

	kb.Paths + "{base}/{document}/{passage}": auth.Call,

	"/api/tags":       auth.User,
	"/api/ps":         auth.User,
	"/api/version":    auth.User,
	"/api/show":       auth.User,
	"/api/chat":       auth.Ask,
	"/api/generate":   auth.Ask,
	"/api/embed":      auth.Ask,
	"/api/embeddings": auth.Ask,

	"/api/pull":           auth.Manage,
	"/api/push":           auth.Manage,
	"/api/create":         auth.Manage,
	"/api/copy":           auth.Manage,
	"/api/delete":         auth.Manage,
	"/api/blobs/{digest}": auth.Manage,
	"/mcp/add":            auth.Servers,
	"/mcp/remove":         auth.Servers,
	"/mcp/list":           auth.Servers,
	"/debug":              auth.Admin,
	"/debug/exchanges":    auth.Admin,
	metricsPath:           auth.Scrape,
	admin.API:             auth.Console,

	// The page and its scripts are the same for every user and hold no data. A browser can send no
	// key with a navigation, and the guard lets no page load other routes' answers as scripts,
	// since a foreign page could do so, too.
	admin.SignedIn:    auth.Open,
	admin.Paths:       auth.Page,
	admin.Paths + "/": auth.Page,
}

// readyPath is where a load balancer asks whether the server takes new requests.
const readyPath = "/readyz"

// metricsPath is the path that Prometheus reads by default.
const metricsPath = "/metrics"

// routes is a mux that remembers its patterns, so that a test can check that each has an entry in
// needs, which says what a caller must be allowed to do.
type routes struct {
	mux      *http.ServeMux
	patterns []string
}

// Handle adds a route, and remembers its pattern.
func (r *routes) Handle(pattern string, h http.Handler) {
	r.patterns = append(r.patterns, pattern)
	r.mux.Handle(pattern, h)
}

// mount returns the routes of everything that answers: chats, the agent, the tools for MCP clients
// and runners, the list of other MCP servers, and the admin page. MCP sessions continue when the
// settings are read again. They also continue after a restart and at other replicas, if the key in
// mcp.key is the same. Some clients, such as the editor Void, need this, because they never
// initialize a session twice.
func (m *Main) mount(chats *proxy.Server, loop http.Handler) *routes {
	r := &routes{mux: http.NewServeMux()}
	chats.Mount(r)
	r.Handle(agent.Path, loop)
	r.Handle(runner.Paths, m.runners)
	if m.toolbox.KB != nil {
		r.Handle(kb.Paths+"{base}/{document}/{passage}",
			http.HandlerFunc(m.toolbox.KB.ServePassage))
	}
	r.Handle(readyPath, http.HandlerFunc(m.server.ready))
	r.Handle(metricsPath, m.metrics.Handler())
	r.Handle(admin.API, m.admin)
	r.Handle(admin.SignedIn, m.admin)
	r.Handle(admin.Paths, m.admin)
	r.Handle(admin.Paths+"/", m.admin)
	if m.mcp != nil {
		m.mcp.Mount(r)
	}
	if m.remote != nil {
		m.remote.Mount(r)
	}
	return r
}

// guard returns the handler that checks, with the settings of f, what the caller of a request may
// do, before the request reaches the routes.
func (m *Main) guard(f *face, r *routes) *auth.Guard {
	return &auth.Guard{
		Hosts: f.config.Hosts, Origins: f.config.Origins, Keys: f.settings.keys,
		Admins: f.settings.adminKeys, Scrapers: f.settings.scrapers, Tokens: f.settings.tokens,
		Resource: f.resource, Sets: f.settings.sets, Rights: f.settings.rights,
		Local: m.door.admits, Routes: r.mux, Needs: needs, Log: m.log,
	}
}
