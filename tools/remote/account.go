package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/replace"
)

// account is the user's sign-in at one server. All sign-ins are stored in one file that only the
// user can read. The account's tokens are sent only to the URL for which they were issued.
type account struct {
	entry Entry
	path  string // of the file

	mu sync.Mutex
	// refreshes the token; nil: not made yet
	handler *transport.OAuthHandler
	client  string // the client id with which handler was made
}

// saved is an account as it is stored in the file.
type saved struct {
	URL      string `json:"url"`
	ClientID string `json:"client_id"`
	Secret   string `json:"client_secret,omitempty"`
	Method   string `json:"token_endpoint_auth_method,omitempty"`
	// the URL of the server's metadata, which names the authorization server
	About string `json:"resource_metadata,omitempty"`
	// the server's own name in that metadata
	Resource string   `json:"resource,omitempty"`
	Scopes   []string `json:"scopes,omitempty"` // that the sign-in requested
	// the server's answer to a token without enough rights (the WWW-Authenticate header)
	Wants string           `json:"wants,omitempty"`
	Token *transport.Token `json:"token"`
}

// accountFile is locked while the file of sign-ins is changed.
var accountFile sync.Mutex

// readAccounts reads the file of sign-ins and returns the accounts by server name. A missing file
// has no accounts. Any other file that cannot be read or decoded is an error.
func readAccounts(path string) (all map[string]saved, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return map[string]saved{}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("the file of sign-ins: %w", err)
	}
	return all, nil
}

// saved reads the account from the file. The result ok is false if the file has none for this
// server and this URL. An error means that the file cannot be read.
func (a *account) saved() (s saved, ok bool, err error) {
	all, err := readAccounts(a.path)
	if err != nil {
		return s, false, err
	}
	s, ok = all[a.entry.Name]
	return s, ok && s.URL == a.entry.URL && s.Token != nil, nil
}

// changeAccounts calls the function do with the accounts in the file. If do returns true, it has
// changed them, and they are written back. The file is made with mode 0600. An error means that the
// file cannot be read or written.
func changeAccounts(path string, do func(all map[string]saved) bool) error {
	accountFile.Lock()
	defer accountFile.Unlock()
	all, err := readAccounts(path)
	if err != nil || !do(all) {
		return err
	}
	text, err := chat.JSON(all)
	if err != nil {
		return err
	}
	return replace.File(path, text)
}

// save writes the sign-in s into the file, with the URL of the account's server. It returns an
// error if the file cannot be changed.
func (a *account) save(s saved) error {
	s.URL = a.entry.URL
	return changeAccounts(a.path, func(all map[string]saved) bool {
		all[a.entry.Name] = s
		return true
	})
}

// removeAccount removes the account of a server from the file, and returns it. It returns an error
// if there is none, or if the file cannot be changed.
func removeAccount(path, server string) (was saved, err error) {
	found := false
	err = changeAccounts(path, func(all map[string]saved) bool {
		was, found = all[server]
		delete(all, server)
		return found
	})
	switch {
	case err != nil:
		return was, fault.New(fault.Unable, "the file of sign-ins cannot be changed: %w", err)
	case !found:
		return was, fault.New(fault.NotFound, "nobody is signed in to %q", server)
	}
	return was, nil
}

// update calls do to change the account, and writes the change into the file, but only if the file
// still has the account. Otherwise a request that was under way while the user signed out would
// bring the tokens back. The result done is true if do has changed the account. An error means that
// the file cannot be changed.
func (a *account) update(do func(s *saved) bool) (done bool, err error) {
	err = changeAccounts(a.path, func(all map[string]saved) bool {
		s, ok := all[a.entry.Name]
		if done = ok && s.URL == a.entry.URL && s.Token != nil && do(&s); done {
			all[a.entry.Name] = s
		}
		return done
	})
	return done, err
}

// GetToken implements transport.TokenStore. It reads the token from the file each time, so that a
// sign-in by another process takes effect at once. It returns transport.ErrNoToken if the user is
// not signed in.
func (a *account) GetToken(ctx context.Context) (*transport.Token, error) {
	s, ok, err := a.saved()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case !ok:
		return nil, transport.ErrNoToken
	}
	return s.Token, nil
}

// SaveToken implements transport.TokenStore. It writes a new token into the file. It returns
// transport.ErrNoToken if the user has signed out in the meantime.
func (a *account) SaveToken(ctx context.Context, t *transport.Token) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	done, err := a.update(func(s *saved) bool { s.Token = t; return true })
	if err == nil && !done {
		err = transport.ErrNoToken // the user has signed out
	}
	return err
}

// handlerOf returns the handler of the library mcp-go that refreshes the token of s. The handler
// finds the issuer of the token by the URL s.About.
func (a *account) handlerOf(s saved) *transport.OAuthHandler {
	h := transport.NewOAuthHandler(transport.OAuthConfig{
		ClientID: s.ClientID, ClientSecret: s.Secret, TokenEndpointAuthMethod: s.Method,
		ProtectedResourceMetadataURL: s.About,
		TokenStore:                   a, PKCEEnabled: true, HTTPClient: a.entry.signInClient(),
	})
	h.SetBaseURL(cmp.Or(s.Resource, path(a.entry.URL)))
	return h
}

// header returns the Authorization header for a request, or "" if there is no usable sign-in.
func (a *account) header(ctx context.Context) string {
	s, ok, err := a.saved()
	if err != nil || !ok {
		return ""
	}
	a.mu.Lock()
	if a.handler == nil || a.client != s.ClientID {
		a.handler, a.client = a.handlerOf(s), s.ClientID
	}
	h := a.handler
	a.mu.Unlock()
	text, err := h.GetAuthorizationHeader(ctx)
	if err != nil {
		return ""
	}
	return text
}

// refused records that the server no longer accepts a token. The parameter sent is the
// Authorization header with that token. The next request then refreshes the token. A newer token in
// the file is left alone.
func (a *account) refused(sent string) {
	// If it cannot be written, the next request fails as this one did.
	_, _ = a.update(func(s *saved) bool {
		if !strings.HasSuffix(sent, " "+s.Token.AccessToken) || s.Token.IsExpired() {
			return false // a newer one is there
		}
		s.Token.ExpiresAt = time.Now().Add(-time.Second)
		return true
	})
}

// forbidden is the error for a request that the server refuses although the user is signed in.
type forbidden string

// Error implements error. It returns the sentence for the user.
func (f forbidden) Error() string { return string(f) }

// lacks records that the token has too few rights. It stores the server's challenge, so that the
// next sign-in can ask for the missing rights.
func (a *account) lacks(challenge string) {
	// If it cannot be written, the next sign-in asks for the same rights as the last one.
	_, _ = a.update(func(s *saved) bool {
		if s.Wants == challenge {
			return false
		}
		s.Wants = challenge
		return true
	})
}

// signInClient returns an HTTP client for authorization servers, the servers that sign users in.
// The MCP server names their addresses, so the client trusts them little. It uses https, or plain
// http to this machine. If the MCP server is outside of the local network, the client connects to
// no address inside of it. It follows no redirect to another origin, and bounds the length of
// answers.
func (e Entry) signInClient() *http.Client {
	if e.Private == nil && !e.isInside() {
		e.Private = new(bool)
	}
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: e.mayDial}
	return &http.Client{
		Timeout: 15 * time.Second,
		Transport: &signIn{next: &http.Transport{DialContext: dialer.DialContext,
			TLSHandshakeTimeout: 5 * time.Second, MaxResponseHeaderBytes: 64 << 10,
			DisableKeepAlives: true}},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > 3 || !sameOrigin(r.URL.String(), via[0].URL.String()) {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}

// isInside reports whether the server's host has only private addresses. It resolves the host's
// name, and returns false if that fails.
func (e Entry) isInside() bool {
	u, err := url.Parse(e.URL)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	return err == nil && !slices.ContainsFunc(all, func(ip netip.Addr) bool { return !inside(ip) })
}

// isHere reports whether a URL names this machine, by localhost or a loopback address.
func isHere(u *url.URL) bool {
	ip, _ := netip.ParseAddr(u.Hostname()) // a name is not an address
	return u.Hostname() == "localhost" || ip.IsLoopback()
}

// protects reports whether what a sign-in sends to a URL is safe from eavesdroppers, because the
// URL is https or on this machine.
func protects(u *url.URL) bool {
	return u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && isHere(u))
}

// signIn is an http.RoundTripper for sign-ins. It refuses plain http except to this machine, and
// bounds the size of answers.
type signIn struct {
	next http.RoundTripper
	mu   sync.Mutex
	// the issuers whose metadata says that they name themselves in their answers (RFC 9207)
	name map[string]bool
}

// names reports whether the metadata of an issuer says that the issuer names itself in its answers.
func (s *signIn) names(issuer string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.name[issuer]
}

// look reads the metadata of an issuer of tokens. If the metadata says that the issuer names itself
// in its answers, look records the issuer. The library mcp-go does not read this. Text that is not
// such metadata is ignored.
func (s *signIn) look(text []byte) {
	var said struct {
		Issuer string `json:"issuer"`
		Names  bool   `json:"authorization_response_iss_parameter_supported"`
	}
	if json.Unmarshal(text, &said) != nil || !said.Names {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.name == nil {
		s.name = map[string]bool{}
	}
	s.name[said.Issuer] = true
}

// RoundTrip implements http.RoundTripper. It reads the whole answer, and records what an issuer's
// metadata says (see look). It returns an error for an address that is neither https nor on this
// machine.
func (s *signIn) RoundTrip(r *http.Request) (*http.Response, error) {
	if !protects(r.URL) {
		return nil, fmt.Errorf("%s signs users in without https", r.URL.Host)
	}
	resp, err := s.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, largestBody))
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	s.look(text)
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, nil
}
