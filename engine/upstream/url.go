package upstream

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Kinds of model server.
const (
	KindOllama = "ollama" // speaks Ollama's native API
	KindOpenAI = "openai" // speaks OpenAI's API, or an imitation of it
)

// Kinds are the kinds of model servers.
var Kinds = []string{KindOllama, KindOpenAI}

// CheckKind returns an error for a name that is not one of Kinds.
func CheckKind(kind string) error {
	if slices.Contains(Kinds, kind) {
		return nil
	}
	return fmt.Errorf("%q is not one of %s", kind, strings.Join(Kinds, ", "))
}

// ParseURL returns the kind and the base URL of a model server. The parameter s is http://HOST:PORT
// or https://HOST:PORT, with or without a path, or HOST:PORT. A kind may be put before it, as in
// openai+http://…. Without one the kind is KindOpenAI if the path ends in /v1, which only OpenAI's
// API has, and empty otherwise. The base has no slash at its end. Anything else is an error, which
// contains no password, since it is logged.
func ParseURL(s string) (kind, base string, err error) {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(s), "://")
	if !ok {
		scheme, rest = "http", scheme
	}
	if before, after, ok := strings.Cut(scheme, "+"); ok {
		kind, scheme = before, after
	}
	if kind != "" {
		if err := CheckKind(kind); err != nil {
			return "", "", fmt.Errorf("in front of the +: %w", err)
		}
	}
	if scheme != "http" && scheme != "https" {
		return "", "", fmt.Errorf("the scheme must be http or https, not %q", scheme)
	}
	u, err := url.Parse(scheme + "://" + rest)
	switch {
	case err != nil:
		return "", "", errors.New("it is no URL")
	case u.User != nil:
		return "", "", errors.New("a URL may not hold a password; put the key into the environment")
	case u.Hostname() == "":
		return "", "", errors.New("it names no host")
	case u.RawQuery != "" || u.Fragment != "":
		return "", "", errors.New("it may not have a query or a fragment")
	}
	base = scheme + "://" + u.Host + strings.TrimRight(u.EscapedPath(), "/")
	if kind == "" && strings.HasSuffix(base, "/v1") {
		kind = KindOpenAI
	}
	return kind, base, nil
}

// ParseURLs returns the kind and the base URLs of one server, or of several with commas between
// them, which form a pool. If one of them names a kind, it is the kind of all. It returns an error
// if a URL is invalid, or if two are equal or name different kinds.
func ParseURLs(s string) (kind string, bases []string, err error) {
	for one := range strings.SplitSeq(s, ",") {
		k, base, err := ParseURL(one)
		switch {
		case err != nil:
			return "", nil, err
		case k != "" && kind != "" && k != kind:
			return "", nil, fmt.Errorf(
				"%s is of kind %s, and another server of the pool of kind %s: give each kind a name of its own", base, k, kind)
		case slices.Contains(bases, base):
			return "", nil, fmt.Errorf("%s is there twice", base)
		}
		if k != "" {
			kind = k
		}
		bases = append(bases, base)
	}
	return kind, bases, nil
}
