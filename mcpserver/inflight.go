package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
)

// inFlight names a request that is being answered.
type inFlight struct{ session, id string }

// errCancelled is the cause when a client took its request back: it wants no answer.
var errCancelled = errors.New("the client cancelled the request")

// begin lets the session cancel a request, and the end of the server as well, until done is called.
func (e *engine) begin(ctx context.Context, c *caller, id json.RawMessage) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(e.ctx, func() { cancel(errClosed) })
	if c.id == "" {
		return ctx, func() { unhook(); cancel(nil) }
	}
	key := inFlight{c.id, string(id)}
	e.running.Store(key, cancel)
	return ctx, func() {
		e.running.Delete(key)
		unhook()
		cancel(nil)
	}
}

// notified takes a message that wants no answer.
func (e *engine) notified(ctx context.Context, c *caller, m message) {
	if isCancel(m) {
		e.cancel(c.id, cancelled(m))
		return
	}
	_, _ = e.bridge(ctx, c, m) // who registered for it is told; there is no answer
}

// isCancel says that a message takes a request back.
func isCancel(m message) bool {
	return !m.isRequest() && m.method == string(mcp.MethodNotificationCancelled)
}

// cancelled is the id of the request that a message takes back, as it was written.
func cancelled(m message) string {
	var which struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.params, &which) != nil {
		return ""
	}
	return string(which.ID)
}

// cancel ends a request of a session, if it is being answered.
func (e *engine) cancel(session, id string) {
	if cancel, ok := e.running.Load(inFlight{session, id}); ok {
		cancel.(context.CancelCauseFunc)(errCancelled)
	}
}

// cancelAll cancels what runs for a session.
func (e *engine) cancelAll(session string) {
	e.running.Range(func(key, cancel any) bool {
		if key.(inFlight).session == session {
			cancel.(context.CancelCauseFunc)(errCancelled)
		}
		return true
	})
}
