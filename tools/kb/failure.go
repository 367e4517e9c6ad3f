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

// failure returns a failed result with an HTTP status from the specification's table and a message.
// The status is also a part of the result's text, because results in MCP and chat have no status of
// their own; the HTTP API answers with it.
func failure(status int, message string) tools.Result { return hinted(status, message, "") }

// hinted returns a failed result with an HTTP status and the specification's message. If hint is
// not "", it is added for the model, which may be able to act on it.
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

// unanswered returns the result of a call that failed with err. The reason why a store or a service
// did not answer is only logged on the server: a text such as "failed to connect to `user=…
// database=…`" would reveal its address and user to callers who only have a token.
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

// refusal returns the result for an error of a search or a store. An error that the specification
// does not list becomes that of an unavailable store. Its text may contain a path or an address, so
// the text is not in the result.
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
