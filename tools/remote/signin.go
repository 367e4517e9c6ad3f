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
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"toolnorm/internal/fault"
)

// OAuth is an entry's settings for signing in. ClientID is an id that the user has got from the
// server, needed if programs cannot register themselves.
type OAuth struct {
	ClientID, Secret string
	Scopes           []string
	// port to which the browser returns; empty: any
	Port string
}

// SignIn signs the user in to a server of mcp.json, and stores the tokens in the file accounts. It
// calls show with the address that the user must open, and waits until the browser returns to this
// machine. It fails if ctx ends first, the server refuses, or the file has no such server. It uses
// OAuth's authorization code with PKCE and the resource in each request (RFC 8707). Without a
// client id, the program registers itself at the authorization server.
func SignIn(ctx context.Context, file, accounts, name string, show func(url string)) error {
	e, err := entryOf(file, name)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", cmp.Or(e.OAuth.Port, "0")))
	if err != nil {
		return err
	}
	defer l.Close()
	f, to, err := e.beginSignIn(ctx, accounts, "http://"+l.Addr().String()+"/callback")
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	s := &http.Server{ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.URL.Path != "/callback" ||
				r.URL.Query().Get("state") != f.state {
				http.NotFound(w, r) // not the browser that was sent
				return
			}
			err := f.finish(ctx, r.URL.Query())
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			text := "Signed in to " + e.Name + ". You can close this page."
			if err != nil {
				text = "Not signed in: " + err.Error()
			}
			_, _ = io.WriteString(w, text+"\n") // the command says it as well
			select {
			case done <- err:
			default: // the page was loaded twice
			}
		})}
	go func() { _ = s.Serve(l) }() // ends with Close
	defer s.Close()
	show(to)
	select {
	case err = <-done:
		// The page is written after this.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = s.Shutdown(ctx)
		return err
	case <-ctx.Done():
		return fmt.Errorf("nobody has signed in: %w", context.Cause(ctx))
	}
}

// entryOf returns the server that the file at path has under the given name, with variables filled
// in. It fails if there is no such server, it is a command, or a variable is not set.
func entryOf(path, name string) (Entry, error) {
	f, err := load(path)
	if err != nil {
		return Entry{}, err
	}
	for _, w := range f.servers {
		if w.err != nil || w.entry.Name != name && w.key != name {
			continue
		}
		e, err := w.entry.filled()
		if err == nil && e.URL == "" {
			err = fault.New(fault.Invalid, "%s is a command, which nobody signs in to", name)
		}
		return e, err
	}
	return Entry{}, fault.New(fault.NotFound, "mcp.json has no server %q that can be used", name)
}

// flow is a sign-in that has begun.
type flow struct {
	account  *account
	handler  *transport.OAuthHandler
	about    string // the URL of the metadata that names the authorization server
	resource string // the server's name for itself in that metadata
	scopes   []string
	issuer   string
	named    bool // the issuer names itself in its answers
	state    string
	verifier string
	pending  *transport.MemoryTokenStore // stores the token until everything is saved
}

// beginSignIn finds the authorization server, which signs users in, and returns the address that
// the user must open. It fails if no sign-in is demanded, the server does not answer or gives too
// little protection, or the program cannot register.
func (e Entry) beginSignIn(ctx context.Context, accounts, back string) (*flow, string, error) {
	f := &flow{account: &account{entry: e, path: accounts},
		pending: transport.NewMemoryTokenStore()}
	if u, err := url.Parse(back); err != nil || !protects(u) {
		return nil, "", fmt.Errorf(
			"servers send the browser back only over https or to this machine, and not to %.200q",
			back)
	}
	before, _, err := f.account.saved()
	if err != nil {
		return nil, "", err
	}
	challenge := before.Wants // what the server has answered to a token without enough rights
	if challenge == "" {
		if challenge, err = e.challenge(ctx); err != nil {
			return nil, "", err
		}
	}
	web := e.signInClient()
	var scopes []string
	f.about, f.resource, scopes = e.metadata(ctx, web, param(challenge, "resource_metadata"))
	scopes = e.scopesFor(challenge, before, scopes)
	config := transport.OAuthConfig{
		ClientID: e.OAuth.ClientID, ClientSecret: e.OAuth.Secret, RedirectURI: back,
		TokenStore: f.pending, PKCEEnabled: true,
		HTTPClient: web, ProtectedResourceMetadataURL: f.about, Scopes: scopes,
	}
	find := transport.NewOAuthHandler(config)
	find.SetBaseURL(f.resource)
	about, err := find.GetServerMetadata(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("%s does not say who signs its users in: %w", e.Name, err)
	}
	if methods := about.CodeChallengeMethodsSupported; len(methods) > 0 &&
		!slices.Contains(methods, "S256") {
		return nil, "", fmt.Errorf(
			"%s signs users in without PKCE (S256), so a sign-in could be stolen", e.Name)
	}
	if len(config.Scopes) > 0 && slices.Contains(about.ScopesSupported, "offline_access") &&
		!slices.Contains(config.Scopes, "offline_access") {
		config.Scopes = append(config.Scopes, "offline_access") // else it ends with the first token
	}
	// as signInClient made it
	f.issuer, f.named = about.Issuer, web.Transport.(*signIn).names(about.Issuer)
	if config.ClientID == "" {
		if err := register(ctx, web, about.RegistrationEndpoint, &config); err != nil {
			return nil, "", fmt.Errorf(
				"%s registers no programs: %w; give it the client id that you have got there, as \"oauth\": {\"clientId\": …}", e.Name, err)
		}
	}
	f.scopes = config.Scopes
	f.handler = transport.NewOAuthHandler(config)
	f.handler.SetBaseURL(f.resource)
	to, err := f.address(ctx)
	return f, to, err
}

// address returns the address that the user must open. It comes from the server's metadata,
// so the method returns an error unless the address is https or on this machine.
func (f *flow) address(ctx context.Context) (to string, err error) {
	if f.verifier, err = transport.GenerateCodeVerifier(); err == nil {
		f.state, err = transport.GenerateState()
	}
	if err == nil {
		to, err = f.handler.GetAuthorizationURL(ctx, f.state,
			transport.GenerateCodeChallenge(f.verifier))
	}
	if err != nil {
		return "", err
	}
	if u, err := url.Parse(to); err != nil || !protects(u) {
		return "", fmt.Errorf(
			"%s signs users in at an address that is neither https nor on this machine: %.100q",
			f.account.entry.Name, to)
	}
	return to, nil
}

// scopesFor returns the rights (scopes) to ask for, sorted. They come from the settings, or else
// from the server's challenge, or else from the parameter scopes. If they are not from the settings
// and the sign-in before had too few rights, those that it had are added.
func (e Entry) scopesFor(challenge string, before saved, scopes []string) []string {
	if len(e.OAuth.Scopes) > 0 {
		scopes = e.OAuth.Scopes
	} else {
		if said := strings.Fields(param(challenge, "scope")); len(said) > 0 {
			scopes = said
		}
		if before.Wants != "" {
			scopes = append(slices.Clone(before.Scopes), scopes...)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(scopes)))
}

// register registers the program with the authorization server (RFC 7591), and sets the client id
// in config. It registers an installed program if the browser returns to this machine, and
// otherwise a web application, since servers allow the two kinds different addresses. It fails if
// the server refuses.
func register(ctx context.Context, web *http.Client, at string,
	config *transport.OAuthConfig) error {
	if at == "" {
		return errors.New("it names no address for that")
	}
	kind := "web"
	if u, err := url.Parse(config.RedirectURI); err == nil && isHere(u) {
		kind = "native"
	}
	asked, err := json.Marshal(map[string]any{
		"client_name": "toolnorm", "redirect_uris": []string{config.RedirectURI},
		"application_type": kind, "token_endpoint_auth_method": "none",
		"grant_types":    []string{"authorization_code", "refresh_token"},
		"response_types": []string{"code"}, "scope": strings.Join(config.Scopes, " "),
	})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at, bytes.NewReader(asked))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	resp, err := web.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var got struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
		Method string `json:"token_endpoint_auth_method"`
		Why    string `json:"error_description"`
	}
	err = json.NewDecoder(resp.Body).Decode(&got)
	switch {
	case resp.StatusCode != http.StatusCreated && resp.StatusCode != http.StatusOK:
		return fmt.Errorf("its status is %d (%.200q)", resp.StatusCode, got.Why)
	case err != nil || got.ID == "":
		return errors.New("it answers with no id")
	}
	config.ClientID, config.ClientSecret, config.TokenEndpointAuthMethod = got.ID, got.Secret,
		got.Method
	return nil
}

// finish gets a token for the code with which the browser returned, and saves the token. It fails
// if the sign-in was refused, the answer comes from another issuer, or saving fails.
func (f *flow) finish(ctx context.Context, back url.Values) error {
	switch iss := back.Get("iss"); {
	case back.Get("error") != "":
		what := "has failed"
		if back.Get("error") == "access_denied" {
			what = "was denied"
		}
		return fmt.Errorf("the sign-in %s at %s (%.60s): %.300s", what, f.issuer,
			back.Get("error"), cmp.Or(back.Get("error_description"), "it gives no reason"))
	// Another server's answer (RFC 9207): the code would be given to the wrong one.
	case back.Has("iss") && iss != f.issuer:
		return fmt.Errorf("the answer comes from %.200q, and %s signs users in at %q", iss,
			f.account.entry.Name, f.issuer)
	case !back.Has("iss") && f.named:
		return fmt.Errorf("the answer does not say who signs in, and %q always does", f.issuer)
	case back.Get("code") == "":
		return errors.New("the answer has no code")
	}
	var away *url.Error
	switch err := f.handler.ProcessAuthorizationResponse(ctx, back.Get("code"), back.Get("state"),
		f.verifier); {
	case errors.As(err, &away):
		return why{fmt.Sprintf("%s, which signs users of %s in, does not answer: %s", f.issuer,
			f.account.entry.Name, plainly(away.Err)), err}
	case err != nil:
		return fmt.Errorf("%s gives no token: %w", f.issuer, err)
	}
	token, err := f.pending.GetToken(ctx)
	if err != nil {
		return err
	}
	return f.account.save(saved{
		ClientID: f.handler.GetClientID(), Secret: f.handler.GetClientSecret(),
		Method: f.handler.GetTokenEndpointAuthMethod(), About: f.about, Resource: f.resource,
		Scopes: f.scopes, Token: token,
	})
}

// challenge sends two requests without a token, and returns what the server says about signing in
// (WWW-Authenticate). Some servers demand a sign-in only after initialize, hence two. It fails if
// the server accepts both, or does not answer.
func (e Entry) challenge(ctx context.Context) (string, error) {
	web, free := e.client()
	defer free()
	session, status := "", 0
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` +
			beforeDiscovery +
			`","capabilities":{},"clientInfo":{"name":"toolnorm","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
	} {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
			r.Header.Set("Mcp-Protocol-Version", beforeDiscovery)
		}
		resp, err := web.Do(r)
		if err != nil {
			return "", explain(e, err, "")
		}
		resp.Body.Close()
		if status = resp.StatusCode; status == http.StatusUnauthorized {
			return strings.Join(resp.Header.Values("WWW-Authenticate"), ", "), nil
		}
		session = resp.Header.Get("Mcp-Session-Id")
	}
	return "", fmt.Errorf("%s asks nobody to sign in (status %d)", e.Name, status)
}

// params matches a parameter of a challenge, quoted or not.
var params = regexp.MustCompile(`([A-Za-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))`)

// param returns the named parameter of a challenge, or "" if there is none.
func param(challenge, name string) string {
	for _, m := range params.FindAllStringSubmatch(challenge, -1) {
		if strings.EqualFold(m[1], name) {
			return strings.ReplaceAll(m[2]+m[3], `\`, "")
		}
	}
	return ""
}

// metadata finds the server's metadata about sign-ins (RFC 9728). It returns their URL (about), the
// server's name for itself (resource), and the rights to ask for (scopes). It tries said, a URL
// from the server's refusal, and the two standard places. If all fail, about is "", as for an older
// server, which signs users in itself. If the metadata is another server's, only its URL is used.
func (e Entry) metadata(ctx context.Context, web *http.Client, said string) (
	about, resource string, scopes []string) {
	resource = path(e.URL)
	u, err := url.Parse(e.URL)
	if err != nil {
		return "", resource, nil
	}
	if !sameOrigin(said, e.URL) {
		said = ""
	}
	root := u.Scheme + "://" + u.Host + "/.well-known/oauth-protected-resource"
	for _, at := range []string{said, root + strings.TrimSuffix(u.EscapedPath(), "/"), root} {
		var is struct {
			Resource string   `json:"resource"`
			Scopes   []string `json:"scopes_supported"`
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
		if at == "" || err != nil {
			continue
		}
		resp, err := web.Do(r)
		if err != nil {
			continue
		}
		err = json.NewDecoder(resp.Body).Decode(&is)
		resp.Body.Close()
		inside := sameOrigin(is.Resource, e.URL) &&
			strings.HasPrefix(resource+"/", strings.TrimSuffix(is.Resource, "/")+"/")
		switch {
		case err != nil || resp.StatusCode != http.StatusOK:
		case inside:
			return at, is.Resource, is.Scopes
		default:
			return at, resource, nil // the code that compares the two refuses it
		}
	}
	return "", resource, nil
}
