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

// engine answers messages. It knows nothing of the transports that bring them, so stdio, SSE and
// Streamable HTTP answer alike, and a tool's code sees no difference.
type engine struct {
	cfg   Config
	seal  seal
	hub   *hub
	lists *lists
	tools *limiter // calls of a tool
	tasks tasks    // calls that go on after their answer

	settle  sync.Once
	running calls
	others  others
	asked   questions       // requests of ours that wait for their answers
	ctx     context.Context // ends with the server, and ends what runs
	stop    context.CancelCauseFunc
	beside  sync.WaitGroup    // what ends with stop; Close waits for it
	plain   *server.MCPServer // answers while Extra is not offered
	offers  func() bool       // whether it is; nil: always
}

// caller is the sender of a message, with all that its answer depends on. It lives as long as the
// message; the session in it may live longer and be shared by several.
type caller struct {
	*session
	modern bool // by revision 2026-07-28
	meta   meta // of this message

	// out takes what is sent about the message before its answer, in order; it waits for room.
	out func(context.Context, frame) error

	// Stdio alone has it: there a subscription of 2026-07-28 shares the one stream with all
	// answers.
	// on which a subscription can stay open beside other requests; nil: it has a stream of its own
	stream *outbox
}

// newEngine starts an engine, which runs until it is stopped. The options make mcp-go's server
// offer what we answer ourselves (tools, logging), and recover from panics of its handlers, which
// would end the whole program.
func newEngine(cfg Config) *engine {
	e := &engine{
		cfg: cfg, seal: newSeal(cfg.Key), hub: &hub{listeners: map[*listener]bool{}},
		tools: newLimiter(cfg.RateOfTool),
		asked: questions{log: cfg.Log},
	}
	e.others = others{cfg.Shared, e.seal, cfg.Log}
	e.ctx, e.stop = context.WithCancelCause(context.Background())
	e.lists = newLists(cfg)
	e.tasks.identity = e.lists.identity
	e.plain = server.NewMCPServer(cfg.Name, cfg.Version, server.WithInstructions(cfg.Guide))
	for _, extra := range []*server.MCPServer{cfg.Extra, e.plain} {
		prepare(extra)
	}
	cfg.Gateway.Notify(func(method string) { e.hub.tell(method, nil) })
	if cfg.Shared != nil {
		e.hearOthers()
	}
	changed, unwatch := cfg.Registry.Watch()
	heard := newEcho()
	_ = cfg.Extra.RegisterSession(context.Background(), heard) // fails only for an id that is taken
	e.beside.Go(func() {                                       // ends with stop
		defer unwatch()
		defer cfg.Extra.UnregisterSession(context.Background(), heard.id)
		e.hub.listen(changed, heard, e.ctx.Done())
	})
	return e
}

// prepare sets up a server of mcp-go.
func prepare(s *server.MCPServer) {
	for _, option := range []server.ServerOption{
		server.WithToolCapabilities(true), server.WithLogging(), server.WithRecovery(),
		server.WithResourceRecovery(),
		server.WithCacheHints(cacheMillis, cacheScope),
	} {
		option(s)
	}
	// A server with hooks of its own (companymcp) keeps them; ours is added.
	if s.GetHooks() == nil {
		server.WithHooks(&server.Hooks{})(s)
	}
	s.GetHooks().AddOnError(rememberError)
}

// extra is the server of mcp-go that answers what we do not answer ourselves. A caller that may use
// only some of the tools gets the server without prompts and resources, since those belong to no
// set.
func (e *engine) extra(ctx context.Context) *server.MCPServer {
	if e.offers != nil && !e.offers() || e.cfg.Registry.For(ctx).Part != "" {
		return e.plain
	}
	return e.cfg.Extra
}

// handle answers a message: with a result, with an error, or with neither when it wants no answer.
// It returns when the answer is complete. A panic of a handler is the answer -32603, and its stack
// is in the log: one bad tool ends no server.
func (e *engine) handle(ctx context.Context, c *caller, m message) (
	result json.RawMessage, rpcErr *rpcError) {
	defer e.recovered(m, func(failure *rpcError) { result, rpcErr = nil, failure })
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
	ctx, over := e.peer(ctx, c, m)
	defer over()
	result, rpcErr = e.dispatch(ctx, c, m)
	// A tool may have finished in spite of it; the client has forgotten the request, so it must not
	// get an answer.
	if errors.Is(context.Cause(ctx), errCancelled) {
		return nil, nil
	}
	return result, rpcErr
}

// recovered turns a panic of a handler into an error of the protocol. Callers defer it.
func (e *engine) recovered(m message, failed func(*rpcError)) {
	if v := recover(); v != nil {
		e.cfg.Log.Error().Str("method", m.method).Any("panic", v).Bytes("stack", debug.Stack()).Msg(
			"a handler of an MCP request panicked")
		failed(fail(codeInternal, "the server failed inside; its log says where"))
	}
}

// dispatch finds who answers a request: we do for tools, mcp-go's server for the rest. Stock mcp-go
// answers a list of 1,001 tools 45 to 60 times a second; one that is written once goes out
// thousands of times. And it loses progress. A method that nobody knows, ping by 2026-07-28 among
// them, gets its -32601 from mcp-go too.
func (e *engine) dispatch(ctx context.Context, c *caller, m message) (json.RawMessage, *rpcError) {
	switch mcp.MCPMethod(m.method) {
	case mcp.MethodInitialize:
		return e.initialize(ctx, c, m)
	case mcp.MethodServerDiscover:
		result, rpcErr := e.bridge(ctx, c, m)
		return extended(e.declare(ctx, result)), rpcErr
	case mcp.MethodToolsList:
		e.settled(ctx)
		return e.listTools(ctx, c, m)
	case mcp.MethodToolsCall:
		e.settled(ctx)
		return e.callOrTask(ctx, c, m)
	case mcp.MethodSubscriptionsListen:
		if c.modern && c.stream != nil {
			return e.hold(ctx, c, m)
		}
	}
	if c.modern {
		if result, rpcErr, handled := e.ofTask(ctx, c, m); handled {
			return result, rpcErr
		}
	}
	if e.cfg.Registry.For(ctx).Part == "" {
		if result, rpcErr, handled := e.beyond(ctx, c, m); handled {
			return result, rpcErr
		}
	}
	return e.bridge(ctx, c, m)
}

// settled waits, once, for the tools that become available late. Concurrent callers wait for the
// same.
func (e *engine) settled(ctx context.Context) {
	if e.cfg.Settle != nil {
		e.settle.Do(func() { e.cfg.Settle(ctx) })
	}
}

// initialize begins a session. mcp-go's server negotiates: the revision that the client asks for if
// it is known, else the newest before 2026-07-28. An unknown one is never echoed, since clients
// would take it for agreed.
func (e *engine) initialize(ctx context.Context, c *caller, m message) (
	json.RawMessage, *rpcError) {
	result, rpcErr := e.bridge(ctx, c, m)
	if rpcErr != nil {
		return nil, rpcErr
	}
	var asked mcp.InitializeParams
	var answer mcp.InitializeResult
	// mcp-go has read them already; here they are read for what a session keeps.
	if m.params != nil && json.Unmarshal(m.params, &asked) != nil ||
		json.Unmarshal(result, &answer) != nil {
		return nil, fail(codeParams, "the parameters of initialize cannot be read")
	}
	c.begin(answer.ProtocolVersion, asked.ClientInfo, asked.Capabilities)
	return e.declare(ctx, result), nil
}

// inFlight names a request that is being answered. The session is part of it: ids are the clients'
// own, and every client counts from 0 or 1. The id is its text in JSON, so 1 and "1" are two.
type inFlight struct{ session, id string }

// errCancelled is the cause of a context that ends because the client cancelled its request, and so
// wants no answer. If a context ends for another reason, the request is answered.
var errCancelled = errors.New("the client cancelled the request")

// begin lets the session cancel a request, and the end of the server as well, until done is called.
// Without a session no later message could refer to the request.
func (e *engine) begin(ctx context.Context, c *caller, id json.RawMessage) (
	_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(e.ctx, func() { cancel(errClosed) })
	// No message could refer to the request, since cancellation needs a session and an id.
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

// notified handles a message that wants no answer. Only a cancellation is ours;
// notifications/initialized needs nothing, as a session has begun with initialize.
func (e *engine) notified(ctx context.Context, c *caller, m message) {
	if isCancel(m) {
		if id := cancelled(m); !e.running.cancel(c.id, id) {
			e.others.cancel(c.id, id)
		}
		return
	}
	if m.method == string(mcp.MethodNotificationRootsListChanged) {
		ctx, _ = e.peer(ctx, c, m)
		e.cfg.Gateway.Tell(ctx, m.method)
	}
	_, _ = e.bridge(ctx, c, m) // who registered for it is told; there is no answer
}

// isCancel reports whether a message cancels a request.
func isCancel(m message) bool {
	return !m.isRequest() && m.method == string(mcp.MethodNotificationCancelled)
}

// cancelled returns the id of the request that a message cancels, as it was written: ids are
// compared as text.
func cancelled(m message) string {
	var which struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.params, &which) != nil {
		return ""
	}
	return string(which.ID)
}

// calls are the requests being answered that their sessions may cancel: inFlight ->
// context.CancelCauseFunc.
type calls struct{ sync.Map }

// cancel ends a request of a session, if it is being answered, and reports whether it was. An
// unknown or finished request is not an error: the client's message and our answer may have
// crossed.
func (all *calls) cancel(session, id string) bool {
	cancel, ok := all.Load(inFlight{session, id})
	if ok {
		cancel.(context.CancelCauseFunc)(errCancelled)
	}
	return ok
}

// cancelIf ends those that are meant. It looks at everything that runs, which is fine: sessions end
// rarely.
func (all *calls) cancelIf(meant func(inFlight) bool) {
	all.Range(func(key, cancel any) bool {
		if meant(key.(inFlight)) {
			cancel.(context.CancelCauseFunc)(errCancelled)
		}
		return true
	})
}
