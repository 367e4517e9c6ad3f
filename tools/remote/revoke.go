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

// revokeTime bounds the wait of a sign-out for the server that issued the tokens.
const revokeTime = 5 * time.Second

// errNoRevoking is the error of a server that does not revoke tokens, or does not answer.
var errNoRevoking = errors.New("the server that issued them has told no address for that")

// revoke asks the server that issued the tokens of s to take them back (RFC 7009): first the token
// by which new ones are made, then the other, which some servers take back with it. The account
// need not be in the file any more.
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

// take sends one token to be taken back; an empty one is not sent. The program says who it is in
// the way in which it has asked for the token.
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
