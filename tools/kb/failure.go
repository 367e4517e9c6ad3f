package kb

import (
	"context"
	"errors"
	"net/http"

	"toolnorm/chat"
	"toolnorm/internal/auth"
	"toolnorm/tools"
	"toolnorm/tools/kb/kbstore"
	"toolnorm/tools/kb/retrieval"
)

// failure returns a failed result with a status of the specification's table. MCP and chat have no
// statuses, so it is part of the message; the HTTP API answers with it.
func failure(status int, message string) tools.Result { return hinted(status, message, "") }

// hinted does the same as failure and adds a hint to the specification's words, for a model that
// can act on it.
func hinted(status int, message, hint string) tools.Result {
	text, err := chat.JSON(struct {
		Status  int    `json:"status_code"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	}{status, message, hint})
	if err != nil {
		return tools.Failure(message)
	}
	res := tools.Failure(string(text))
	res.Structured = text
	return res
}

// unanswered returns the result of a call that failed. It writes the reason why a store or a
// service did not answer only to the server's own log: callers who only have a token would learn
// its address and its user from "failed to connect to `user=… database=…`".
func (c *Config) unanswered(ctx context.Context, err error) tools.Result {
	known := errors.Is(err, retrieval.ErrUnauthenticated) || errors.Is(err, kbstore.ErrNotFound) ||
		errors.Is(err, kbstore.ErrDenied)
	// a client that went away is not a failure of the store
	if c.Warn != nil && !known && ctx.Err() == nil {
		c.Warn("knowledge base: " + err.Error())
	}
	res := refusal(err)
	tools.Log(ctx, "error", res.Text())
	return res
}

// refusal returns the result for an error of a search or a store. Errors that the specification
// does not have count as an unavailable store. Their words may hold a path or an address, so they
// go only to the log.
func refusal(err error) tools.Result {
	switch {
	case errors.Is(err, retrieval.ErrUnauthenticated):
		return failure(http.StatusUnauthorized, auth.InvalidCredentials)
	case errors.Is(err, kbstore.ErrNotFound):
		return failure(http.StatusNotFound, kbstore.ErrNotFound.Error())
	case errors.Is(err, kbstore.ErrDenied):
		return failure(http.StatusForbidden, kbstore.ErrDenied.Error())
	case errors.Is(err, retrieval.ErrRemote):
		return failure(http.StatusServiceUnavailable, retrieval.ErrRemote.Error())
	}
	return failure(http.StatusServiceUnavailable, retrieval.ErrUnavailable.Error())
}
