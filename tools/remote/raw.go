package remote

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// mcp-go decodes schemas and structured results into Go values, which loses unknown keywords, the
// order of members and the digits of large numbers, as of {"default": 12345678901234567890}. These
// transports pass on the text of each result in addition. There is one type for each kind of
// transport, since mcp-go detects by a transport's methods what it can do.
type (
	rawHTTP struct {
		*transport.StreamableHTTP
		refused error // the error of server/discover when the server wanted a sign-in
	}
	rawSSE   struct{ *transport.SSE }
	rawStdio struct{ *process }
)

// rawKey is the context key of a *kept, which receives the text of a result. Requests that mcp-go
// makes by itself have none.
type rawKey struct{}

// kept is a place for the text of a result as the server wrote it. If the field plain is set,
// mcp-go reads what this function makes of the text, and otherwise the text itself.
type kept struct {
	text  json.RawMessage
	plain func(json.RawMessage) json.RawMessage // nil: mcp-go reads the text itself
}

// SendRequest implements transport.Interface: it sends a request by Streamable HTTP, and stores the
// text of the result as the server wrote it (see keep). After any refusal of server/discover mcp-go
// sends initialize, and a server that speaks only the latest revision refuses that without the
// reason. So if the server demands a sign-in for server/discover, SendRequest returns that error
// for initialize, too. If the server refuses the latest revision but lists it as supported,
// server/discover is sent once more.
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

// knowsLatest reports whether an answer refuses the revision of its request but lists the latest
// revision as supported.
func knowsLatest(resp *transport.JSONRPCResponse) bool {
	if resp == nil || resp.Error == nil || resp.Error.Code != mcp.UNSUPPORTED_PROTOCOL_VERSION {
		return false
	}
	var said mcp.UnsupportedProtocolVersionData
	text, err := json.Marshal(resp.Error.Data)
	return err == nil && json.Unmarshal(text, &said) == nil &&
		slices.Contains(said.Supported, mcp.LATEST_PROTOCOL_VERSION)
}

// SendRequest implements transport.Interface: it sends a request over the older HTTP transport, and
// stores the text of the result as the server wrote it (see keep).
func (t *rawSSE) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (
	*transport.JSONRPCResponse, error) {
	return keep(ctx, r)(t.SSE.SendRequest(ctx, r))
}

// SendRequest implements transport.Interface: it sends a request to a command, and stores the text
// of the result as the server wrote it (see keep).
func (t *rawStdio) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (
	*transport.JSONRPCResponse, error) {
	return keep(ctx, r)(t.process.SendRequest(ctx, r))
}

// keep returns a function that stores the text of an answer's result in the *kept in ctx. The
// context is the only way from a call of mcp-go's client to its transport. The function returns the
// answer, for mcp-go, with the result as converted by the function plain of the *kept, or by
// plainGreeting if the answer is the server's description of itself. A call may take several rounds
// of questions, of which the last answer's text is kept. Errors are returned unchanged.
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
