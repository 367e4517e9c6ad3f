package auth

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"toolnorm/internal/fault"
)

// The names of headers that proxies add, and the prefixes and suffixes of further such names.
var (
	proxyHeaders = []string{"Forwarded", "Via", "True-Client", "X-Envoy-Internal", "X-Coming-From",
		"Coming-From", "Cdn-Loop", "X-Scheme", "X-Varnish", "X-Request-Start", "X-Haproxy",
		"Front-End-Https", "Proxy-Connection"}
	forwardedFrom = []string{"X-Forwarded", "Forwarded-", "X-Original-", "X-Real-", "Cf-",
		"Cloudfront-", "X-Azure-", "X-Vercel-", "X-Amzn-Trace", "X-Proxy-", "X-Ssl-", "X-Remote-",
		"Remote-", "X-Auth-Request-", "X-Traefik-", "X-Arr-", "X-Appengine-", "X-Cloud-Trace",
		"Tailscale-", "Ngrok-", "X-Ngrok-"}
	forwardedTo = []string{"-Ip", "-Ips", "-Cluster-Ip", "-Address", "-Addr", "Forwarded-For",
		"-Host"}
)

// showsProxy reports whether a header with this name is one that proxies add. If there is a proxy
// on this machine, a stranger's request comes from a loopback address as well, so only such a
// header reveals it. Prefixes and suffixes are compared because every proxy has its own names:
// Fastly-Client-Ip, X-Cluster-Client-Ip, X-Envoy-External-Address.
func showsProxy(name string) bool {
	return slices.Contains(proxyHeaders, name) ||
		slices.ContainsFunc(forwardedFrom,
			func(head string) bool { return strings.HasPrefix(name, head) }) ||
		slices.ContainsFunc(forwardedTo, func(tail string) bool {
			return strings.HasSuffix(name, tail)
		})
}

// Here returns an error unless the request comes from a program or browser on this machine, was not
// forwarded by a proxy, and is sent to localhost, to a name that ends in .localhost, or to a
// loopback address. The argument what is the name of the requested page or path for the error. The
// Host is checked because the owner of a page can make its name point to 127.0.0.1 (DNS rebinding).
// Names that end in .localhost always mean this machine.
func Here(r *http.Request, what string) error {
	if !FromLoopback(r) {
		return fault.New(fault.Forbidden, "%s is only available on the server's own machine", what)
	}
	for name, values := range r.Header {
		if showsProxy(name) && strings.Join(values, "") != "" {
			return fault.New(fault.Forbidden,
				"%s is only available on the server's own machine, and the header %s shows that a proxy forwarded this request", what, name)
		}
	}
	// A proxy that adds no header often speaks HTTP/1.0 to its backend, as nginx does by default;
	// browsers and today's programs do not.
	if !r.ProtoAtLeast(1, 1) {
		return fault.New(fault.Forbidden,
			"%s is only available on the server's own machine, and HTTP/1.0 shows that a proxy forwarded this request", what)
	}
	if host := HostName(r.Host); !IsLoopback(host) && !strings.HasSuffix(host, ".localhost") {
		return fault.New(fault.Forbidden,
			"%s is only available as localhost or a loopback address, not as %q", what, r.Host)
	}
	return nil
}

// FromLoopback reports whether a request comes from a loopback address. A proxy on this machine may
// nevertheless have forwarded it for a stranger.
func FromLoopback(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && from.Addr().Unmap().IsLoopback()
}
