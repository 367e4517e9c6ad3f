package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"toolnorm/internal/auth"
)

// jwts are the settings of JWTs. The permitted algorithms follow from them: a secret permits HS256,
// public keys permit RS256 and EdDSA. A list of algorithms would be one more setting that can be
// wrong, and a mistake here would let strangers in. The command toolnorm mcp has these settings,
// too: its user is the subject of a token in its environment.
type jwts struct {
	JWTSecret     string        `name:"jwt-secret" placeholder:"SECRET" help:"Secret of the JWTs (HS256) that open like an API key, at least 32 bytes. Safer in the environment or a file. Default: no JWT is taken."`
	JWTSecretFile string        `name:"jwt-secret-file" placeholder:"FILE" help:"File with that secret; a line's end behind it does not count."`
	JWTKeys       string        `name:"jwt-keys" placeholder:"WHERE" help:"Public keys of JWTs (RS256, EdDSA): the URL of a JWKS, or a file that holds a JWKS or PEM."`
	JWTAudience   []string      `name:"jwt-audience" placeholder:"NAME" help:"Audiences, one of which a JWT must name. With them, and an issuer that is an address, MCP clients are told where to sign in: name the address that they ask for, as https://tools.example.com/mcp. Default: any."`
	JWTIssuer     string        `name:"jwt-issuer" placeholder:"NAME" help:"The issuer that a JWT must name. Default: any."`
	JWTLeeway     time.Duration `name:"jwt-leeway" default:"30s" help:"How far the issuer's clock may be off."`
	JWTAdminRole  string        `name:"jwt-admin-role" placeholder:"ROLE" help:"The role (claim role or roles) whose bearers may do everything, in all tenants, as holders of API keys may. Default: no JWT is an admin's."`
}

// largestSecret is the largest size of a file with a secret, in bytes.
const largestSecret = 4096

// tokens returns the verifier of JWTs, or nil if the settings accept no JWTs. It returns an error
// if a file cannot be read or the settings contradict each other.
func (c *jwts) tokens() (*auth.Tokens, error) {
	secret := []byte(c.JWTSecret)
	if c.JWTSecretFile != "" {
		text, err := os.ReadFile(c.JWTSecretFile)
		switch {
		case err != nil:
			return nil, fmt.Errorf("jwt-secret-file: %w", err)
		case c.JWTSecret != "":
			return nil, errors.New("jwt-secret-file: jwt-secret is set as well")
		}
		if secret = bytes.TrimRight(text, "\r\n"); len(secret) == 0 || len(secret) > largestSecret {
			return nil, fmt.Errorf("jwt-secret-file: %s must hold 32 to %d bytes", c.JWTSecretFile,
				largestSecret)
		}
	}
	t, err := auth.NewTokens(auth.TokenConfig{
		Secret: secret, Keys: c.JWTKeys, Audience: c.JWTAudience, Issuer: c.JWTIssuer,
		Leeway: c.JWTLeeway, AdminRole: c.JWTAdminRole,
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("jwt: %w", err)
	// These settings show that the user expects tokens to be required; serving without them would
	// be dangerous.
	case t == nil && (len(c.JWTAudience) > 0 || c.JWTIssuer != "" || c.JWTAdminRole != ""):
		return nil, errors.New(
			"jwt: jwt-audience, jwt-issuer and jwt-admin-role need jwt-secret-file or jwt-keys")
	case c.JWTLeeway < 0 || c.JWTLeeway > maxLeeway:
		return nil, fmt.Errorf("jwt-leeway: must be 0 to %v", maxLeeway)
	}
	return t, nil
}

// resource returns the description of the token issuer for MCP clients. It returns nil if the
// settings name no audience, no keys, or no issuer that is an address. An audience is needed since
// a token that was issued for another server must not open this one.
func (c *jwts) resource(base string) *auth.Resource {
	if len(c.JWTAudience) == 0 || c.JWTKeys == "" || !strings.HasPrefix(c.JWTIssuer, "https://") &&
		!strings.HasPrefix(c.JWTIssuer, "http://") {
		return nil
	}
	return &auth.Resource{Issuer: c.JWTIssuer, Base: base}
}

// maxLeeway is the most that the clock of an issuer may be off. With more, expired tokens could be
// accepted for longer than they were valid.
const maxLeeway = 5 * time.Minute

// principal returns the caller on standard input, which has no header for a token. It is the
// subject of the token in the settings, or without JWTs the user who started the program. It
// returns an error if the token is missing or invalid. The token is verified only when the program
// starts, because the client cannot send another. A user who can read the environment of a program
// could start it again anyway.
func (c *jwts) principal(ctx context.Context, token string) (*auth.Principal, error) {
	t, err := c.tokens()
	switch {
	case err != nil:
		return nil, err
	case t == nil && token != "":
		return nil, errors.New("jwt-token: jwt-secret-file or jwt-keys must say how it is verified")
	case t == nil:
		return auth.Local(), nil
	case token == "":
		return nil, errors.New("jwt-token: JWTs are configured, so one must say who asks")
	}
	p, err := t.Verify(ctx, token)
	if err != nil {
		return nil, fmt.Errorf("jwt-token: %w", errors.Join(err, errors.Unwrap(err)))
	}
	return p, nil
}
