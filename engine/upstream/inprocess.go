package upstream

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
)

// InProcess is a network of one server without sockets: each request has a connection of its own, a pipe, at the other end of which
// net/http serves the handler. So the demo is a model server like any other, with no port of its own to find or to guard: a client that
// leaves ends the handler's context, a handler that panics breaks its answer off.
func InProcess(h http.Handler) http.RoundTripper {
	t := Transport()
	t.Proxy, t.DisableKeepAlives = nil, true // a pipe costs nothing to make, and one that is kept would keep its goroutines
	t.DialContext = func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		s := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}
		go s.Serve(&once{server}) // ends at once; the connection is served on
		return client, nil
	}
	return t
}

// once is a listener at which one connection arrives.
type once struct{ conn net.Conn }

// Accept gives the connection, the first time.
func (l *once) Accept() (c net.Conn, err error) {
	if c, l.conn = l.conn, nil; c == nil {
		err = net.ErrClosed
	}
	return c, err
}

// Close has nothing to close: the connection is its server's.
func (l *once) Close() error { return nil }

// Addr is no address that anybody dials.
func (l *once) Addr() net.Addr { return &net.UnixAddr{} }
