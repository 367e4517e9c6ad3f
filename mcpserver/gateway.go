package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/tools"
)

// Gateway gives access to what other MCP servers offer beside the tools in the registry. The
// context holds the asking client as a tools.Peer. Package remote has an implementation.
type Gateway interface {
	// the servers' capabilities
	Offers() map[string]json.RawMessage
	// of a list, of all servers
	Members(ctx context.Context, method string) []json.RawMessage
	// those for this client alone
	Tools(ctx context.Context) []tools.Tool
	// a request for one server
	Forward(ctx context.Context, method string, params json.RawMessage) (
		result json.RawMessage, known bool, err error)
	// of log lines
	SetLevel(ctx context.Context, params json.RawMessage)
	// a notification of the client's
	Tell(ctx context.Context, method string)
	// a client has given up its session
	Left(session string)
	// of lists that may have changed
	Notify(func(method string))
}

// none is the gateway where there are no other servers.
type none struct{}

func (none) Offers() map[string]json.RawMessage                { return nil }
func (none) Members(context.Context, string) []json.RawMessage { return nil }
func (none) Tools(context.Context) []tools.Tool                { return nil }
func (none) SetLevel(context.Context, json.RawMessage)         {}
func (none) Tell(context.Context, string)                      {}
func (none) Left(string)                                       {}
func (none) Notify(func(string))                               {}
func (none) Forward(context.Context, string, json.RawMessage) (json.RawMessage, bool, error) {
	return nil, false, nil
}

// beyond answers a request for what other servers offer; handled is false for all others.
func (e *engine) beyond(ctx context.Context, c *caller, m message) (
	result json.RawMessage, rpcErr *rpcError, handled bool) {
	key := tools.Lists[m.method]
	switch {
	case key != "" && m.said.Cursor == "" && len(e.cfg.Gateway.Offers()) > 0:
		result = e.join(ctx, c, m, key)
		return result, rpcErr, true
	case m.method == string(mcp.MethodSetLogLevel):
		result, rpcErr = e.bridge(ctx, c, m)
		if rpcErr == nil {
			e.cfg.Gateway.SetLevel(ctx, m.params)
		}
		return result, rpcErr, true
	case !forwarded(m.method):
		return nil, nil, false
	}
	ctx, done := reporting(ctx, c)
	raw, known, err := e.cfg.Gateway.Forward(ctx, m.method, m.params)
	done()
	var refused *tools.RPCError
	switch {
	case !known && c.modern && m.said.Task != "":
		return nil, fail(codeParams, "there is no such task, or no longer"), true
	case !known:
		return nil, nil, false // ours, or nobody's, which mcp-go's server says
	case errors.As(err, &refused):
		rpcErr = fail(refused.Code, "%s", refused.Message)
		rpcErr.data = refused.Data
		return nil, rpcErr, true
	case err != nil:
		return nil, fail(codeInternal, "%s", err.Error()), true
	}
	return e.passed(c, raw), nil, true
}

// forwarded reports whether a method is for one server.
func forwarded(method string) bool {
	switch mcp.MCPMethod(method) {
	case mcp.MethodPromptsGet, mcp.MethodResourcesRead, mcp.MethodResourcesSubscribe,
		mcp.MethodResourcesUnsubscribe, mcp.MethodCompletionComplete:
		return true
	}
	return strings.HasPrefix(method, "tasks/")
}

// join returns our own list with the lists of other servers appended. If our own cannot be listed,
// it counts as empty.
func (e *engine) join(ctx context.Context, c *caller, m message, key string) json.RawMessage {
	own := map[string]json.RawMessage{}
	var all []json.RawMessage
	if raw, rpcErr := e.bridge(ctx, c, m); rpcErr == nil {
		_ = json.Unmarshal(raw, &own) // ours is an object, with a list under its key
		_ = json.Unmarshal(own[key], &all)
	}
	own[key] = encode(append(append([]json.RawMessage{}, all...),
		e.cfg.Gateway.Members(ctx, m.method)...))
	if c.modern {
		maps.Copy(own, map[string]json.RawMessage{"ttlMs": encode(cacheMillis),
			"cacheScope": encode(cacheScope)})
	}
	return e.passed(c, encode(own))
}

// passed returns another server's result as the client's revision wants it: 2026-07-28 demands
// resultType.
func (e *engine) passed(c *caller, raw json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil || c.modern == (all["resultType"] != nil) &&
		c.modern == (all["_meta"] != nil) {
		return raw
	}
	switch {
	case !c.modern:
		delete(all, "resultType")
		if s := all["structuredContent"]; s != nil && s[0] != '{' {
			delete(all, "structuredContent") // earlier revisions know only objects; the text has it
		}
	default:
		if all["resultType"] == nil {
			all["resultType"] = encode("complete")
		}
		if all["_meta"] == nil {
			all["_meta"] = e.lists.identity
		}
	}
	return encode(all)
}

// declare adds the capabilities of other servers to those that mcp-go's server declares. At the
// address of a set, the set's description becomes the instructions of the server.
func (e *engine) declare(ctx context.Context, result json.RawMessage) json.RawMessage {
	may, offers := e.cfg.Registry.For(ctx), e.cfg.Gateway.Offers()
	var all, can map[string]json.RawMessage
	if may.Part != "" {
		return declareSet(may, result)
	}
	if len(offers) == 0 || json.Unmarshal(result, &all) != nil ||
		json.Unmarshal(all["capabilities"], &can) != nil {
		return result
	}
	for name, value := range offers {
		if can[name] == nil || name == "resources" {
			can[name] = value
		}
	}
	all["capabilities"] = encode(can)
	return encode(all)
}

// asksBack reports whether the caller's client could be asked anything.
func (c *caller) asksBack() bool {
	can := c.now().can
	return c.id != "" && !c.modern && (can.Elicitation != nil || can.Sampling != nil ||
		can.Roots != nil || can.Tasks != nil)
}

// peer puts the sender of a message into its context, for tools that ask other servers; over is
// called when the message is answered. A question goes out on the stream of the message while that
// lasts, and then on the one on which the session listens.
func (e *engine) peer(ctx context.Context, c *caller, m message) (_ context.Context, over func()) {
	said := c.now()
	p := &tools.Peer{
		Session: c.id, Modern: c.modern, Level: string(said.level), Params: m.params,
		Client: encode(said.client), Can: encode(said.can),
	}
	var answered atomic.Bool
	if c.id != "" && !c.modern {
		p.Tell = func(method string, params json.RawMessage) {
			// who does not listen hears nothing
			_ = e.hub.one(c.id, frame{body: notification(method, orNil(params))})
		}
		p.Ask = func(ctx context.Context, method string, params json.RawMessage) (
			json.RawMessage, error) {
			return e.relayed(ctx, c, method, params, &answered)
		}
	}
	return tools.WithPeer(ctx, p), func() { answered.Store(true) }
}

// relayed passes a question of another server on to the client.
func (e *engine) relayed(ctx context.Context, c *caller, method string, params json.RawMessage,
	answered *atomic.Bool) (json.RawMessage, error) {
	can := c.now().can
	tasks := strings.HasPrefix(method, "tasks/") && can.Tasks != nil
	switch mcp.MCPMethod(method) {
	case mcp.MethodElicitationCreate, mcp.MethodSamplingCreateMessage, mcp.MethodListRoots:
	default:
		if !tasks {
			return nil, &tools.RPCError{Code: codeMethod, Message: "Method not found"}
		}
	}
	if lacks := lacking(&can, mcp.MCPMethod(method)); lacks != "" {
		return nil, &tools.RPCError{Code: codeMethod, Message: "the client has no " + lacks}
	}
	out := func(ctx context.Context, f frame) error {
		if !answered.Load() {
			if err := c.out(ctx, f); err == nil {
				return nil
			}
		}
		return e.hub.one(c.id, f)
	}
	m, err := e.question(ctx, c, out, mcp.MCPMethod(method), orNil(params))
	if err != nil {
		return nil, err
	}
	if m.failure != nil {
		refused := &tools.RPCError{}
		if err := json.Unmarshal(m.failure, refused); err != nil {
			return nil, err
		}
		return nil, refused
	}
	return m.result, nil
}
