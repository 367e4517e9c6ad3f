package remote

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"toolnorm/internal/body"
	"toolnorm/internal/fault"
)

// largestBody is the largest body in bytes of a request that adds or removes a server: a name, a
// URL, headers and names of tools.
const largestBody = 64 << 10

// headerName matches the name of a header (RFC 9110, section 5.1).
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$")

// Asked is an MCP server that a request wants to add.
type Asked struct {
	Name    string            `json:"name"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"` // sent with each request to the server
	// the only tools that are taken; empty: all
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"` // tools that are not taken
}

// check returns an error if a header cannot be sent, or if the URL or a header contains a variable
// (${…}). Otherwise it returns nil.
func (a Asked) check() error {
	all := []string{a.URL}
	for name, value := range a.Headers {
		all = append(all, value)
		if !headerName.MatchString(name) || strings.ContainsFunc(value, unicode.IsControl) {
			return fault.Wrong("headers", "headers: %q is not a header that HTTP can send", name)
		}
	}
	if slices.ContainsFunc(all, func(text string) bool { return strings.Contains(text, "${") }) {
		return fault.New(fault.Invalid, "variables can only be used in mcp.json itself")
	}
	return nil
}

// Mount adds the handlers that manage servers to a mux, for exactly /mcp/add, /mcp/remove and
// /mcp/list. The handlers do not authenticate, so the mux must be behind an auth.Guard. Their paths
// do not conflict with the MCP endpoint /mcp, which is an exact path too and no prefix. Errors have
// OpenAI's form, as everywhere except under /api/.
func (s *Set) Mount(mux interface{ Handle(string, http.Handler) }) {
	for _, a := range []struct {
		path, method string
		do           func(*http.Request) (any, error)
	}{
		{"/mcp/add", http.MethodPost, s.serveAdd},
		{"/mcp/remove", http.MethodDelete, s.serveRemove},
		{"/mcp/list", http.MethodGet, s.serveList},
	} {
		mux.Handle(a.path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != a.method {
				w.Header().Set("Allow", a.method)
				fault.Write(w, fault.New(fault.Method, "%s takes %s, not %s", a.path, a.method,
					r.Method))
				return
			}
			answer, err := a.do(r)
			if err != nil {
				fault.Write(w, err)
				return
			}
			_ = body.Write(w, http.StatusOK, answer) // a client that is gone cannot be told
		}))
	}
}

// registering is the body of a request that adds a server. Command is read only to refuse it with a
// clear message: the caller should learn that no command is started, and not that a URL is missing.
type registering struct {
	Asked
	Command json.RawMessage `json:"command"`
}

// changed is the answer to adding or removing a server:
// {"name":"tts","url":"…","message":"registered"}. The members must stay, because they were
// promised to the first callers.
type changed struct {
	Name    string `json:"name"`
	URL     string `json:"url,omitempty"`
	Message string `json:"message"`
}

// readBody decodes a request's body into v. An empty body is not an error, since the query may say
// the same: some HTTP clients and proxies drop the body of a DELETE, whose meaning HTTP leaves open
// (RFC 9110, section 9.3.5). It returns an error for any other body that cannot be decoded.
func readBody(r *http.Request, v any) error {
	if err := body.Read(r, largestBody, v); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// serveAdd handles /mcp/add. It registers a server by its URL. A command is refused with 403 for
// every caller: the user, who owns mcp.json, can start programs anyway, but a request may come from
// anyone with a key.
func (s *Set) serveAdd(r *http.Request) (any, error) {
	var n registering
	switch err := readBody(r, &n); {
	case err != nil:
		return nil, err
	case n.Command != nil:
		return nil, fault.New(fault.Forbidden,
			"commands are started only if mcp.json names them; write it there")
	}
	if err := s.Add(r.Context(), n.Asked); err != nil {
		return nil, err
	}
	return changed{n.Name, n.URL, "registered"}, nil
}

// serveRemove handles /mcp/remove. It removes the server that the body or the query names. It
// returns an error for 404 if there is no such server, and for 400 if the request names none.
func (s *Set) serveRemove(r *http.Request) (any, error) {
	var n struct{ Name, URL string }
	if err := readBody(r, &n); err != nil {
		return nil, err
	}
	if n.Name == "" {
		n.Name = r.URL.Query().Get("name")
	}
	if n.Name == "" {
		return nil, fault.New(fault.Invalid,
			`name a server, in the body ({"name": "…"}) or the query (?name=…)`)
	}
	return changed{Name: n.Name, Message: "removed"}, s.Remove(n.Name)
}

// serveList handles /mcp/list. It returns names and addresses, or with ?state=1 the full state of
// each server. The short form was promised to the first callers; the state is for people. It does
// not fail.
func (s *Set) serveList(r *http.Request) (any, error) {
	// The servers are in the file's order, which people know.
	all := s.List()
	if r.URL.Query().Get("state") != "" {
		return map[string][]State{"servers": all}, nil
	}
	type server struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	out := make([]server, len(all))
	for i, a := range all {
		out[i] = server{a.Name, a.URL}
	}
	return map[string][]server{"servers": out}, nil
}
