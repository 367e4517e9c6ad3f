package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/tools"
)

// Gateway gives access to what other MCP servers offer, apart from the tools in the registry. The
// contexts of its methods contain the asking client as a tools.Peer. Package remote has an
// implementation.
type Gateway interface {
	// the capabilities of the servers; empty if there are none
	Offers() map[string]json.RawMessage
	// the members of a list of all servers, for example of prompts/list
	Members(ctx context.Context, method string) []json.RawMessage
	// the tools that are only for this client
	Tools(ctx context.Context) []tools.Tool
	// sends a request to the one server that it concerns; known is false if there is none
	Forward(ctx context.Context, method string, params json.RawMessage) (
		result json.RawMessage, known bool, err error)
	// sets the level of log lines
	SetLevel(ctx context.Context, params json.RawMessage)
	// passes on a notification of the client
	Tell(ctx context.Context, method string)
	// says that a client has ended its session
	Left(session string)
	// registers a function to call when lists may have changed
	Notify(func(method string))
}

// none is the Gateway of a program that is connected to no other MCP servers.
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

// beyond answers a request that must be passed on to the MCP servers behind this one. handled is
// false for any other request, which is then still unanswered.
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
	case m.method == string(mcp.MethodResourcesRead):
		// Another server may list an address of ours, and must not speak for us, even if we fail.
		result, rpcErr = e.bridge(ctx, c, m)
		if rpcErr == nil || rpcErr.code == codeInternal {
			return result, rpcErr, true
		}
	}
	ctx, done := reporting(ctx, c)
	raw, known, err := e.cfg.Gateway.Forward(ctx, m.method, m.params)
	done()
	var refused *tools.RPCError
	switch {
	case !known && c.modern && m.said.Task != "":
		return nil, fail(codeParams, "there is no such task, or no longer"), true
	case !known:
		if rpcErr == nil { // otherwise it was asked above
			result, rpcErr = e.bridge(ctx, c, m)
		}
		return result, e.nobodys(c, m, rpcErr), true
	case errors.As(err, &refused):
		rpcErr = fail(refused.Code, "%s", refused.Message)
		rpcErr.data = refused.Data
		return nil, rpcErr, true
	case err != nil:
		return nil, fail(codeInternal, "%s", err.Error()), true
	}
	return e.passed(c, raw), nil, true
}

// nobodys returns the error for a request that neither mcp-go's server nor an MCP server behind
// this one could answer. The parameter rpcErr is the error of mcp-go's server, or nil, and is
// mostly returned unchanged. But if it says that the method is unknown, although a server behind
// this one has the method, nobodys returns the error that there is no such resource, prompt or
// task.
func (e *engine) nobodys(c *caller, m message, rpcErr *rpcError) *rpcError {
	capability, _, _ := strings.Cut(m.method, "/")
	if _, offered := e.cfg.Gateway.Offers()[capability]; !offered || rpcErr == nil ||
		rpcErr.code != codeMethod {
		return rpcErr
	}
	rpcErr = fail(codeParams, "there is no %q", cmp.Or(m.said.URI, m.said.Name, m.said.Task))
	if m.method == string(mcp.MethodResourcesRead) && !c.modern {
		rpcErr.code = mcp.RESOURCE_NOT_FOUND
	}
	return aboutResource(m, rpcErr)
}

// forwarded reports whether requests of a method are passed on to the one server that they concern.
func forwarded(method string) bool {
	switch mcp.MCPMethod(method) {
	case mcp.MethodPromptsGet, mcp.MethodResourcesRead, mcp.MethodResourcesSubscribe,
		mcp.MethodResourcesUnsubscribe, mcp.MethodCompletionComplete:
		return true
	}
	return strings.HasPrefix(method, "tasks/")
}

// join returns a list of one kind, such as resources: this server's own, followed by those of the
// MCP servers behind it. The parameter key is the member of the result that has the list. If this
// server's own list cannot be made, only the others are returned.
func (e *engine) join(ctx context.Context, c *caller, m message, key string) json.RawMessage {
	own := map[string]json.RawMessage{}
	var all []json.RawMessage
	if raw, rpcErr := e.bridge(ctx, c, m); rpcErr == nil {
		_ = json.Unmarshal(raw, &own) // ours is an object, with a list under its key
		_ = json.Unmarshal(own[key], &all)
	}
	ours := map[string]bool{}
	for _, one := range all {
		ours[addressOf(one)] = true
	}
	theirs := e.cfg.Gateway.Members(ctx, m.method)
	theirs = slices.DeleteFunc(theirs, func(one json.RawMessage) bool {
		address := addressOf(one)
		return address != "" && ours[address]
	})
	own[key] = encode(append(append([]json.RawMessage{}, all...), theirs...))
	if c.modern {
		maps.Copy(own, map[string]json.RawMessage{"ttlMs": encode(cacheMillis),
			"cacheScope": encode(cacheScope)})
	}
	return e.passed(c, encode(own))
}

// addressOf returns the address of an entry in a list of resources or of templates for them. It
// returns "" for an entry of another list, which has no address.
func addressOf(one json.RawMessage) string {
	var about struct{ URI, URITemplate string }
	_ = json.Unmarshal(one, &about) // a member without an address has none
	return cmp.Or(about.URI, about.URITemplate)
}

// passed returns another server's result in the form for the client's revision. For example,
// 2026-07-28 demands resultType. A result that is no object is returned unchanged.
func (e *engine) passed(c *caller, raw json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return raw
	}
	structured := all["structuredContent"]
	switch {
	case c.modern && (all["resultType"] == nil || all["_meta"] == nil):
		if all["resultType"] == nil {
			all["resultType"] = encode("complete")
		}
		if all["_meta"] == nil {
			all["_meta"] = e.lists.identity
		}
	case !c.modern && (all["resultType"] != nil || structured != nil && structured[0] != '{'):
		delete(all, "resultType")
		if structured == nil || structured[0] == '{' {
			break
		}
		// Earlier revisions know only objects, so the value has to be in a text.
		delete(all, "structuredContent")
		if isEmptyList(all["content"]) {
			all["content"] = encode([]content{textOf(string(structured))})
		}
	default:
		return raw
	}
	return encode(all)
}

// declare adds the capabilities of the MCP servers behind this one to result, an answer to
// initialize, and returns the new answer. If the request is for the address of a set of tools, it
// adds no capabilities, but puts the set's description into the instructions. A result that cannot
// be read is returned unchanged.
func (e *engine) declare(ctx context.Context, result json.RawMessage) json.RawMessage {
	may, offers := e.cfg.Registry.For(ctx), e.cfg.Gateway.Offers()
	switch {
	case may.Part != "":
		return declareSet(may, result)
	case len(offers) == 0:
		return result
	}
	return declaring(result, func(_, can map[string]json.RawMessage) {
		for name, value := range offers {
			if can[name] == nil || name == "resources" {
				can[name] = value
			}
		}
	})
}

// declaring lets the function change edit what a server declares about itself, and returns the
// edited JSON. change gets the members of that declaration, and the members of its "capabilities".
// If the JSON cannot be read, declaring returns it unchanged.
func declaring(result json.RawMessage,
	change func(all, can map[string]json.RawMessage)) json.RawMessage {
	var all, can map[string]json.RawMessage
	if json.Unmarshal(result, &all) != nil || json.Unmarshal(all["capabilities"], &can) != nil {
		return result
	}
	change(all, can)
	all["capabilities"] = encode(can)
	return encode(all)
}

// asksBack reports whether this server can send requests to the caller's client, for example to ask
// its user.
func (c *caller) asksBack() bool {
	can := c.now().can
	return c.id != "" && !c.modern && (can.Elicitation != nil || can.Sampling != nil ||
		can.Roots != nil || can.Tasks != nil)
}

// peer returns a context with the sender of a message. With it, tools of the MCP servers behind
// this one can ask the client something. Such a question is sent on the stream of the message until
// the caller of peer calls over, which it must do when the message is answered. Later questions are
// sent on a stream on which the session listens.
func (e *engine) peer(ctx context.Context, c *caller, m message) (_ context.Context, over func()) {
	said := c.now()
	p := &tools.Peer{
		Session: c.id, Modern: c.modern, Level: string(said.level), Params: m.params,
		Client: encode(said.client), Can: encode(said.can),
	}
	var answered atomic.Bool
	if c.id != "" && !c.modern {
		p.Tell = func(method string, params json.RawMessage) {
			// a client that does not listen gets nothing
			_ = e.hub.one(c.id, frame{body: notification(method, orNil(params))})
		}
		p.Ask = func(ctx context.Context, method string, params json.RawMessage) (
			json.RawMessage, error) {
			return e.relayed(ctx, c, method, params, &answered)
		}
	}
	return tools.WithPeer(ctx, p), func() { answered.Store(true) }
}

// relayed sends the client a question of an MCP server behind this one, and returns the answer. If
// answered is true, the client's own request has been answered, and the question is sent on another
// stream of its session. It returns an error if the client cannot answer such questions, refuses,
// or does not answer before ctx ends.
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
	return e.question(ctx, c, out, mcp.MCPMethod(method), orNil(params))
}
