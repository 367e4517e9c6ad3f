package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// The times and sizes for caching keys. A key server answers within milliseconds, and a server that
// is down must not delay callers whose keys are known.
const (
	fetchWait = 5 * time.Second // the longest time that a fetch may take
	// the shortest time between two fetches, so that tokens with made-up key ids do not each cause
	// one
	fetchAgain = 10 * time.Second
	// the age at which keys are fetched again, while the old ones stay in use, so that a revoked
	// key soon disappears
	keysFresh = 10 * time.Minute
	// the age at which keys are no longer used, because their server has been down for so long
	keysStale  = time.Hour
	largestSet = 1 << 20 // the most bytes of a file or an answer
)

// errNoKeys is the error while the keys are not available.
var errNoKeys = errors.New("the keys are not available")

// keyring caches the public keys of an issuer, which come from a file or a URL.
type keyring struct {
	where  string
	client *http.Client // nil: where is the path of a file
	now    func() time.Time

	mu      sync.Mutex
	keys    []publicKey
	got     time.Time     // when the keys were last read successfully
	tried   time.Time     // when reading them was last tried
	failure error         // the error of the last try; nil: it succeeded
	running chan struct{} // closed when the current fetch is done; nil: no fetch is running
}

// newKeyring returns a keyring for the URL or file in where. A file is read at once, and newKeyring
// fails if it cannot be read. A URL is fetched later; newKeyring fails if the URL is not allowed.
func newKeyring(where string, now func() time.Time) (*keyring, error) {
	k := &keyring{where: where, now: now}
	if strings.Contains(where, "://") {
		u, err := url.Parse(where)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" ||
			u.User != nil {
			return nil, errors.New(
				"the URL of the JWT keys must be https://HOST/PATH, or http:// for a server of your own")
		}
		k.client = &http.Client{Timeout: fetchWait,
			CheckRedirect: func(*http.Request, []*http.Request) error {
				// An attacker who can redirect the request would choose the keys; a key server has
				// no need to redirect.
				return errors.New("redirects are not followed")
			}}
		return k, nil
	}
	k.refresh()
	if k.failure != nil {
		return nil, fmt.Errorf("JWT keys: %w", k.failure)
	}
	return k, nil
}

// find returns the keys that a token may be signed with, given its key id and algorithm. An unknown
// id may belong to a new key, so the keys are fetched once more before the token is rejected. It
// returns an empty list if no key fits, and errNoKeys if the keys are not available.
func (k *keyring) find(ctx context.Context, kid, alg string) ([]verificationKey, error) {
	// Most tokens end here: their key is known, and a due fetch runs in the background.
	found, old, next := k.look(kid, alg)
	if len(found) > 0 && !old {
		return found, nil
	}
	select {
	case <-next:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", errNoKeys, ctx.Err())
	}
	found, old, _ = k.look(kid, alg)
	if old {
		k.mu.Lock()
		defer k.mu.Unlock()
		return nil, fmt.Errorf("%w: %w", errNoKeys, k.failure)
	}
	return found, nil
}

// look returns those cached keys that have the given key id and algorithm. The result old reports
// whether the cached keys are too old to be used. The channel next is closed as soon as a later
// call of look can find other keys. look starts a fetch if one is due, and does not wait for it.
func (k *keyring) look(kid, alg string) (found []verificationKey, old bool, next <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range k.keys {
		if key.fits(kid, alg) {
			found = append(found, key.key)
		}
	}
	age := k.now().Sub(k.got)
	if k.running == nil && (len(found) == 0 || age > keysFresh) &&
		k.now().Sub(k.tried) >= fetchAgain {
		done := make(chan struct{})
		k.running, k.tried = done, k.now()
		go func() { // ends with the fetch, within fetchWait
			k.refresh()
			k.mu.Lock()
			k.running = nil
			k.mu.Unlock()
			close(done)
		}()
	}
	if k.running != nil {
		return found, age > keysStale, k.running
	}
	// No fetch is due, because the last one was a moment ago, so waiting would find nothing new.
	now := make(chan struct{})
	close(now)
	return found, age > keysStale, now
}

// refresh reads the keys. If that fails, the old keys stay until they are too old.
func (k *keyring) refresh() {
	text, err := k.read()
	var keys []publicKey
	if err == nil {
		keys, err = parsePublicKeys(text)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failure = err; err == nil {
		k.keys, k.got = keys, k.now()
	}
}

// read returns the text of the keys. It fails if the file or the server cannot be read, or the text
// is larger than largestSet.
func (k *keyring) read() ([]byte, error) {
	if k.client == nil {
		f, err := os.Open(k.where)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readBounded(f)
	}
	resp, err := k.client.Get(k.where)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the key server answered %s", resp.Status)
	}
	return readBounded(resp.Body)
}

// readBounded returns all of r, or an error if that is more than largestSet bytes.
func readBounded(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, largestSet+1))
	if err == nil && len(text) > largestSet {
		err = fmt.Errorf("larger than %d bytes", largestSet)
	}
	return text, err
}
