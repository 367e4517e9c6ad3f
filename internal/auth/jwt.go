package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/golang-jwt/jwt/v5"

	"toolnorm/internal/fault"
)

// The supported algorithms. The configured keys, never the token, decide which of them are allowed.
// A token that names "none", or HS256 where only public keys are configured, is refused whatever
// its signature is.
const (
	hs256 = "HS256" // with a secret shared with the issuer
	rs256 = "RS256" // with a public RSA key
	eddsa = "EdDSA" // with a public Ed25519 key
)

// minSecret is the length of the shortest secret for HS256, in bytes. RFC 7518, section 3.2,
// requires as many bytes as the hash has, because a shorter secret can be guessed offline from a
// single token.
const minSecret = 32

// longestToken is the length of the longest JWT that is parsed, in bytes. Tokens with many groups
// have a few thousand bytes.
const longestToken = 16 << 10

// TokenConfig defines which JWTs are accepted.
type TokenConfig struct {
	Secret []byte // allows HS256; at least 32 bytes
	// where the keys for RS256 and EdDSA are: the URL of a JWKS, or the path of a JWKS or PEM file
	Keys     string
	Audience []string      // aud must contain one of them; empty: aud is not checked
	Issuer   string        // the required value of iss; empty: iss is not checked
	Leeway   time.Duration // how far the issuer's clock may be wrong
	// the role, in the claim role or roles, that makes an Admin; empty: no JWT does
	AdminRole string
}

// Tokens verifies JWTs.
type Tokens struct {
	cfg    TokenConfig
	parser *jwt.Parser
	keys   *keyring // nil: no public keys are configured
}

// NewTokens returns a verifier with these settings, or nil without an error if they have neither a
// secret nor keys. It fails if the secret is too short or a file of keys cannot be read. Keys at a
// URL are fetched when the first token arrives, since their server may start later than this one.
func NewTokens(c TokenConfig) (*Tokens, error) { return newTokens(c, time.Now) }

// newTokens returns a verifier of the JWTs that c accepts, or nil if c accepts none. It fails if
// the secret is too short or the keys are unusable. The function now is the clock, which tests
// replace.
func newTokens(c TokenConfig, now func() time.Time) (*Tokens, error) {
	t := &Tokens{cfg: c}
	var allowed []string
	if len(c.Secret) > 0 {
		if len(c.Secret) < minSecret {
			return nil, fmt.Errorf(
				"the JWT secret has %d bytes, and needs at least %d; make one with \"openssl rand -hex 32\"", len(c.Secret), minSecret)
		}
		allowed = append(allowed, hs256)
	}
	if c.Keys != "" {
		var err error
		if t.keys, err = newKeyring(c.Keys, now); err != nil {
			return nil, err
		}
		allowed = append(allowed, rs256, eddsa)
	}
	if len(allowed) == 0 {
		return nil, nil
	}
	// exp is required, because a token without it would be valid for ever and cannot be withdrawn.
	options := []jwt.ParserOption{
		jwt.WithValidMethods(allowed), jwt.WithExpirationRequired(), jwt.WithLeeway(c.Leeway),
		jwt.WithTimeFunc(now), jwt.WithStrictDecoding(),
	}
	if len(c.Audience) > 0 {
		options = append(options, jwt.WithAudience(c.Audience...))
	}
	if c.Issuer != "" {
		options = append(options, jwt.WithIssuer(c.Issuer))
	}
	t.parser = jwt.NewParser(options...)
	return t, nil
}

// InvalidCredentials is the public message for every missing or rejected JWT, as documented for
// callers. The reason is only logged, because an attacker who tries tokens must not learn how close
// they came.
const InvalidCredentials = "Invalid authentication credentials"

// Verify returns the principal that a token names. The error is a fault: 401 for a rejected token,
// with the reason as its cause, and 503 if the keys are not available, since the token cannot be
// checked then.
func (t *Tokens) Verify(ctx context.Context, raw string) (*Principal, error) {
	if len(raw) > longestToken {
		return nil, rejection(errors.New("the token is too long"))
	}
	var said claims
	_, err := t.parser.ParseWithClaims(raw, &said, func(token *jwt.Token) (any, error) {
		return t.key(ctx, token)
	})
	switch {
	case errors.Is(err, errNoKeys):
		return nil, &fault.Error{Kind: fault.Busy, Code: "auth_unavailable",
			Message: "the keys that JWTs are verified with cannot be fetched; try again later",
			Cause:   err}
	case err != nil:
		return nil, rejection(err)
	}
	if err := checkSubject(said.Subject); err != nil {
		return nil, rejection(err)
	}
	return t.principal(&said, raw), nil
}

// longestSubject is the length of the longest accepted sub, in bytes. The sub is written to a
// column of a table and to log lines.
const longestSubject = 256

// checkSubject returns an error for a sub that is empty, too long or unprintable, or that could be
// mistaken for another name in created_by or in the log. "local" is the name of the user who runs
// the server.
func checkSubject(sub string) error {
	switch {
	case strings.TrimSpace(sub) == "":
		return errors.New("the token has no sub")
	case len(sub) > longestSubject:
		return fmt.Errorf("the token's sub has more than %d bytes", longestSubject)
	case strings.EqualFold(strings.TrimSpace(sub), local):
		return fmt.Errorf("the token's sub is %q, which stands for the user who runs the server",
			local)
	case strings.ContainsFunc(sub, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("the token's sub has characters that cannot be shown")
	}
	return nil
}

// rejection returns the fault for a rejected token. The argument is the reason, which is only
// logged.
func rejection(why error) error {
	return &fault.Error{Kind: fault.Unauthorized, Message: InvalidCredentials, Cause: why}
}

// key returns the keys that may have signed a token. It fails if the token's header has crit or the
// keys are not available. The parser has checked that the algorithm is allowed; key makes sure that
// each algorithm gets only its own kind of key. If an RSA public key were used as an HMAC secret,
// anybody could sign (RFC 8725, section 2.1).
func (t *Tokens) key(ctx context.Context, token *jwt.Token) (any, error) {
	// crit names extensions that a reader has to understand, like "b64", which changes what is
	// signed. None is supported here, and the library does not check (RFC 7515, section 4.1.11).
	if _, ok := token.Header["crit"]; ok {
		return nil, errors.New("the token's header has crit, of which nothing is known")
	}
	if token.Method.Alg() == hs256 {
		return t.cfg.Secret, nil
	}
	kid, _ := token.Header["kid"].(string)
	found, err := t.keys.find(ctx, kid, token.Method.Alg())
	return jwt.VerificationKeySet{Keys: found}, err
}

// principal returns the principal that a token's claims describe. A missing claim gives the least
// access: no tenant, no department, clearance 0. There are two exceptions: without kb_ids all bases
// of the tenant are visible, and without tool_sets the settings decide which tools may be used.
func (t *Tokens) principal(c *claims, raw string) *Principal {
	// A later token of the same person gives the same caller, so that a session outlives its first
	// token.
	sum := sha256.Sum256([]byte("jwt\x00" + c.Issuer + "\x00" + c.tenant + "\x00" + c.Subject))
	may, admin := uses, t.cfg.AdminRole != "" && slices.Contains(c.roles, t.cfg.AdminRole)
	if admin {
		may = everything
	}
	return &Principal{
		Subject: c.Subject, Tenant: c.tenant, Departments: c.departments, Clearance: c.clearance,
		Bases: c.bases,
		Sets:  c.sets, Admin: admin, rights: may, chief: admin, Token: raw,
		caller: hex.EncodeToString(sum[:8]), roles: c.roles,
	}
}

// claims are the claims of a token that are used here.
type claims struct {
	jwt.RegisteredClaims
	tenant      string
	departments words
	clearance   int
	bases       words
	sets        words
	roles       words
}

// UnmarshalJSON implements json.Unmarshaler: it reads the claims by their exact names.
// encoding/json would take "Tenant_ID" for tenant_id as well, and an issuer that lets people choose
// claims protects only the real names. A claim of the wrong type is an error that makes the whole
// token invalid. Ignoring a clearance of "3" would give the token a meaning that its issuer did not
// intend.
func (c *claims) UnmarshalJSON(text []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	var department, departments, role, roles words
	for name, into := range map[string]any{
		"sub": &c.Subject, "iss": &c.Issuer, "aud": &c.Audience, "exp": &c.ExpiresAt,
		"nbf": &c.NotBefore, "iat": &c.IssuedAt,
		"tenant_id": &c.tenant, "clearance": &c.clearance, "kb_ids": &c.bases, "tool_sets": &c.sets,
		"department": &department, "departments": &departments, "role": &role, "roles": &roles,
	} {
		value, ok := all[name]
		if !ok {
			continue
		}
		// the library would accept "1700000000" as well
		if _, date := into.(**jwt.NumericDate); date && value[0] == '"' {
			return fmt.Errorf("claim %s: a number is wanted, not a text", name)
		}
		if err := json.Unmarshal(value, into); err != nil {
			return fmt.Errorf("claim %s: %w", name, err)
		}
	}
	c.departments, c.roles = append(department, departments...), append(role, roles...)
	return nil
}

// words is a claim that may be a text or a list of texts.
type words []string

// UnmarshalJSON implements json.Unmarshaler for a text or a list of texts. null gives nil, as if
// the claim were missing, while [] gives an empty list, which has another meaning for kb_ids. Any
// other JSON is an error.
func (w *words) UnmarshalJSON(text []byte) error {
	var one string
	if string(text) != "null" && json.Unmarshal(text, &one) == nil {
		*w = words{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(w))
}

// bearer returns the text after "Bearer" in a request's Authorization header, or "" if the header
// is missing or has another scheme. A JWT is accepted nowhere else: URLs are logged by every proxy
// on the way, so the query string is not read.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
