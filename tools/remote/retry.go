package remote

import (
	"context"
	"errors"
	"net"
	"regexp"

	"github.com/mark3labs/mcp-go/client/transport"
)

// isBroken reports whether an error comes from the connection, so that the server has not answered
// the request. The server may have run the request nevertheless, so only tools that may run twice
// are called again.
func isBroken(err error) bool {
	var t *transport.Error
	return errors.Is(err, errLost) || errors.As(err, &t)
}

// isRefused reports whether an error means that no connection was made at all. The server is then
// down, and another transport at the same address need not be tried.
func isRefused(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// neverRan reports whether an error proves that the server has run nothing: no connection was made,
// the server demands a sign-in, or it does not know the session. Servers report an unknown session
// with the status 404, as the protocol demands, or with another status and a text such as "Bad
// Request: No valid session ID provided". A timeout proves nothing, even if its text mentions a
// session. Nor does the word session alone: "sent, but the database session is closed".
func neverRan(err error) bool {
	if errors.Is(err, transport.ErrSessionTerminated) ||
		errors.Is(err, transport.ErrAuthorizationRequired) || isRefused(err) {
		return true
	}
	return unknownSession.MatchString(err.Error()) && !errors.Is(err, context.DeadlineExceeded)
}

// unknownSession matches the words in which servers say that they do not know a session.
var unknownSession = regexp.MustCompile(`(?i)\bsession[ -]?id\b|` +
	`\b(?:no|no such|no valid|unknown|invalid|missing|could not find|cannot find) session|` +
	`\bsession (?:[\w.-]+ )?(?:was |is |has )?(?:not found|unknown|expired|terminated|missing)`)
