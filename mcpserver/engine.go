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

// engine answers messages. It does not know which transport brought a message, so stdio, SSE and
// Streamable HTTP answer alike, and a tool's code sees no difference.
type engine struct {
	cfg   Config
	seal  seal
	hub   *hub
	lists *lists
	tools *limiter // limits the calls of each tool
	tasks tasks    // calls that go on after their answer

	settle  sync.Once
	running calls
	others  others
	asked   questions       // requests to clients that wait for an answer
	ctx     context.Context // ends with the server, and ends everything that runs
	stop    context.CancelCauseFunc
	beside  sync.WaitGroup    // goroutines that end with stop; Close waits for them
	plain   *server.MCPServer // answers while Extra is not offered
	offers  func() bool       // whether Extra is offered; nil: always
}

// caller is the sender of a message, with everything on which the answer depends. It lives as long
// as the message. The session in it may live longer and be shared by several callers.
type caller struct {
	*session
	modern bool // whether the revision is 2026-07-28
	meta   meta // the _meta of this message

	// out takes frames that are sent before the answer, in order. It waits until there is room, and
	// returns an error if the frame cannot be sent.
	out func(context.Context, frame) error

	// the stream on which a subscription can stay open beside other requests; nil: a subscription
	// has a stream of its own
	stream *outbox
}

// newEngine starts an engine, which runs until it is stopped.
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

// prepare sets the options of a server of mcp-go. With them the server declares what this package
// answers in its place (tools, logging). It also recovers from panics of its handlers, which would
// otherwise end the whole program.
func prepare(s *server.MCPServer) {
	for _, option := range []server.ServerOption{
		server.WithToolCapabilities(true), server.WithLogging(), server.WithRecovery(),
		server.WithResourceRecovery(),
		server.WithCacheHints(cacheMillis, cacheScope),
	} {
		option(s)
	}
	// A server with hooks of its own (companymcp) keeps them; this one is added.
	if s.GetHooks() == nil {
		server.WithHooks(&server.Hooks{})(s)
	}
	s.GetHooks().AddOnError(rememberError)
}

// extra returns the server of mcp-go for requests that the engine does not answer itself. A caller
// that may use only some of the tools gets a server without prompts and resources, since those
// belong to no set of tools.
func (e *engine) extra(ctx context.Context) *server.MCPServer {
	if e.offers != nil && !e.offers() || e.cfg.Registry.For(ctx).Part != "" {
		return e.plain
	}
	return e.cfg.Extra
}

// handle returns the answer to a message: a result or an error, or neither if the message needs no
// answer. It returns when the answer is complete. If a handler panics, the answer is the error
// -32603 and the stack is logged, so that one bad tool does not end the server.
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
	// A tool may have finished all the same; the client has forgotten the request, so it must not
	// get an answer.
	if errors.Is(context.Cause(ctx), errCancelled) {
		return nil, nil
	}
	return result, rpcErr
}

// recovered passes the panic of a handler to the function failed, as an error of the protocol. It
// must be deferred.
func (e *engine) recovered(m message, failed func(*rpcError)) {
	if v := recover(); v != nil {
		e.cfg.Log.Error().Str("method", m.method).Any("panic", v).Bytes("stack", debug.Stack()).Msg(
			"a handler of an MCP request panicked")
		failed(fail(codeInternal, "the server failed inside; its log says where"))
	}
}

// dispatch returns the answer to a request. The engine answers requests about tools itself, and
// mcp-go's server all others. mcp-go's own server answers tools/list with 1,001 tools 45 to 60
// times a second, whereas a list that is encoded once can be sent thousands of times; mcp-go also
// loses progress. Unknown methods, such as ping in 2026-07-28, get their error -32601 from mcp-go.
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

// settled waits for tools that become available only after the start, as Config.Settle says. It
// waits only once: calls during the first call wait until that has ended, and later calls return
// immediately.
func (e *engine) settled(ctx context.Context) {
	if e.cfg.Settle != nil {
		e.settle.Do(func() { e.cfg.Settle(ctx) })
	}
}

// initialize begins a session and returns what was negotiated. mcp-go's server chooses the
// revision: the one that the client asks for if it is known, else the newest before 2026-07-28. An
// unknown revision is never returned, since clients would think that it was agreed. It returns an
// error if the parameters cannot be read.
func (e *engine) initialize(ctx context.Context, c *caller, m message) (
	json.RawMessage, *rpcError) {
	result, rpcErr := e.bridge(ctx, c, m)
	if rpcErr != nil {
		return nil, rpcErr
	}
	var asked mcp.InitializeParams
	var answer mcp.InitializeResult
	// mcp-go has read the parameters already; here they are read for the session.
	if m.params != nil && json.Unmarshal(m.params, &asked) != nil ||
		json.Unmarshal(result, &answer) != nil {
		return nil, fail(codeParams, "the parameters of initialize cannot be read")
	}
	c.begin(answer.ProtocolVersion, asked.ClientInfo, asked.Capabilities)
	return e.declare(ctx, result), nil
}

// inFlight identifies a request that is being answered, by its session and its id. The id alone is
// not enough, because clients choose the ids, and every client counts from 0 or 1. The id is the
// text in JSON, so 1 and "1" differ.
type inFlight struct{ session, id string }

// errCancelled is the cause of a context that ends because the client cancelled its request, and so
// wants no answer. If the context ends for another reason, the request is answered.
var errCancelled = errors.New("the client cancelled the request")

// begin returns a context that ends when the session cancels the request or the server ends. The
// caller must call done when the request is answered. Without a session no later message could
// refer to the request, so nothing is registered.
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

// notified handles a message that wants no answer. It carries out cancellations, and tells the MCP
// servers behind this one that the client's folders have changed. notifications/initialized needs
// nothing, because a session has already begun with initialize.
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
	_, _ = e.bridge(ctx, c, m) // tells handlers that have registered; there is no answer
}

// isCancel reports whether a message cancels a request.
func isCancel(m message) bool {
	return !m.isRequest() && m.method == string(mcp.MethodNotificationCancelled)
}

// cancelled returns the id of the request that a message cancels, as it was written, because ids
// are compared as text. It returns "" if the message has none.
func cancelled(m message) string {
	var which struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.params, &which) != nil {
		return ""
	}
	return string(which.ID)
}

// calls are the requests being answered that their sessions may cancel. The keys of the map are of
// type inFlight, the values of type context.CancelCauseFunc.
type calls struct{ sync.Map }

// cancel ends a request of a session, and reports whether the request was being answered. An
// unknown or finished request is not an error, since the client's message and the answer may have
// crossed.
func (all *calls) cancel(session, id string) bool {
	cancel, ok := all.Load(inFlight{session, id})
	if ok {
		cancel.(context.CancelCauseFunc)(errCancelled)
	}
	return ok
}

// cancelIf cancels each request for which the function "meant" returns true. It looks at all
// requests, which is fast enough because sessions end rarely.
func (all *calls) cancelIf(meant func(inFlight) bool) {
	all.Range(func(key, cancel any) bool {
		if meant(key.(inFlight)) {
			cancel.(context.CancelCauseFunc)(errCancelled)
		}
		return true
	})
}
