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
func (e *engine) handle(ctx context.Context, c *caller, m message) (result json.RawMessage, fault *rpcError) {
	defer func() {
		if v := recover(); v != nil {
			e.cfg.Log.Error().Str("method", m.method).Any("panic", v).Bytes("stack", debug.Stack()).Msg("a handler of an MCP request panicked")
			result, fault = nil, fail(codeInternal, "the server failed inside; its log says where")
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
	result, fault = e.dispatch(ctx, c, m)
	if errors.Is(context.Cause(ctx), errCancelled) {
		return nil, nil
	}
	return result, fault
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
	result, fault := e.bridge(ctx, c, m)
	if fault != nil {
		return nil, fault
	}
	var asked mcp.InitializeParams
	var answer mcp.InitializeResult
	if m.params != nil && json.Unmarshal(m.params, &asked) != nil || json.Unmarshal(result, &answer) != nil {
		return nil, fail(codeParams, "the parameters of initialize cannot be read")
	}
	c.begin(answer.ProtocolVersion, asked.ClientInfo, asked.Capabilities)
	return result, nil
}
