package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"toolnorm/chat"
)

// longestBridged is the time limit for handlers of mcp-go's server, which sets none itself. Ten
// minutes leave a user time to answer what a handler asks.
const longestBridged = 10 * time.Minute

// bridge returns the result or the error with which mcp-go's server answers a message; nil and nil
// if it sends no answer. The id of the message is not taken from mcp-go, which reads numbers as
// float64, so that 9007199254740993 would come back as another id.
func (e *engine) bridge(ctx context.Context, c *caller, m message) (json.RawMessage, *rpcError) {
	raw, purpose, rpcErr := e.unsealed(c, m)
	if rpcErr != nil {
		return nil, rpcErr
	}
	ctx, cancel := context.WithTimeout(ctx, longestBridged)
	defer cancel()
	s := newBridged(ctx, e, c)
	defer s.finish()
	var failed error
	extra := e.extra(ctx)
	ctx = context.WithValue(extra.WithContext(ctx, s), failedKey{}, &failed)
	answer := extra.HandleMessage(ctx, raw)
	// Before the answer: what the handler has sent must precede it on the stream.
	s.finish()
	switch a := answer.(type) {
	case mcp.JSONRPCResponse:
		result, rpcErr := e.sealed(c, purpose, a.Result)
		if rpcErr != nil {
			return nil, rpcErr
		}
		body, err := chat.JSON(result)
		if err != nil {
			return nil, fail(codeInternal, "the result of %s cannot be written as JSON: %v",
				m.method, err)
		}
		return body, nil
	case mcp.JSONRPCError:
		return nil, aboutResource(m, bridgedError(c, a.Error, failed))
	}
	return nil, nil
}

// failedKey is the context key of the error that a handler returned. mcp-go's server passes on only
// its text.
type failedKey struct{}

// rememberError stores err, the error of a handler, in the variable to which the context has a
// pointer. The method bridge, which made that variable, then reads it. mcp-go's server calls
// rememberError in the goroutine of the request, so the variable needs no lock.
func rememberError(ctx context.Context, _ any, _ mcp.MCPMethod, _ any, err error) {
	if failed, ok := ctx.Value(failedKey{}).(*error); ok {
		*failed = err
	}
}

// bridgedError converts e, an error of mcp-go's server, to an error of this package. mcp-go reports
// any failure of a handler as an internal error; bridgedError finds a better code by failed, the
// handler's own error. A missing resource is -32002 up to 2025-11-25, and -32602 in 2026-07-28,
// which forbids the older code (SEP-2164).
func bridgedError(c *caller, e mcp.JSONRPCErrorDetails, failed error) *rpcError {
	rpcErr := fail(e.Code, "%s", e.Message)
	if e.Data != nil {
		rpcErr.data = encode(e.Data)
	}
	// mcp-go's message names Go types, and blames the request where a parameter is wrong.
	if m := unparsable.FindStringSubmatch(e.Message); m != nil && e.Code == codeRequest {
		return fail(codeParams, "%s has the wrong type: %s", m[2], m[1])
	}
	// mcp-go has already chosen a specific code, such as for parameters that it could not read.
	if e.Code != codeInternal {
		return rpcErr
	}
	var lacks mcp.MissingRequiredClientCapabilityError
	switch {
	case errors.As(failed, &lacks):
		return missing(lacks.Capability)
	case errors.Is(failed, server.ErrResourceNotFound) && !c.modern:
		rpcErr.code = mcp.RESOURCE_NOT_FOUND
	case errors.Is(failed, server.ErrResourceNotFound), errors.Is(failed, mcp.ErrInvalidParams):
		rpcErr.code = codeParams
	}
	return rpcErr
}

// unparsable matches mcp-go's words for a parameter that it cannot decode.
var unparsable = regexp.MustCompile(
	`^unparsable .*: json: cannot unmarshal (\S+) .*into Go struct field [^. ]*\.(\S+) of type`)

// aboutResource returns rpcErr. If it has no data and a resource could not be read, it gets
// {"uri":…,"message":…} as data, as clients of 2026-07-28 expect. The data repeats the message for
// the editor Void, which shows only the data.
func aboutResource(m message, rpcErr *rpcError) *rpcError {
	var asked mcp.ReadResourceParams
	if m.method != string(mcp.MethodResourcesRead) || rpcErr.data != nil ||
		json.Unmarshal(m.params, &asked) != nil {
		return rpcErr
	}
	rpcErr.data = encode(struct {
		URI     string `json:"uri"`
		Message string `json:"message"`
	}{asked.URI, rpcErr.message})
	return rpcErr
}

// missing returns the error for a capability that the client would have to declare. Its data is an
// object of capabilities such as {"sampling":{}}, as the specification requires, and not a list of
// names.
func missing(capability string) *rpcError {
	e := fail(codeCapability, "this needs a client with the capability %q", capability).withStatus(
		http.StatusBadRequest)
	e.data = encode(struct {
		Required map[string]struct{} `json:"requiredCapabilities"`
	}{map[string]struct{}{capability: {}}})
	return e
}

// bridged presents the sender of one message to mcp-go's server and handlers as a session, which is
// what they expect. Each message gets a new one, since mcp-go is not used to store sessions.
type bridged struct {
	e *engine
	c *caller
	// say sends a frame about the one message for which the session exists. A failure means that
	// the message has ended as well.
	say func(frame)

	mu   sync.Mutex
	said chan mcp.JSONRPCNotification // nil until a handler asks for it
	sent chan struct{}                // closed when all of said was sent
	// whether finish was called
	over bool
}

// What handlers may ask of a session.
var (
	_ server.SessionWithLogging                  = (*bridged)(nil)
	_ server.SessionWithClientInfo               = (*bridged)(nil)
	_ server.SessionWithElicitation              = (*bridged)(nil)
	_ server.SessionWithSampling                 = (*bridged)(nil)
	_ server.SessionWithRoots                    = (*bridged)(nil)
	_ server.SessionWithResourceSubscriptionsErr = (*bridged)(nil)
	_ server.SessionWithProtocolVersion          = (*bridged)(nil)
)

// newBridged returns the session for one message. An error of sending to the caller is dropped,
// because it means that the stream, and so the message, is over.
func newBridged(ctx context.Context, e *engine, c *caller) *bridged {
	return &bridged{e: e, c: c, say: func(f frame) { _ = c.out(ctx, f) }}
}

// NotificationChannel returns the channel to which handlers send notifications. A goroutine
// forwards them to the client in order, until finish is called. The first call of
// NotificationChannel makes the channel and the goroutine, because most requests send no
// notifications and need neither.
func (b *bridged) NotificationChannel() chan<- mcp.JSONRPCNotification {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.said == nil {
		b.said, b.sent = make(chan mcp.JSONRPCNotification, maxFrames), make(chan struct{})
		if !b.over {
			go b.forward(b.said)
		}
	}
	return b.said
}

// forward sends the client the notifications that handlers write to the channel said. It returns
// when said is closed or finish is called. mcp-go's own forwarder drops what is still queued when
// the request is done, which lost the last progress notification in half of the runs.
func (b *bridged) forward(said <-chan mcp.JSONRPCNotification) {
	defer close(b.sent)
	for n := range said {
		if n.Method == "" { // finish
			return
		}
		b.say(frame{body: encode(n)})
	}
}

// finish waits until all notifications have been sent. Later ones are lost, as they must be, since
// the answer comes last. The end is marked by a notification without a method and not by closing
// the channel, because a late handler would panic on a closed channel.
func (b *bridged) finish() {
	b.mu.Lock()
	said, over := b.said, b.over
	b.over = true
	b.mu.Unlock()
	if said == nil || over {
		return
	}
	said <- mcp.JSONRPCNotification{}
	<-b.sent
}

// Initialize does nothing, since everything about a session is known before its message is handled.
func (b *bridged) Initialize() {}

// Initialized returns true. Clients that skip notifications/initialized are accepted as well.
func (b *bridged) Initialized() bool { return true }

// SessionID returns the session's id, or "" if there is no session. mcp-go stores nothing under
// that id, since the session is never registered with its server.
func (b *bridged) SessionID() string { return b.c.id }

// ProtocolVersion returns the negotiated revision. mcp-go decides by it what to write, for example
// resultType and the cache hints.
func (b *bridged) ProtocolVersion() string { return b.c.now().version }

// SetLogLevel sets the lowest level of log messages that the client gets, for logging/setLevel.
func (b *bridged) SetLogLevel(level mcp.LoggingLevel) { b.c.setLevel(level) }

// GetLogLevel returns the lowest level of log messages that the client wants.
func (b *bridged) GetLogLevel() mcp.LoggingLevel { return b.c.now().level }

// GetClientInfo returns the name and version that the client gave itself.
func (b *bridged) GetClientInfo() mcp.Implementation { return b.c.now().client }

// SetClientInfo does nothing, because the session stores what initialize said (engine.initialize).
func (b *bridged) SetClientInfo(mcp.Implementation) {}

// GetClientCapabilities returns the capabilities that the client has declared.
func (b *bridged) GetClientCapabilities() mcp.ClientCapabilities { return b.c.now().can }

// SetClientCapabilities does nothing, because the session stores what the client declared in
// initialize (engine.initialize).
func (b *bridged) SetClientCapabilities(mcp.ClientCapabilities) {}

// SubscribeToResourceErr subscribes the client to changes of a resource. It returns an error if the
// client cannot subscribe.
func (b *bridged) SubscribeToResourceErr(uri string) error { return b.c.watch(uri) }

// SubscribeToResource subscribes the client to changes of a resource. An error is ignored, for
// example if the client has too many subscriptions (see SubscribeToResourceErr).
func (b *bridged) SubscribeToResource(uri string) { _ = b.c.watch(uri) }

// UnsubscribeFromResource ends the subscription to a resource.
func (b *bridged) UnsubscribeFromResource(uri string) { b.c.unwatch(uri) }

// SubscribedResources returns nil, since the server of mcp-go never asks for this list.
func (b *bridged) SubscribedResources() []string { return nil }

// IsSubscribedToResource reports whether the client is subscribed to a resource.
func (b *bridged) IsSubscribedToResource(uri string) bool { return b.c.watches(uri) }

// RequestElicitation asks the client's user a question, and returns the answer. The answer comes in
// a later request of the client, which engine.answered passes on. It returns an error if the client
// cannot be asked or does not answer. mcp-go calls it only up to revision 2025-11-25; in 2026-07-28
// a handler returns input_required in place of a call.
func (b *bridged) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (
	*mcp.ElicitationResult, error) {
	return asked[mcp.ElicitationResult](ctx, b, mcp.MethodElicitationCreate, r.Params)
}

// RequestSampling asks the client's model. It returns an error if the client cannot be asked or
// refuses.
func (b *bridged) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (
	*mcp.CreateMessageResult, error) {
	return asked[mcp.CreateMessageResult](ctx, b, mcp.MethodSamplingCreateMessage,
		r.CreateMessageParams)
}

// ListRoots asks the client for the folders in which it works. It returns an error if the client
// cannot be asked or refuses.
func (b *bridged) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (
	*mcp.ListRootsResult, error) {
	return asked[mcp.ListRootsResult](ctx, b, mcp.MethodListRoots, nil)
}

// asked sends the client a request with this method, and returns the answer. If the client has not
// declared the capability for it, nothing is sent, and the error is a
// mcp.MissingRequiredClientCapabilityError. It also returns an error if the client refuses or does
// not answer.
func asked[T any](ctx context.Context, b *bridged, method mcp.MCPMethod, params any) (*T, error) {
	can := b.GetClientCapabilities()
	if lacks := lacking(&can, method); lacks != "" {
		return nil, mcp.MissingRequiredClientCapabilityError{Capability: lacks}
	}
	result := new(T)
	if err := b.e.ask(ctx, b.c, method, params, result); err != nil {
		return nil, err
	}
	return result, nil
}
