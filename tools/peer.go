package tools

import (
	"context"
	"encoding/json"
)

// Peer is the MCP client on whose behalf something is asked of another MCP server. It travels in
// the context, so that tools other than gateways need not know of it.
type Peer struct {
	// identifies its session, for tools that may know it; empty: it has none
	Session string
	Client  json.RawMessage // what it calls itself (Implementation)
	Can     json.RawMessage // its capabilities, an object
	// it speaks 2026-07-28, where questions are results and sessions are unknown
	Modern bool
	Level  string          // the lowest level of the log lines that it wants
	Params json.RawMessage // the parameters of its request, as they came; nil: there is no request

	// Ask asks the client something and returns its result; an error may be an *RPCError. If Ask is
	// nil, the client cannot be asked.
	Ask func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)

	// Tell sends the client a notification, if it listens. If Tell is nil, the client cannot be
	// notified.
	Tell func(method string, params json.RawMessage)
}

// RPCError is a JSON-RPC error that is passed on unchanged.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error returns the message.
func (e *RPCError) Error() string { return e.Message }

type peerKey struct{}

// WithPeer returns a context for work on behalf of p.
func WithPeer(ctx context.Context, p *Peer) context.Context {
	return context.WithValue(ctx, peerKey{}, p)
}

// PeerOf returns the client on whose behalf something is done; nil: nobody's who could be asked.
func PeerOf(ctx context.Context) *Peer {
	p, _ := ctx.Value(peerKey{}).(*Peer)
	return p
}

// Lists holds the methods by which MCP servers list things other than tools, each with the member
// of its result that holds the list. A method begins with the name of the capability.
var Lists = map[string]string{
	"prompts/list": "prompts", "resources/list": "resources",
	"resources/templates/list": "resourceTemplates", "tasks/list": "tasks",
}
