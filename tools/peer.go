package tools

import (
	"context"
	"encoding/json"
)

// Peer is the MCP client on whose behalf toolnorm asks another MCP server something. A Peer is
// passed in the context, so that tools that ask no server need not know about it.
type Peer struct {
	// the client's session, for tools that may know it; empty: the client has none
	Session string
	Client  json.RawMessage // the client's description of itself (MCP's Implementation)
	Can     json.RawMessage // the client's capabilities, a JSON object
	// the client speaks MCP 2026-07-28, where questions are results and sessions are unknown
	Modern bool
	Level  string // the lowest level of log lines that the client wants
	// the parameters of the client's request, unchanged; nil: there is no request
	Params json.RawMessage

	// Ask sends the client a request and returns its result. An error may be an *RPCError. If Ask
	// is nil, the client cannot be asked.
	Ask func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)

	// Tell sends the client a notification if it listens for them. If Tell is nil, the client
	// cannot be notified.
	Tell func(method string, params json.RawMessage)
}

// RPCError is a JSON-RPC error from a server or client that is passed on unchanged.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error implements error. It returns the message.
func (e *RPCError) Error() string { return e.Message }

type peerKey struct{}

// WithPeer returns a context for work on behalf of p.
func WithPeer(ctx context.Context, p *Peer) context.Context {
	return context.WithValue(ctx, peerKey{}, p)
}

// PeerOf returns the client in ctx on whose behalf work is done, or nil if there is none.
func PeerOf(ctx context.Context) *Peer {
	p, _ := ctx.Value(peerKey{}).(*Peer)
	return p
}

// Lists maps each MCP method that lists something other than tools to the member of its result that
// contains the list. A method begins with the name of the server's capability.
var Lists = map[string]string{
	"prompts/list": "prompts", "resources/list": "resources",
	"resources/templates/list": "resourceTemplates", "tasks/list": "tasks",
}
