package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// engine answers messages. It knows nothing of the transports that bring them.
type engine struct {
	cfg   Config
	seal  seal
	hub   *hub
	lists *lists
	tools *limiter // calls of a tool

	running sync.Map        // inFlight -> context.CancelCauseFunc: requests being answered that their session may cancel
	asked   sync.Map        // the id of a request of ours -> *question
	ctx     context.Context // ends with the server, and ends what runs
	stop    context.CancelCauseFunc
}

// caller is who sent a message, with all that its answer needs to know.
type caller struct {
	*session
	modern bool // by revision 2026-07-28
	meta   meta // of this message

	// out takes what is sent about the message before its answer, in order; it waits for room.
	out func(context.Context, frame) error

	stream *outbox // on which a subscription can stay open beside other requests; nil: it has a stream of its own
}

// newEngine starts an engine, which runs until it is stopped.
func newEngine(cfg Config) *engine {
	e := &engine{
		cfg: cfg, seal: newSeal(cfg.Key), hub: &hub{listeners: map[*listener]bool{}}, tools: newLimiter(cfg.RateOfTool),
	}
	e.ctx, e.stop = context.WithCancelCause(context.Background())
	e.lists = newLists(cfg)
	for _, option := range []server.ServerOption{
		server.WithToolCapabilities(true), server.WithLogging(), server.WithRecovery(), server.WithResourceRecovery(),
		server.WithCacheHints(cacheMillis, cacheScope),
	} {
		option(cfg.Extra)
	}
	if cfg.Extra.GetHooks() == nil {
		server.WithHooks(&server.Hooks{})(cfg.Extra)
	}
	cfg.Extra.GetHooks().AddOnError(rememberError)
	changed, unwatch := cfg.Registry.Watch()
	heard := newEcho()
	_ = cfg.Extra.RegisterSession(context.Background(), heard) // fails only for an id that is taken
	go func() {                                                // ends with stop
		defer unwatch()
		defer cfg.Extra.UnregisterSession(context.Background(), heard.id)
		e.hub.listen(changed, heard, e.ctx.Done())
	}()
	return e
}

// handle answers a message: with a result, with an error, or with neither when it wants no answer. It returns when the answer
// is complete.
func (e *engine) handle(ctx context.Context, c *caller, m message) (result json.RawMessage, rpcErr *rpcError) {
	defer func() {
		if v := recover(); v != nil {
			e.cfg.Log.Error().Str("method", m.method).Any("panic", v).Bytes("stack", debug.Stack()).Msg("a handler of an MCP request panicked")
			result, rpcErr = nil, fail(codeInternal, "the server failed inside; its log says where")
		}
	}()
	switch {
	case m.isAnswer():
		e.answered(c, m)
		return nil, nil
	case !m.isRequest():
		e.notified(ctx, c, m)
		return nil, nil
	}
	ctx, done := e.begin(ctx, c, m.id)
	defer done()
	result, rpcErr = e.dispatch(ctx, c, m)
	if errors.Is(context.Cause(ctx), errCancelled) {
		return nil, nil
	}
	return result, rpcErr
}

// dispatch finds who answers a request: we do for tools, mcp-go's server for the rest.
func (e *engine) dispatch(ctx context.Context, c *caller, m message) (json.RawMessage, *rpcError) {
	switch mcp.MCPMethod(m.method) {
	case mcp.MethodInitialize:
		return e.initialize(ctx, c, m)
	case mcp.MethodToolsList:
		return e.listTools(c, m)
	case mcp.MethodToolsCall:
		return e.callTool(ctx, c, m)
	case mcp.MethodSubscriptionsListen:
		if c.modern && c.stream != nil {
			return e.hold(ctx, c, m)
		}
	}
	return e.bridge(ctx, c, m)
}

// initialize begins a session.
func (e *engine) initialize(ctx context.Context, c *caller, m message) (json.RawMessage, *rpcError) {
	result, rpcErr := e.bridge(ctx, c, m)
	if rpcErr != nil {
		return nil, rpcErr
	}
	var asked mcp.InitializeParams
	var answer mcp.InitializeResult
	if m.params != nil && json.Unmarshal(m.params, &asked) != nil || json.Unmarshal(result, &answer) != nil {
		return nil, fail(codeParams, "the parameters of initialize cannot be read")
	}
	c.begin(answer.ProtocolVersion, asked.ClientInfo, asked.Capabilities)
	return result, nil
}

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
