package remote

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// mcp-go reads schemas and structured results into Go values, which loses keywords, the order of
// members and the digits of large numbers. These transports hand on the text of a result beside it.
// There is one for each kind, since mcp-go finds out by their methods what they can do. {"default":
// 12345678901234567890} comes through as it is, and a keyword that mcp-go has no field for too.
type (
	rawHTTP struct {
		*transport.StreamableHTTP
		refused error // server/discover was, since the server wants a sign-in
	}
	rawSSE   struct{ *transport.SSE }
	rawStdio struct{ *process }
)

// rawKey is where a context holds the place for the result's text, a *kept. Requests of mcp-go's
// own have none.
type rawKey struct{}

// kept is a result's text, and what mcp-go is to read in its place.
type kept struct {
	text  json.RawMessage
	plain func(json.RawMessage) json.RawMessage // nil: the text itself
}

// SendRequest sends a request and keeps the text of its result. mcp-go asks by initialize whatever
// server/discover was answered: a server of the latest revision alone says nothing to that of why
// it refused. So one that wanted a sign-in is not asked again, and one that refused the revision
// which it then names is asked once more.
func (t *rawHTTP) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (
	*transport.JSONRPCResponse, error) {
	if r.Method == string(mcp.MethodInitialize) && t.refused != nil {
		return nil, t.refused
	}
	resp, err := t.StreamableHTTP.SendRequest(ctx, r)
	if r.Method == string(mcp.MethodServerDiscover) {
		if t.refused = nil; errors.Is(err, transport.ErrAuthorizationRequired) {
			t.refused = err
		}
		if err == nil && knowsLatest(resp) {
			resp, err = t.StreamableHTTP.SendRequest(ctx, r)
		}
	}
	return keep(ctx, r)(resp, err)
}

// knowsLatest reports whether an answer refuses the revision of its request, and names the latest
// among those to ask by.
func knowsLatest(resp *transport.JSONRPCResponse) bool {
	if resp == nil || resp.Error == nil || resp.Error.Code != mcp.UNSUPPORTED_PROTOCOL_VERSION {
		return false
	}
	var said mcp.UnsupportedProtocolVersionData
	text, err := json.Marshal(resp.Error.Data)
	return err == nil && json.Unmarshal(text, &said) == nil &&
		slices.Contains(said.Supported, mcp.LATEST_PROTOCOL_VERSION)
}

// SendRequest sends a request over the older HTTP transport, and keeps the text of the result
// beside what mcp-go reads of it.
func (t *rawSSE) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (
	*transport.JSONRPCResponse, error) {
	return keep(ctx, r)(t.SSE.SendRequest(ctx, r))
}

// SendRequest sends a request to a command, and keeps the text of the result beside what mcp-go
// reads of it.
func (t *rawStdio) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (
	*transport.JSONRPCResponse, error) {
	return keep(ctx, r)(t.process.SendRequest(ctx, r))
}

// keep passes an answer on, and keeps its text. The last answer counts, since a call may take
// several rounds of questions. The place for it is in the context, as mcp-go's client has no other
// way from a call to its transport.
func keep(ctx context.Context, r transport.JSONRPCRequest) func(*transport.JSONRPCResponse, error) (
	*transport.JSONRPCResponse, error) {
	return func(resp *transport.JSONRPCResponse, err error) (*transport.JSONRPCResponse, error) {
		if err != nil || resp == nil || len(resp.Result) == 0 {
			return resp, err
		}
		out := *resp
		raw, ok := ctx.Value(rawKey{}).(*kept)
		switch {
		case ok && raw.plain != nil:
			raw.text, out.Result = resp.Result, raw.plain(resp.Result)
		case ok:
			raw.text = resp.Result
		case r.Method == string(mcp.MethodInitialize) ||
			r.Method == string(mcp.MethodServerDiscover):
			out.Result = plainGreeting(resp.Result)
		}
		return &out, nil
	}
}
