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

// minKey is the length of the shortest key that is accepted, in bytes: an attacker who reaches the
// port may guess for as long as they like. 16 digits of hex are 64 bits, too many to guess over
// HTTP.
const minKey = 16

// maxKeyFile bounds a file of keys, in bytes: a mistyped path may name any file.
const maxKeyFile = 1 << 20

// hashPrefix is the prefix of a key that is given as its SHA-256 sum in hex.
const hashPrefix = "sha256:"

// Keys holds the SHA-256 sums of accepted keys. The keys themselves are not kept in memory. Keys
// are long and made by machines, so a slow hash as for passwords would only slow down each request.
type Keys []knownKey

// knownKey is an accepted key.
type knownKey struct {
	sum   [sha256.Size]byte
	label string // names the holder in audit lines and in created_by; empty: the sum is used
}

// ParseKeys reads keys. Each is the key itself, of 16 bytes or more without blanks, or sha256: and
// its sum in hex; a label and a blank may precede it. Keys that cannot be used are left out, with
// an error in odd that gives the number of the key but never the key: errors end up in logs and on
// screens. It fails if none of the keys can be used: a server that was meant to have keys must not
// be open.
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

// usable returns its arguments, or the first error in odd if there is an error but no key.
func usable(all Keys, odd []error) (Keys, []error, error) {
	if len(all) == 0 && len(odd) > 0 {
		return nil, nil, odd[0]
	}
	return all, odd, nil
}

// parseKey reads one key. No key contains a blank, so a word before a blank is a label.
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

// longestLabel is the length of the longest label of a key, in bytes: labels are written to a
// column of a table and to log lines.
const longestLabel = 64

// isLabel reports whether a word can name the holder of a key.
func isLabel(word string) bool {
	return word != "" && len(word) <= longestLabel &&
		!strings.ContainsFunc(word, func(r rune) bool {
			return r != '.' && r != '_' && r != '@' && r != '-' &&
				(r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
		})
}

// ReadKeys reads a file with a key in each line, in the form of ParseKeys; empty lines and lines
// that begin with # are skipped. A file without a key is an error: it was meant to contain one.
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

// find looks for a key and returns its label. It takes the same time for every key: all sums are
// compared, each in constant time, so the delay of an answer does not reveal how much of a guess
// was right.
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

// who returns who sent a request, with the sets of tools and the rights that the settings grant.
func (g *Guard) who(h http.Header, r *http.Request, need Need) (*Principal, error) {
	p, err := g.known(h, r, need)
	if p != nil {
		p.Sets = g.Sets.Of(p)
		g.Rights.Settle(p)
	}
	return p, err
}

// known returns who sent a request: the holder of a key, the subject of a JWT, or the local user
// where no credential is required. If both keys and JWTs are configured, either is enough. On an
// open path it may return nil.
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

// holder returns the principal of the key in a request, or nil if the request carries no known key.
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

// digest returns a name for the holder of a key without a label. The key is hashed with a prefix:
// its plain sum may be in a settings file as sha256:…, and would identify the key.
func digest(key string) string {
	sum := sha256.Sum256(append([]byte("principal "), key...))
	return hex.EncodeToString(sum[:8])
}

// scraper returns the principal of a key in Guard.Scrapers, or nil if the request carries none of
// them.
func (g *Guard) scraper(r *http.Request) *Principal {
	for _, key := range keysOf(r) {
		if label, ok := g.Scrapers.find(key); ok {
			return &Principal{Subject: cmp.Or(label, "scraper"), caller: digest(key), scrapes: true}
		}
	}
	return nil
}

// labels reports whether a name is the label of a key. No JWT may have such a name as its subject,
// since the log and created_by could not tell the two apart.
func (k Keys) labels(name string) bool {
	return slices.ContainsFunc(k, func(known knownKey) bool { return known.label == name })
}

// keyHeaders are the headers that may hold a key: OpenAI's, Azure's and Anthropic's. Query
// parameters are not read, since URLs are logged by every proxy on the way; MCP forbids tokens
// there.
var keyHeaders = []string{"Authorization", "Api-Key", "X-Api-Key"}

// keysOf returns the keys that a request carries: after "Bearer", as the password of "Basic", or
// alone in a header of their own. Basic is for browsers, which cannot ask their user for anything
// else; the user name in it is ignored.
func keysOf(r *http.Request) (all []string) {
	for _, name := range keyHeaders[1:] {
		all = append(all, r.Header.Get(name))
	}
	if _, password, ok := r.BasicAuth(); ok {
		all = append(all, password)
	}
	return append(all, bearer(r))
}

// challenge returns the error of a missing or wrong key or token, and sets headers that ask for
// one. A browser that shows pages (Accept: text/html) is told to ask its user: the trace view
// requires a key too, and a browser cannot send one by itself. err is the reason why a token was
// rejected. If the keys are not available, the token could not be checked, and no other one is
// asked for.
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

// withoutKey returns the request without its keys, so that none can be logged or passed on to a
// model server. The request is copied, as net/http forbids a handler to change the one it got.
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
