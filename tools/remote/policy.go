package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/propagation"
)

// largestAnswer is how many bytes an answer of a server may have, an event of its stream, a line of
// its command, and a list in all its pages. A list of a thousand tools with long schemas is a
// fortieth of it. It is far above what is passed on of a result, since what breaks this bound ends
// the connection, and with it other calls.
const largestAnswer = 32 << 20

// client returns an HTTP client for this server only: it sends the server's headers itself, refuses
// every request to another origin, whether a redirect or the server's own stream names it, and
// decides by the address that is dialled, not by what a URL looks like, since names can mean
// another address by the time of the connection. So a key in a header cannot be led elsewhere, and
// a name that is rebound to 169.254.169.254 reaches nothing.
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

// pinned sends requests to the origin of one entry only. It sees each request last, after redirects
// and whatever mcp-go does, so it cannot be bypassed.
type pinned struct {
	entry Entry
	next  http.RoundTripper
}

// RoundTrip refuses requests to other origins, adds the entry's headers, and bounds the answer. The
// headers are added here, after the check: net/http copies a request's own to where it is
// redirected, and leaves out only a few that it knows, as Authorization. An event stream is bounded
// by its events: as a whole it may have any length.
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
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		body.unit = oneEvent
	}
	resp.Body = body
	return resp, nil
}

// sameOrigin reports whether two URLs name the same scheme, host and port, as a browser compares
// them: http://a and http://A:80 are the same, http://a and https://a are different.
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

// mayDial refuses addresses that the entry may not be at. It sees what names were resolved to, also
// behind a redirect. It is the dialer's Control, called between the choice of the address and the
// connection: a check of the name before that could be passed with one address, and the connection
// made to another.
func (e Entry) mayDial(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("the address %q is none", address)
	}
	return e.allows(at.Addr())
}

// allows returns an error if an entry may not be at an address. The error names the setting that
// would allow it, when there is one. Plain http is allowed inside, where few servers have a
// certificate; on the internet it would show the headers to all.
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

// prefixes reads a list of networks.
func prefixes(list ...string) (out []netip.Prefix) {
	for _, p := range list {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

var (
	// never are networks where no server of a user's is: what tells cloud machines their keys, and
	// what is not one machine. 169.254.169.254 and fd00:ec2::254 are AWS's and most others'
	// metadata, 100.100.100.200 is Alibaba's,
	// 168.63.129.16 Azure's.
	never = prefixes("169.254.0.0/16", "fe80::/10", "224.0.0.0/4", "ff00::/8", "0.0.0.0/8",
		"::/128", "255.255.255.255/32", "fd00:ec2::254/128", "100.100.100.200/32",
		"168.63.129.16/32")
	// near are the addresses that are not on the internet: those of this machine and of the local
	// network, and those reserved for tests. 100.64.0.0/10 is used between carriers and their
	// customers, and by Tailscale.
	near = prefixes("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
		"100.64.0.0/10", "fc00::/7", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "fec0::/10")
	// carriers are networks of IPv6 with an IPv4 address inside, and the byte where it begins:
	// NAT64, 6to4, and the old compatible form. 64:ff9b::a9fe:a9fe is 169.254.169.254 to a network
	// that translates.
	carriers = []struct {
		net netip.Prefix
		at  int
	}{{netip.MustParsePrefix("64:ff9b::/96"), 12}, {netip.MustParsePrefix("2002::/16"), 2},
		{netip.MustParsePrefix("::/96"), 12}}
)

// plain returns the address that an address means: without a zone, and as IPv4 where IPv6 only
// carries it. All checks go by it, since ::ffff:169.254.169.254 reaches what 169.254.169.254 does.
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

// in reports whether an address is in one of some networks. There are few, so it tries them all.
func in(nets []netip.Prefix, ip netip.Addr) bool {
	for _, n := range nets {
		if n.Contains(ip) {
			return true
		}
	}
	return false
}

// alwaysRefused returns the reason why no server may be at an address, even one of the user's own
// file: a mistake in mcp.json must not make a cloud's keys the answer of a tool.
func alwaysRefused(ip netip.Addr) error {
	if in(never, plain(ip)) {
		return fmt.Errorf("no MCP server may be at %s", ip)
	}
	return nil
}

// inside reports whether an address is not on the internet.
func inside(ip netip.Addr) bool { return in(near, plain(ip)) }

// resolves checks early whether a name means addresses that an entry may not have; the connection
// checks again. It is for the person who adds a server, who would otherwise only find a server that
// never connects. An unknown name is not an error: the server's machine may be off.
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
