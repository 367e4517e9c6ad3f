package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"toolnorm/internal/fault"
)

// minKey is the shortest key that is taken, in bytes: whoever reaches the port may guess as long as they like. 16
// digits of hex are 64 bits, too many to guess over HTTP.
const minKey = 16

// maxKeyFile bounds a file of keys, in bytes: a path that is mistyped may name anything.
const maxKeyFile = 1 << 20

// hashed is in front of a key of which only the SHA-256 sum is given, in hex.
const hashed = "sha256:"

// Keys are the keys that may ask, as their SHA-256 sums. The keys themselves are not kept in memory. They are made by
// machines and long, so a slow hash as for passwords would only cost each request its time.
type Keys [][sha256.Size]byte

// ParseKeys reads keys: each as it is, of 16 bytes or more without blanks, or as sha256: and the sum of it in hex. An
// error says which one is wrong by its number and never shows it: errors end up in logs and on screens.
func ParseKeys(words []string) (Keys, error) {
	var all Keys
	for i, w := range words {
		sum, err := parseKey(w)
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
		all = append(all, sum)
	}
	return all, nil
}

// parseKey reads one key.
func parseKey(w string) (sum [sha256.Size]byte, err error) {
	text, isSum := strings.CutPrefix(w, hashed)
	switch {
	case isSum:
		if n, err := hex.Decode(sum[:], []byte(text)); err != nil || n != len(sum) {
			return sum, errors.New("sha256: must be followed by 64 hexadecimal digits")
		}
		return sum, nil
	case strings.ContainsAny(w, " \t\r\n"):
		return sum, errors.New("a key may not contain spaces")
	case len(w) < minKey:
		return sum, fmt.Errorf("a key needs at least %d characters; make one with \"openssl rand -hex 16\"", minKey)
	}
	return sha256.Sum256([]byte(w)), nil
}

// ReadKeys reads a file of keys, one a line as ParseKeys takes them; empty lines, and those that begin with #, are
// skipped. A file without a key is an error: it was meant to hold one.
func ReadKeys(path string) (Keys, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxKeyFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", path, maxKeyFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all Keys
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		sum, err := parseKey(line)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, n, err)
		}
		all = append(all, sum)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: contains no key", path)
	}
	return all, nil
}

// has says whether key is one of them. It takes the same time for every key: all of them are compared, and each
// comparison takes constant time, so an answer's delay tells nothing about how much of a guess was right.
func (k Keys) has(key string) bool {
	sum := sha256.Sum256([]byte(key))
	// No early return: how many keys were compared would show in the time.
	found := 0
	for _, known := range k {
		found |= subtle.ConstantTimeCompare(sum[:], known[:])
	}
	return found == 1
}

// named is a request that knows who asks: the holder of a key, or whoever is here where no key is asked for. Behind an
// open path it may be nobody.
func (g *Guard) named(r *http.Request) *http.Request {
	p := g.holder(r)
	if p == nil && len(g.Keys) == 0 {
		p = Local()
	}
	if p == nil {
		return r
	}
	return r.WithContext(WithPrincipal(r.Context(), p))
}

// holder is who bears one of the keys, nil when the request bears none.
func (g *Guard) holder(r *http.Request) *Principal {
	for _, key := range keysOf(r) {
		if g.Keys.has(key) {
			// Summed again with a prefix: the plain sum is what a settings file holds as sha256:…, and would name the
			// key.
			twice := sha256.Sum256(append([]byte("principal "), key...))
			name := hex.EncodeToString(twice[:8])
			return &Principal{Subject: "key " + name, Admin: true, caller: name}
		}
	}
	return nil
}

// keyHeaders are those that may hold a key: OpenAI's, Azure's and Anthropic's. No query parameter is one, since URLs
// are logged by every proxy on the way; MCP forbids tokens there.
var keyHeaders = []string{"Authorization", "Api-Key", "X-Api-Key"}

// keysOf are the keys that a request bears: behind "Bearer", as the password of "Basic", or alone in a header of their
// own. Basic is for browsers, which can ask their user for nothing else; the user's name in it does not count.
func keysOf(r *http.Request) (all []string) {
	for _, name := range keyHeaders[1:] {
		all = append(all, r.Header.Get(name))
	}
	if _, password, ok := r.BasicAuth(); ok {
		all = append(all, password)
	}
	if scheme, key, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		all = append(all, strings.TrimSpace(key))
	}
	return all
}

// knows says whether a request may be answered as far as keys go.
func (g *Guard) knows(r *http.Request) bool {
	return len(g.Keys) == 0 || slices.Contains(g.Open, r.URL.Path) || slices.ContainsFunc(keysOf(r), g.Keys.has)
}

// challenge says that a key is missing or wrong, and to a browser that shows pages (Accept: text/html) that it may ask
// its user: the trace view wants a key as well, and a browser can send none by itself.
func (g *Guard) challenge(h http.Header, r *http.Request) error {
	h.Add("WWW-Authenticate", `Bearer realm="toolnorm"`)
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		h.Add("WWW-Authenticate", `Basic realm="toolnorm: any name, the key as password"`)
	}
	return fault.New(fault.Unauthorized, "missing or wrong API key; send Authorization: Bearer KEY")
}

// withoutKey is a request that holds no key any more, so that none can be logged or passed on to a model server. The
// request is copied, as net/http forbids a handler to change the one it got.
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
