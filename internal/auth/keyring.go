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

// How keys are kept. A key server answers within milliseconds, and one that is down must not hold
// up those whose keys are known.
const (
	fetchWait  = 5 * time.Second  // the longest fetch
	fetchAgain = 10 * time.Second // between two fetches: tokens with made-up key ids must not become requests of ours
	keysFresh  = 10 * time.Minute // after which keys are fetched anew, while the old ones go on: a revoked key is gone soon
	keysStale  = time.Hour        // after which they are not believed any more: their server has been down for so long
	largestSet = 1 << 20          // bytes of a file or an answer
)

// errNoKeys says that the keys are not available now.
var errNoKeys = errors.New("the keys are not available")

// keyring keeps the public keys of an issuer, from a file or a URL.
type keyring struct {
	where  string
	client *http.Client // nil: where is a file
	now    func() time.Time

	mu      sync.Mutex
	keys    []publicKey
	got     time.Time     // when they were read last
	tried   time.Time     // when that was tried last
	failure error         // of the last try
	running chan struct{} // closed when the fetch that runs now is done; nil: none runs
}

// newKeyring makes a keyring. A file must be readable now; a URL is asked later.
func newKeyring(where string, now func() time.Time) (*keyring, error) {
	k := &keyring{where: where, now: now}
	if strings.Contains(where, "://") {
		u, err := url.Parse(where)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
			return nil, errors.New("the URL of the JWT keys must be https://HOST/PATH, or http:// for a server of your own")
		}
		k.client = &http.Client{Timeout: fetchWait, CheckRedirect: func(*http.Request, []*http.Request) error {
			// Whoever can redirect the request would choose the keys; a server of keys has no need
			// to.
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

// find returns the keys that a token may be signed with: those of its id and algorithm. An id that
// is unknown may be that of a new key, so the keys are fetched once more before it is refused. No
// key is an empty list; keys that are not available are errNoKeys.
func (k *keyring) find(ctx context.Context, kid, alg string) ([]verificationKey, error) {
	// Most tokens are answered here: their key is known, and a fetch that is due runs beside them.
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

// look finds keys among those that are here, says whether all of them are too old to be believed,
// and when there may be others. It starts a fetch when one is due, and waits for none.
func (k *keyring) look(kid, alg string) (found []verificationKey, old bool, next <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range k.keys {
		if key.fits(kid, alg) {
			found = append(found, key.key)
		}
	}
	age := k.now().Sub(k.got)
	if k.running == nil && (len(found) == 0 || age > keysFresh) && k.now().Sub(k.tried) >= fetchAgain {
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
	// Nothing new will come: it was tried a moment ago.
	now := make(chan struct{})
	close(now)
	return found, age > keysStale, now
}

// refresh reads the keys. When it fails the old ones stay, until they are too old.
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

// read gets the text of the keys, of bounded size and in bounded time.
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

// readBounded reads all of r, or refuses it.
func readBounded(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, largestSet+1))
	if err == nil && len(text) > largestSet {
		err = fmt.Errorf("larger than %d bytes", largestSet)
	}
	return text, err
}
