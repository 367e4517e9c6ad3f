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

// minKey is the shortest key that is taken, in bytes: whoever reaches the port may guess as long as
// they like. 16 digits of hex are 64 bits, too many to guess over HTTP.
const minKey = 16

// maxKeyFile bounds a file of keys, in bytes: a path that is mistyped may name anything.
const maxKeyFile = 1 << 20

// hashed is in front of a key of which only the SHA-256 sum is given, in hex.
const hashed = "sha256:"

// Keys are the keys that may ask, as their SHA-256 sums. The keys themselves are not kept in
// memory. They are made by machines and long, so a slow hash as for passwords would only cost each
// request its time.
type Keys []knownKey

// knownKey is one of them.
type knownKey struct {
	sum   [sha256.Size]byte
	label string // names its holder in audit lines and in created_by; empty: the sum does
}

// ParseKeys reads keys: each as it is, of 16 bytes or more without blanks, or as sha256: and the
// sum of it in hex; a label and a blank may stand in front. One that cannot be used opens nothing
// and is left out; odd says which, by its number, and never shows it: errors end up in logs and on
// screens. That none can be used is an error: a server that was meant to have keys must not be
// open.
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

// usable returns the keys if there are some, or none were given.
func usable(all Keys, odd []error) (Keys, []error, error) {
	if len(all) == 0 && len(odd) > 0 {
		return nil, nil, odd[0]
	}
	return all, odd, nil
}

// parseKey reads one key. No key can hold a blank, so a word in front of one is a label.
func parseKey(line string) (k knownKey, err error) {
	w := line
	if label, key, ok := strings.Cut(line, " "); ok && !strings.ContainsAny(strings.TrimSpace(key), " \t\r\n") {
		if !isLabel(label) {
			return k, fmt.Errorf("the label in front of a key has 1 to %d letters, digits or . _ @ -", longestLabel)
		}
		k.label, w = label, strings.TrimSpace(key)
	}
	text, isSum := strings.CutPrefix(w, hashed)
	switch {
	case isSum:
		if n, err := hex.Decode(k.sum[:], []byte(text)); err != nil || n != len(k.sum) {
			return k, errors.New("sha256: must be followed by 64 hexadecimal digits")
		}
		return k, nil
	case strings.ContainsAny(w, " \t\r\n"):
		return k, errors.New("a key may not contain spaces")
	case len(w) < minKey:
		return k, fmt.Errorf("a key needs at least %d characters; make one with \"openssl rand -hex 16\"", minKey)
	}
	k.sum = sha256.Sum256([]byte(w))
	return k, nil
}

// longestLabel is the longest label of a key, in bytes: it stands in a column of a table and in log
// lines.
const longestLabel = 64

// isLabel reports whether a word can name the holder of a key.
func isLabel(word string) bool {
	return word != "" && len(word) <= longestLabel && !strings.ContainsFunc(word, func(r rune) bool {
		return r != '.' && r != '_' && r != '@' && r != '-' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	})
}

// ReadKeys reads a file of keys, one a line as ParseKeys takes them; empty lines, and those that
// begin with #, are skipped. A file without a key is an error: it was meant to hold one.
func ReadKeys(path string) (all Keys, odd []error, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s does not exist; a file of keys has one a line, e.g. from openssl rand -hex 16", path)
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

// find looks for a key. It takes the same time for every key: all of them are compared, and each
// comparison takes constant time, so an answer's delay tells nothing about how much of a guess was
// right.
func (k Keys) find(key string) (label string, ok bool) {
	sum := sha256.Sum256([]byte(key))
	// No early return: how many keys were compared would show in the time.
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

// known returns who sent a request: the holder of a key, whom a JWT is about, or whoever is
// here where neither is asked for. With keys and JWTs, either lets in. Behind an open path it
// may be nobody.
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
		if p, err = g.Tokens.Verify(r.Context(), token); p != nil && (g.Keys.labels(p.Subject) || g.Admins.labels(p.Subject)) {
			p, err = nil, refused(fmt.Errorf("its sub is the label of a key"))
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

// holder returns who bears one of the keys, nil when the request bears none.
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
			return &Principal{Subject: cmp.Or(label, "key "+name), Admin: true, rights: may, chief: chief, caller: name}
		}
	}
	return nil
}

// digest names the holder of a key that has no label. The key is summed with a prefix: the plain
// sum is what a settings file holds as sha256:…, and would name the key.
func digest(key string) string {
	sum := sha256.Sum256(append([]byte("principal "), key...))
	return hex.EncodeToString(sum[:8])
}

// scraper returns who bears one of the keys that open what is scraped, nil when the request bears
// none.
func (g *Guard) scraper(r *http.Request) *Principal {
	for _, key := range keysOf(r) {
		if label, ok := g.Scrapers.find(key); ok {
			return &Principal{Subject: cmp.Or(label, "scraper"), caller: digest(key), scrapes: true}
		}
	}
	return nil
}

// labels reports whether a name is the label of a key. No JWT may be about it, since the log
// and created_by could not tell the two.
func (k Keys) labels(name string) bool {
	return slices.ContainsFunc(k, func(known knownKey) bool { return known.label == name })
}

// keyHeaders are those that may hold a key: OpenAI's, Azure's and Anthropic's. No query parameter
// is one, since URLs are logged by every proxy on the way; MCP forbids tokens there.
var keyHeaders = []string{"Authorization", "Api-Key", "X-Api-Key"}

// keysOf returns the keys that a request bears: after "Bearer", as the password of "Basic", or
// alone in a header of their own. Basic is for browsers, which can ask their user for nothing else;
// the user's name in it does not count.
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
// one. A browser that shows pages (Accept: text/html) may ask its user: the trace view wants a key
// as well, and a browser can send none by itself. err is why a token is not believed; if the keys
// are not available, nothing is known of the token, which is not a reason to ask for another.
func (g *Guard) challenge(h http.Header, r *http.Request, err error) error {
	if err != nil && fault.From(err).Kind != fault.Unauthorized {
		return err
	}
	about := g.Resource.metadata(r)
	if err != nil {
		h.Add("WWW-Authenticate", `Bearer realm="toolnorm", error="invalid_token"`+about) // RFC 6750, section 3
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
		return refused(nil)
	}
	return fault.New(fault.Unauthorized, "missing or wrong API key; send Authorization: Bearer KEY")
}

// withoutKey returns the request without its keys, so that none can be logged or passed on to a
// model server. The request is copied, as net/http forbids a handler to change the one it got.
func withoutKey(r *http.Request) *http.Request {
	if !slices.ContainsFunc(keyHeaders, func(name string) bool { return r.Header.Get(name) != "" }) {
		return r
	}
	r = r.Clone(r.Context())
	for _, name := range keyHeaders {
		r.Header.Del(name)
	}
	return r
}
