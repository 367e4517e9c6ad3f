package remote

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/mark3labs/mcp-go/client/transport"
)

// isBroken reports whether an error comes from the connection: the server has not answered the
// request. The server may have run it nevertheless, so only tools that may run twice are called
// again.
func isBroken(err error) bool {
	var t *transport.Error
	return errors.Is(err, errLost) || errors.As(err, &t)
}

// isRefused reports whether a connection was not made at all. The server is down then, and another
// transport at the same address need not be tried.
func isRefused(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// neverRan reports whether an error proves that the server has run nothing: no connection was made,
// or the server does not know the session. Servers report the latter with the status 404, as the
// protocol has it, or in words of their own with another status, as "Bad Request: No valid session
// ID provided". A time that is over proves nothing, even when its text mentions a session.
func neverRan(err error) bool {
	if errors.Is(err, transport.ErrSessionTerminated) ||
		errors.Is(err, transport.ErrAuthorizationRequired) || isRefused(err) {
		return true
	}
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "session") && !errors.Is(err, context.DeadlineExceeded)
}
