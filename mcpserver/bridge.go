package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"toolnorm/chat"
)

// longestBridged ends handlers of mcp-go's server, which have no time limit of their own.
const longestBridged = 10 * time.Minute

// bridge lets mcp-go's server answer a message. Only the result or the error is taken from it; the id is put in by us, since it
// reads numbers as float64.
func (e *engine) bridge(ctx context.Context, c *caller, m message) (json.RawMessage, *rpcError) {
	raw, purpose, fault := e.unsealed(c, m)
	if fault != nil {
		return nil, fault
	}
	ctx, cancel := context.WithTimeout(ctx, longestBridged)
	defer cancel()
	s := newBridged(ctx, e, c)
	defer s.finish()
	var failed error
	ctx = context.WithValue(e.cfg.Extra.WithContext(ctx, s), failedKey{}, &failed)
	answer := e.cfg.Extra.HandleMessage(ctx, raw)
	s.finish()
	switch a := answer.(type) {
	case mcp.JSONRPCResponse:
		result, fault := e.sealed(c, purpose, a.Result)
		if fault != nil {
			return nil, fault
		}
		body, err := chat.JSON(result)
		if err != nil {
			return nil, fail(codeInternal, "the result of %s cannot be written as JSON: %v", m.method, err)
		}
		return body, nil
	case mcp.JSONRPCError:
		return nil, aboutResource(m, bridgedError(c, a.Error, failed))
	}
	return nil, nil
}

// failedKey is where a context keeps the error of a handler, of which mcp-go's server only tells the text.
type failedKey struct{}

// rememberError keeps an error where bridge finds it. It is a hook of mcp-go's server.
func rememberError(ctx context.Context, _ any, _ mcp.MCPMethod, _ any, err error) {
	if failed, ok := ctx.Value(failedKey{}).(*error); ok {
		*failed = err
	}
}

// bridgedError is an error of mcp-go's server. One of a handler has the code that it asks for, instead of that of an internal one.
func bridgedError(c *caller, e mcp.JSONRPCErrorDetails, failed error) *rpcError {
	fault := fail(e.Code, "%s", e.Message)
	if e.Data != nil {
		fault.data = encode(e.Data)
	}
	if e.Code != codeInternal {
		return fault
	}
	var lacks mcp.MissingRequiredClientCapabilityError
	switch {
	case errors.As(failed, &lacks):
		return missing(lacks.Capability)
	case errors.Is(failed, server.ErrResourceNotFound) && !c.modern:
		fault.code = mcp.RESOURCE_NOT_FOUND
	case errors.Is(failed, server.ErrResourceNotFound), errors.Is(failed, mcp.ErrInvalidParams):
		fault.code = codeParams
	}
	return fault
}

// aboutResource names the resource that could not be read, as clients of 2026-07-28 expect it.
func aboutResource(m message, fault *rpcError) *rpcError {
	var asked mcp.ReadResourceParams
	if m.method != string(mcp.MethodResourcesRead) || fault.data != nil || json.Unmarshal(m.params, &asked) != nil {
		return fault
	}
	fault.data = encode(struct {
		URI     string `json:"uri"`
		Message string `json:"message"`
	}{asked.URI, fault.message})
	return fault
}

// missing says what a client would have to declare.
func missing(capability string) *rpcError {
	e := fail(codeCapability, "this needs a client with the capability %q", capability).withStatus(http.StatusBadRequest)
	e.data = encode(struct {
		Required map[string]struct{} `json:"requiredCapabilities"`
	}{map[string]struct{}{capability: {}}})
	return e
}
