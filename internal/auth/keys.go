package auth

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"unicode"

	"toolnorm/internal/fault"
)

// minKey is the length of the shortest accepted key, in bytes, because an attacker who reaches the
// port may guess for as long as they like. 16 hexadecimal digits are 64 bits, too many to guess
// over HTTP.
const minKey = 16

// maxKeyFile bounds a file of keys, in bytes, because a mistyped path may name any file.
const maxKeyFile = 1 << 20

// hashPrefix is what precedes the SHA-256 sum, in hex, of a key that is given as its sum.
const hashPrefix = "sha256:"

// Keys holds the SHA-256 sums of accepted keys. The keys themselves are not stored in memory. Keys
// are long and made by machines, so a slow hash as for passwords would only delay each request.
type Keys []knownKey

// knownKey is an accepted key.
type knownKey struct {
	sum   [sha256.Size]byte
	label string // names the holder in audit lines and in created_by; empty: a digest is used
}

// ParseKeys reads keys. Each word is the key itself, of 16 bytes or more without blanks, or
// "sha256:" and its sum in hex; a label and a blank may precede it. Unusable keys are left out, and
// the result odd has an error for each. The error gives the number of the key but never the key,
// because errors appear in logs and on screens. ParseKeys fails if there are words but no usable
// key: a server that was meant to have keys must not be open.
func ParseKeys(words []string) (all Keys, odd []error, err error) {
	for i, w := range words {
		k, wrong := parseKey(w)
		if wrong != nil {
			odd = append(odd, fmt.Errorf("key %d: %w", i+1, wrong))
			continue
		}
		all = append(all, k)
	}
	return usable(all, odd)
}

// usable returns its arguments unchanged. However, if there is no key and the list odd has errors,
// it returns the first of them as err.
func usable(all Keys, odd []error) (Keys, []error, error) {
	if len(all) == 0 && len(odd) > 0 {
		return nil, nil, odd[0]
	}
	return all, odd, nil
}

// parseKey reads one key, with a label if there is one. It fails if the key or the label is
// malformed. No key contains a blank, so a word before a blank is a label.
func parseKey(line string) (k knownKey, err error) {
	w := line
	if label, key, ok := strings.Cut(line, " "); ok && !strings.ContainsAny(strings.TrimSpace(key),
		" \t\r\n") {
		if !isLabel(label) {
			return k, fmt.Errorf(
				"the label in front of a key has 1 to %d letters, digits or . _ @ -", longestLabel)
		}
		k.label, w = label, strings.TrimSpace(key)
	}
	text, isSum := strings.CutPrefix(w, hashPrefix)
	switch {
	case isSum:
		if n, err := hex.Decode(k.sum[:], []byte(text)); err != nil || n != len(k.sum) {
			return k, errors.New("sha256: must be followed by 64 hexadecimal digits")
		}
		return k, nil
	case strings.ContainsAny(w, " \t\r\n"):
		return k, errors.New("a key may not contain spaces")
	case len(w) < minKey:
		return k, fmt.Errorf(
			"a key needs at least %d characters; make one with \"openssl rand -hex 16\"", minKey)
	}
	k.sum = sha256.Sum256([]byte(w))
	return k, nil
}

// longestLabel is the length of the longest label of a key, in bytes. Labels are written to a
// column of a table and to log lines.
const longestLabel = 64

// isLabel reports whether a word is a valid label for the holder of a key.
func isLabel(word string) bool {
	return word != "" && len(word) <= longestLabel &&
		!strings.ContainsFunc(word, func(r rune) bool {
			return r != '.' && r != '_' && r != '@' && r != '-' &&
				(r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
		})
}

// ReadKeys reads a file with one key on each line, in the form of ParseKeys; empty lines and lines
// that begin with # are skipped. It fails if the file cannot be read or has no usable key, because
// it was meant to contain one. Unusable lines are left out, with an error in the result odd for
// each.
func ReadKeys(path string) (all Keys, odd []error, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf(
			"%s does not exist; a file of keys has one a line, e.g. from openssl rand -hex 16",
			path)
	}
	if err != nil {
		return nil, nil, err
	}
	if info.Size() > maxKeyFile {
		return nil, nil, fmt.Errorf("%s: larger than %d bytes", path, maxKeyFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		k, err := parseKey(line)
		if err != nil {
			odd = append(odd, fmt.Errorf("%s, line %d: %w", path, n, err))
			continue
		}
		all = append(all, k)
	}
	if len(all)+len(odd) == 0 {
		return nil, nil, fmt.Errorf("%s: contains no key", path)
	}
	return usable(all, odd)
}

// find returns the label of a known key; ok is false if the key is unknown. It takes the same time
// for every key: all sums are compared, each in constant time, so that the delay does not reveal
// how much of a guess was right.
func (k Keys) find(key string) (label string, ok bool) {
	sum := sha256.Sum256([]byte(key))
	// No early return: the time would show how many keys were compared.
	at := -1
	for i, known := range k {
		if subtle.ConstantTimeCompare(sum[:], known.sum[:]) == 1 {
			at = i
		}
	}
	if at < 0 {
		return "", false
	}
	return k[at].label, true
}

// who returns the principal who sent a request, with the sets of tools and the rights that the
// settings grant. It fails if a credential is missing or wrong. It returns nil without an error if
// the request has none and the path needs none.
func (g *Guard) who(h http.Header, r *http.Request, need Need) (*Principal, error) {
	p, err := g.known(h, r, need)
	if p != nil {
		p.Sets = g.Sets.Of(p)
		g.Rights.Settle(p)
	}
	return p, err
}

// known returns the principal who sent a request: the holder of a key, the subject of a JWT, or the
// local user if no credential is required. If both keys and JWTs are configured, either is enough.
// It fails if the credential is missing or wrong. On an open path it returns nil without an error
// instead.
func (g *Guard) known(h http.Header, r *http.Request, need Need) (*Principal, error) {
	if g.Local != nil && g.Local(r) {
		return Local(), nil
	}
	p := g.holder(r)
	if p == nil && need == Scrape {
		p = g.scraper(r)
	}
	var err error
	if token := bearer(r); p == nil && g.Tokens != nil && token != "" {
		if p, err = g.Tokens.Verify(r.Context(), token); p != nil &&
			(g.Keys.labels(p.Subject) || g.Admins.labels(p.Subject)) {
			p, err = nil, rejection(fmt.Errorf("its sub is the label of a key"))
		}
	}
	switch {
	case p != nil:
		p.Here = Here(r, "") == nil
		return p, nil
	case need == Open:
		return nil, nil
	case len(g.Keys) > 0 || g.Tokens != nil:
		return nil, g.challenge(h, r, err)
	}
	p = Local()
	p.Here = Here(r, "") == nil
	if !p.Here || len(g.Admins) > 0 {
		p.rights = uses
	}
	return p, nil
}

// holder returns the principal for the key in a request, or nil if the request has no known key.
func (g *Guard) holder(r *http.Request) *Principal {
	for _, key := range keysOf(r) {
		label, chief := g.Admins.find(key)
		ok, may := chief, everything
		if !ok {
			if label, ok = g.Keys.find(key); len(g.Admins) > 0 {
				may = uses
			}
		}
		if ok {
			name := digest(key)
			return &Principal{Subject: cmp.Or(label, "key "+name), Admin: true, rights: may,
				chief: chief, caller: name}
		}
	}
	return nil
}

// digest returns a name for the holder of a key without a label. The key is hashed with a prefix,
// because its plain sum may be in a settings file as sha256:… and would identify the key.
func digest(key string) string {
	sum := sha256.Sum256(append([]byte("principal "), key...))
	return hex.EncodeToString(sum[:8])
}

// scraper returns the principal for a key in Guard.Scrapers, or nil if the request has none of
// these.
func (g *Guard) scraper(r *http.Request) *Principal {
	for _, key := range keysOf(r) {
		if label, ok := g.Scrapers.find(key); ok {
			return &Principal{Subject: cmp.Or(label, "scraper"), caller: digest(key), scrapes: true}
		}
	}
	return nil
}

// labels reports whether a name is the label of a key. No JWT may have such a name as its subject,
// because the log and created_by could not distinguish the two.
func (k Keys) labels(name string) bool {
	return slices.ContainsFunc(k, func(known knownKey) bool { return known.label == name })
}

// keyHeaders are the headers that may contain a key: OpenAI's, Azure's and Anthropic's. Query
// parameters are not read, because URLs are logged by every proxy on the way, and MCP forbids
// tokens in them.
var keyHeaders = []string{"Authorization", "Api-Key", "X-Api-Key"}

// keysOf returns the keys that a request carries, which may be empty: after "Bearer", as the
// password of "Basic", or alone in a header of their own. Basic is for browsers, which can only ask
// their user in this way; its user name is ignored.
func keysOf(r *http.Request) (all []string) {
	for _, name := range keyHeaders[1:] {
		all = append(all, r.Header.Get(name))
	}
	if _, password, ok := r.BasicAuth(); ok {
		all = append(all, password)
	}
	return append(all, bearer(r))
}

// challenge returns the error for a missing or wrong key or token, and sets headers that ask for
// one. The headers make a browser that shows pages (Accept: text/html) ask its user, because such a
// browser cannot send a key by itself. The argument err is the reason why a token was rejected. If
// the reason is that the token could not be checked, challenge returns err and sets no headers.
func (g *Guard) challenge(h http.Header, r *http.Request, err error) error {
	if err != nil && fault.From(err).Kind != fault.Unauthorized {
		return err
	}
	about := g.Resource.metadata(r)
	if err != nil {
		// RFC 6750, section 3
		h.Add("WWW-Authenticate", `Bearer realm="toolnorm", error="invalid_token"`+about)
	} else {
		h.Add("WWW-Authenticate", `Bearer realm="toolnorm"`+about)
	}
	if len(g.Keys)+len(g.Admins) > 0 && strings.Contains(r.Header.Get("Accept"), "text/html") {
		h.Add("WWW-Authenticate", `Basic realm="toolnorm: any name, the key as password"`)
	}
	switch {
	case err != nil:
		return err
	case g.Tokens != nil:
		return rejection(nil)
	}
	return fault.New(fault.Unauthorized, "missing or wrong API key; send Authorization: Bearer KEY")
}

// withoutKey returns the request without its keys, so that they cannot be logged or sent to a model
// server. The request is copied, because net/http forbids a handler to change its request.
func withoutKey(r *http.Request) *http.Request {
	if !slices.ContainsFunc(keyHeaders, func(name string) bool {
		return r.Header.Get(name) != ""
	}) {
		return r
	}
	r = r.Clone(r.Context())
	for _, name := range keyHeaders {
		r.Header.Del(name)
	}
	return r
}
