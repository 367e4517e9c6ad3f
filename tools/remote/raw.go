package remote

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/client/transport"
)

// mcp-go reads schemas and structured results into Go values, which loses keywords, the order of members and the digits
// of large numbers. These transports hand on the text of a result beside it. There is one for each kind, since mcp-go
// finds out by their methods what they can do. {"default": 12345678901234567890} comes through as it is, and a keyword
// that mcp-go has no field for too.
type (
	rawHTTP  struct{ *transport.StreamableHTTP }
	rawSSE   struct{ *transport.SSE }
	rawStdio struct{ *process }
)

// rawKey is where a context holds the place for the result's text, a *json.RawMessage. Requests of mcp-go's own have
// none.
type rawKey struct{}

// SendRequest sends a request and keeps the text of its result.
func (t *rawHTTP) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	return keep(ctx)(t.StreamableHTTP.SendRequest(ctx, r))
}

// SendRequest does the same over the older transport.
func (t *rawSSE) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	return keep(ctx)(t.SSE.SendRequest(ctx, r))
}

// SendRequest does the same with a command.
func (t *rawStdio) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	return keep(ctx)(t.process.SendRequest(ctx, r))
}

// keep passes an answer on. The last one counts: a call may take several rounds of questions. The place for it comes by
// the context, as mcp-go's client has no other way from a call to its transport.
func keep(ctx context.Context) func(*transport.JSONRPCResponse, error) (*transport.JSONRPCResponse, error) {
	return func(resp *transport.JSONRPCResponse, err error) (*transport.JSONRPCResponse, error) {
		if raw, ok := ctx.Value(rawKey{}).(*json.RawMessage); ok && err == nil && resp != nil {
			*raw = resp.Result
		}
		return resp, err
	}
}
