package ollama

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ollama/ollama/api"
)

// ParseHosts returns the base URLs of one host, or of several with commas between them. Each host
// is read by ParseHost. It returns an error if a host is invalid, empty after a comma, or listed
// twice.
func ParseHosts(s string) (bases []string, err error) {
	for one := range strings.SplitSeq(s, ",") {
		base, err := ParseHost(one)
		switch {
		case err != nil:
			return nil, err
		case len(bases) > 0 && strings.TrimSpace(one) == "":
			return nil, fmt.Errorf("ollama host %q: there is nothing behind a comma", s)
		case slices.Contains(bases, base):
			return nil, fmt.Errorf("ollama host %q: %s is there twice", s, base)
		}
		bases = append(bases, base)
	}
	return bases, nil
}

// ParseHost returns the base URL that a client dials, without a slash at its end, for any spelling
// that Ollama accepts in OLLAMA_HOST. Empty means http://127.0.0.1:11434. A missing port is 11434,
// but 80 or 443 after http:// or https://. A port that is not a number up to 65535 counts as
// missing, as in Ollama. An address that only a server can use (0.0.0.0, ::, none) becomes the
// loopback one, because the variable is usually set for the server, and its clients read it too.
// Any other scheme, user information or a blank in the host is an error.
func ParseHost(s string) (string, error) {
	s = strings.Trim(strings.TrimSpace(s), "\"'")
	scheme, rest, port, err := cutScheme(strings.TrimSpace(s))
	if err != nil {
		return "", fmt.Errorf("ollama host %q: %w", s, err)
	}
	hostport, path, _ := strings.Cut(rest, "/")
	host := hostport
	// Without a port this fails, and the whole text is the host: "localhost", "[::1]".
	if h, p, err := net.SplitHostPort(hostport); err == nil {
		host = h
		if n, err := strconv.ParseUint(p, 10, 16); err == nil {
			port = strconv.FormatUint(n, 10)
		}
	}
	if strings.Contains(host, "[") != strings.Contains(host, "]") {
		return "", fmt.Errorf("ollama host %q: a bracket of the address is missing", s)
	}
	host = dialable(strings.Trim(host, "[]"))
	if strings.ContainsAny(host, " \t@?#\"") {
		return "", fmt.Errorf("ollama host %q: %q is no host name or address", s, host)
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port),
		Path: strings.TrimRight(path, "/")}
	return u.String(), nil
}

// cutScheme splits s into its scheme and the rest, and returns the default port of the scheme.
// Without a scheme it is http, but https for "ollama.com", as in Ollama's own client. cutScheme
// returns an error for any scheme but http and https.
func cutScheme(s string) (scheme, rest, port string, err error) {
	scheme, rest, ok := strings.Cut(s, "://")
	switch {
	case s == "ollama.com":
		return "https", s, "443", nil
	case !ok:
		return "http", s, "11434", nil
	case scheme == "http":
		return scheme, rest, "80", nil
	case scheme == "https":
		return scheme, rest, "443", nil
	}
	return "", "", "", fmt.Errorf("the scheme must be http or https, not %q", scheme)
}

// dialable returns host, or a loopback address for a host on which a server can only listen. For
// example, OLLAMA_HOST=0.0.0.0 opens a server to other machines.
func dialable(host string) string {
	ip := net.ParseIP(host)
	switch {
	case host == "", ip != nil && ip.To4() != nil && ip.IsUnspecified():
		return "127.0.0.1"
	case ip != nil && ip.IsUnspecified():
		return "::1"
	}
	return host
}

// Older reports whether the version a is older than the version b. It compares only their numbers,
// so 0.30.0-rc1 is the same as 0.30.0.
func Older(a, b string) bool {
	x, y := VersionNumbers(a), VersionNumbers(b)
	return slices.Compare(x[:], y[:]) < 0
}

// VersionNumbers returns the three numbers of a version. All of them are 0 for a version without
// numbers, and for "0.0.0", the version of a server that was built without one. Callers that
// compare must decide what such a version means.
func VersionNumbers(version string) (n [3]int) {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	for i, part := range strings.SplitN(version, ".", 3) {
		n[i], _ = strconv.Atoi(part) // a part that is not a number counts as 0
	}
	return n
}

// Parser returns the name of the parser that a server uses for the model's calls, or "" if it uses
// only the general one. Servers before 0.30 name the parser only in the Modelfile, and never that
// of gpt-oss.
func Parser(show *api.ShowResponse) string {
	if show.Parser != "" {
		return show.Parser
	}
	for line := range strings.Lines(show.Modelfile) {
		if name, ok := strings.CutPrefix(line, "PARSER "); ok {
			return strings.TrimSpace(name)
		}
	}
	if family := show.Details.Family; family == "gptoss" || family == "gpt-oss" {
		return "harmony"
	}
	return ""
}
