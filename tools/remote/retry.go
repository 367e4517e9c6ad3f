package remote

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/mark3labs/mcp-go/client/transport"
)

// broken says that an error is the connection's: the server has not answered the request. It may
// have run it nevertheless, so only tools that may run twice are called again.
func broken(err error) bool {
	var t *transport.Error
	return errors.Is(err, errLost) || errors.As(err, &t)
}

// refused says that a connection was not made at all. The server is down, and another transport at
// the same address need not be tried.
func refused(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// neverRan says that an error proves that the server has run nothing: no connection was made, or
// the server does not know the session. Servers say the latter by the status 404, as the protocol
// has it, or in words of their own with another, as "Bad Request: No valid session ID provided". A
// time that is over proves nothing, even when the text speaks of a session.
func neverRan(err error) bool {
	if errors.Is(err, transport.ErrSessionTerminated) || errors.Is(err, transport.ErrAuthorizationRequired) || refused(err) {
		return true
	}
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "session") && !errors.Is(err, context.DeadlineExceeded)
}
