package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/propagation"
)

// largestAnswer is the largest size in bytes of a server's answer, of an event of its stream, of a
// line of its command, and of a list with all its pages. A list of a thousand tools with long
// schemas is a fortieth of this. The bound is far above what is passed on of a result, since
// exceeding it ends the connection, and with it other calls.
const largestAnswer = 32 << 20

// client returns an HTTP client for this server only, and a function that frees its connections.
// The client sends the server's headers itself. It refuses every request to another origin, whether
// a redirect or the server's own stream names it, so that a key in a header cannot be sent
// elsewhere. At each connection it checks the address that is dialled, and not the URL, since a
// name may have another address by then. So a name that is rebound to 169.254.169.254 reaches
// nothing.
func (e Entry) client() (*http.Client, func()) {
	// 5 s to connect is long inside a network, and short enough for two attempts within
	// attemptTime.
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second, Control: e.mayDial}
	t := &http.Transport{ // no Proxy: the addresses that it dials could not be checked
		DialContext: dialer.DialContext, TLSHandshakeTimeout: 5 * time.Second,
		IdleConnTimeout:     time.Minute,
		MaxIdleConnsPerHost: 8, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
	}
	c := &http.Client{Transport: &pinned{entry: e, next: t},
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			// Redirects within the origin are followed (/mcp to /mcp/); three are plenty for that.
			if len(via) > 3 {
				return errors.New("redirected more than three times")
			}
			return nil
		}}
	return c, t.CloseIdleConnections
}

// pinned is an http.RoundTripper that sends requests only to the origin of one entry. It sees each
// request last, after redirects and whatever mcp-go does, so it cannot be bypassed.
type pinned struct {
	entry Entry
	next  http.RoundTripper
}

// RoundTrip sends a request with the entry's headers to the entry's server. It returns an error for
// another origin, or if the user's sign-in lacks rights. It adds the headers only after that check,
// because net/http would copy headers, except for a few such as Authorization, to the target of a
// redirect. The size of the answer, or of each event in an event stream, is bounded.
func (p *pinned) RoundTrip(r *http.Request) (*http.Response, error) {
	if !sameOrigin(p.entry.URL, r.URL.String()) {
		return nil, fmt.Errorf("the server names %s://%s, which is not where it is registered",
			r.URL.Scheme, r.URL.Host)
	}
	// mcp-go limits a server's question to 30 s, and would send a later answer with a context that
	// has ended.
	if ctx := r.Context(); errors.Is(ctx.Err(), context.DeadlineExceeded) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTime)
		defer cancel()
		r = r.WithContext(ctx)
	}
	// A RoundTripper must not change the request that it gets.
	r = r.Clone(r.Context())
	signed := ""
	if p.entry.account != nil {
		if signed = p.entry.account.header(r.Context()); signed != "" {
			r.Header.Set("Authorization", signed)
		}
	}
	for name, value := range p.entry.Headers {
		r.Header.Set(name, value)
	}
	// the caller's trace continues there
	propagation.TraceContext{}.Inject(r.Context(), propagation.HeaderCarrier(r.Header))
	resp, err := p.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	challenge := strings.Join(resp.Header.Values("WWW-Authenticate"), ", ")
	switch {
	case signed == "":
	case resp.StatusCode == http.StatusUnauthorized:
		p.entry.account.refused(signed)
	case resp.StatusCode == http.StatusForbidden &&
		strings.Contains(challenge, "insufficient_scope"):
		p.entry.account.lacks(challenge)
		resp.Body.Close()
		return nil, forbidden("the sign-in to " + p.entry.Name +
			" may too little for that: sign in again, on the page MCP servers of /admin or by toolnorm mcp login " +
			p.entry.Name)
	}
	body := &bounded{ReadCloser: resp.Body}
	in := bufio.NewReader(body)
	kind := mediaType(resp, in)
	resp.Header.Set("Content-Type", kind)
	if strings.HasPrefix(strings.ToLower(kind), "text/event-stream") {
		body.unit = oneEvent
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{newPlainer(in, body.unit), body}
	return resp, nil
}

// mediaType returns the media type of an answer, whose body is in. Programs that do not name it
// send JSON or events without a type or as another one; net/http itself calls JSON text/plain. So
// the beginning of an answer to a message decides, unless it has a type that mcp-go reads.
func mediaType(resp *http.Response, in *bufio.Reader) string {
	kind := resp.Header.Get("Content-Type")
	known, _, _ := mime.ParseMediaType(kind)
	if resp.Request.Method != http.MethodPost || resp.StatusCode != http.StatusOK ||
		known == "application/json" || known == "text/event-stream" {
		return kind
	}
	begin, _ := in.Peek(len("event:"))
	switch {
	case bytes.HasPrefix(begin, []byte("{")), bytes.HasPrefix(begin, []byte("[")):
		return "application/json"
	case eventBegin.Match(begin):
		return "text/event-stream"
	}
	return kind
}

// eventBegin matches the beginning of an event: one of its fields, or a comment.
var eventBegin = regexp.MustCompile(`^(data|event|id|retry|):`)

// sameOrigin reports whether two URLs have the same scheme, host and port, compared as a browser
// does: http://a and http://A:80 are the same, http://a and https://a are different. It returns
// false for a URL that cannot be parsed.
func sameOrigin(a, b string) bool {
	u, errA := url.Parse(a)
	v, errB := url.Parse(b)
	return errA == nil && errB == nil && u.Scheme == v.Scheme &&
		strings.EqualFold(u.Hostname(), v.Hostname()) && port(u) == port(v)
}

// port returns a URL's port, or the default port of its scheme.
func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// mayDial returns an error if the entry's server may not have this address. It is the Control
// function of a net.Dialer, which is called when a name has been resolved and before the connection
// is made, also after a redirect. An earlier check could see another address than the one that is
// connected to.
func (e Entry) mayDial(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("the address %q is none", address)
	}
	return e.allows(at.Addr())
}

// allows returns an error if the entry's server may not have the address ip. The error names the
// setting that would allow it, if there is one. Plain http is allowed inside the local network,
// where few servers have a certificate; on the internet it would show the headers to everyone.
func (e Entry) allows(ip netip.Addr) error {
	if err := alwaysRefused(ip); err != nil {
		return err
	}
	// Private is nil where the file does not set it: the user has written the address there.
	if inside(ip) {
		if e.Private != nil && !*e.Private {
			return fmt.Errorf(
				"%s is a private address, at which a server may only be that mcp.json says \"private\": true of", ip)
		}
		return nil
	}
	if strings.HasPrefix(e.URL, "http:") && !e.Insecure {
		return fmt.Errorf(
			"%s is a public address: use https, or say \"insecure\": true in mcp.json", ip)
	}
	return nil
}

// prefixes parses a list of networks. It panics if one is not valid.
func prefixes(list ...string) (out []netip.Prefix) {
	for _, p := range list {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

var (
	// never lists networks where no user's server can be: services that give cloud machines their
	// keys, and addresses that are not one machine. 169.254.169.254 and fd00:ec2::254 are the
	// metadata service of AWS and most others, 100.100.100.200 is Alibaba's, 168.63.129.16 is
	// Azure's.
	never = prefixes("169.254.0.0/16", "fe80::/10", "224.0.0.0/4", "ff00::/8", "0.0.0.0/8",
		"::/128", "255.255.255.255/32", "fd00:ec2::254/128", "100.100.100.200/32",
		"168.63.129.16/32")
	// near lists networks that are not on the internet: those of this machine and of the local
	// network, and those reserved for tests. 100.64.0.0/10 is used between carriers and their
	// customers, and by Tailscale.
	near = prefixes("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
		"100.64.0.0/10", "fc00::/7", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "fec0::/10")
	// carriers lists IPv6 networks whose addresses contain an IPv4 address, and the byte where it
	// begins: NAT64, 6to4, and the old compatible form. For example, 64:ff9b::a9fe:a9fe means
	// 169.254.169.254 to a network that translates.
	carriers = []struct {
		net netip.Prefix
		at  int
	}{{netip.MustParsePrefix("64:ff9b::/96"), 12}, {netip.MustParsePrefix("2002::/16"), 2},
		{netip.MustParsePrefix("::/96"), 12}}
)

// plain returns the address that ip really reaches: without a zone, and as IPv4 if the IPv6 address
// only contains one (see carriers). All checks use it, since ::ffff:169.254.169.254 reaches the
// same as 169.254.169.254.
func plain(ip netip.Addr) netip.Addr {
	ip = ip.WithZone("").Unmap()
	if b := ip.As16(); ip.Is6() && ip != netip.IPv6Loopback() && !ip.IsUnspecified() {
		for _, c := range carriers {
			if c.net.Contains(ip) {
				return netip.AddrFrom4([4]byte(b[c.at : c.at+4]))
			}
		}
	}
	return ip
}

// in reports whether an address is in one of the given networks.
func in(nets []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(nets, func(n netip.Prefix) bool { return n.Contains(ip) })
}

// alwaysRefused returns an error if no server may have this address, not even a server in the
// user's own file. By a mistake in mcp.json a tool could otherwise return the keys of a cloud
// machine.
func alwaysRefused(ip netip.Addr) error {
	if in(never, plain(ip)) {
		return fmt.Errorf("no MCP server may be at %s", ip)
	}
	return nil
}

// inside reports whether an address belongs to this machine or a local network, and so is not on
// the internet.
func inside(ip netip.Addr) bool { return in(near, plain(ip)) }

// resolves returns an error if the host of the entry's URL has an address to which the entry may
// not connect (see allows). Each connection checks the address again. This early check is for the
// person who adds a server: without it, they would only see that the server never connects. An
// unknown name is not an error, because the server's machine may be off.
func (e Entry) resolves(ctx context.Context) error {
	u, err := url.Parse(e.URL)
	if err != nil {
		return err
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return nil // it may come up later
	}
	for _, ip := range ips {
		if err := e.allows(ip); err != nil {
			return err
		}
	}
	return nil
}
