package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
)

// revokeTime bounds how long a sign-out waits for the server that issued the tokens.
const revokeTime = 5 * time.Second

// errNoRevoking is the error for a server whose metadata has no address at which tokens can be
// revoked.
var errNoRevoking = errors.New("the server that issued them has told no address for that")

// revoke asks the server that issued the tokens of s to revoke them (RFC 7009). The refresh token
// comes first, since some servers revoke the access token with it. The account need not be in the
// file any more. revoke returns an error if the server's metadata cannot be read or has no address
// for revoking tokens, or if a token is not revoked.
func (a *account) revoke(ctx context.Context, s saved) error {
	ctx, cancel := context.WithTimeoutCause(ctx, revokeTime, fmt.Errorf(
		"no answer within %v", revokeTime))
	defer cancel()
	about, err := a.handlerOf(s).GetServerMetadata(ctx)
	if err != nil {
		return err
	}
	if about.RevocationEndpoint == "" {
		return errNoRevoking
	}
	web := a.entry.signInClient()
	err = s.take(ctx, web, about, "refresh_token", s.Token.RefreshToken)
	return errors.Join(err, s.take(ctx, web, about, "access_token", s.Token.AccessToken))
}

// take asks the server to revoke one token, of the given kind, or does nothing if the token is
// empty. The program identifies itself with the client id that it had when it requested the token.
// It returns an error if the server does not answer with 200.
func (s saved) take(ctx context.Context, web *http.Client, about *transport.AuthServerMetadata,
	kind, token string) error {
	if token == "" {
		return nil
	}
	asked := url.Values{"token": {token}, "token_type_hint": {kind}, "client_id": {s.ClientID}}
	basic := s.Secret != "" && s.Method == "client_secret_basic"
	if s.Secret != "" && !basic {
		asked.Set("client_secret", s.Secret)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, about.RevocationEndpoint,
		strings.NewReader(asked.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if basic {
		r.SetBasicAuth(url.QueryEscape(s.ClientID), url.QueryEscape(s.Secret))
	}
	resp, err := web.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // its words are an extra
		return fmt.Errorf("the status is %d (%q)", resp.StatusCode, said)
	}
	return nil
}
