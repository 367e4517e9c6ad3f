package auth

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"toolnorm/internal/fault"
)

// The headers by which a proxy in between shows itself, and how the names of others begin and
// end.
var (
	forwarded     = []string{"Forwarded", "Via", "True-Client", "X-Envoy-Internal", "X-Coming-From", "Coming-From", "Cdn-Loop", "X-Scheme", "X-Varnish", "X-Request-Start", "X-Haproxy", "Front-End-Https", "Proxy-Connection"}
	forwardedFrom = []string{"X-Forwarded", "Forwarded-", "X-Original-", "X-Real-", "Cf-", "Cloudfront-", "X-Azure-", "X-Vercel-", "X-Amzn-Trace", "X-Proxy-", "X-Ssl-", "X-Remote-", "Remote-", "X-Auth-Request-", "X-Traefik-", "X-Arr-", "X-Appengine-", "X-Cloud-Trace", "Tailscale-", "Ngrok-", "X-Ngrok-"}
	forwardedTo   = []string{"-Ip", "-Ips", "-Cluster-Ip", "-Address", "-Addr", "Forwarded-For", "-Host"}
)

// showsProxy reports whether a header is one that proxies add: what ends in the word for an address
// says whose it is. Behind a proxy on this machine every stranger's request comes from a
// loopback address. It is a list of ends and beginnings since every proxy has a name of its own:
// Fastly-Client-Ip, X-Cluster-Client-Ip, X-Envoy-External-Address.
func showsProxy(name string) bool {
	return slices.Contains(forwarded, name) ||
		slices.ContainsFunc(forwardedFrom, func(head string) bool { return strings.HasPrefix(name, head) }) ||
		slices.ContainsFunc(forwardedTo, func(tail string) bool { return strings.HasSuffix(name, tail) })
}

// Here turns away all but the programs and browsers of this machine that ask the server by its
// own address. what is the page or path that only they may have, for the sentence. The Host is
// looked at because a page may have its own name point to 127.0.0.1 (DNS rebinding). Names under
// .localhost resolve to this machine alone.
func Here(r *http.Request, what string) error {
	if from, err := netip.ParseAddrPort(r.RemoteAddr); err != nil || !from.Addr().Unmap().IsLoopback() {
		return fault.New(fault.Forbidden, "%s is only available on the server's own machine", what)
	}
	for name, values := range r.Header {
		if showsProxy(name) && strings.Join(values, "") != "" {
			return fault.New(fault.Forbidden, "%s is only available on the server's own machine, and the header %s shows that a proxy forwarded this request", what, name)
		}
	}
	// A proxy that shows itself by no header often speaks HTTP/1.0 to what is behind it, as nginx
	// does unless it is told otherwise; browsers and the programs of today do not.
	if !r.ProtoAtLeast(1, 1) {
		return fault.New(fault.Forbidden, "%s is only available on the server's own machine, and HTTP/1.0 shows that a proxy forwarded this request", what)
	}
	if host := HostName(r.Host); !IsLoopback(host) && !strings.HasSuffix(host, ".localhost") {
		return fault.New(fault.Forbidden, "%s is only available as localhost or a loopback address, not as %q", what, r.Host)
	}
	return nil
}
