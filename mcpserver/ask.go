package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
)

// question is a request of ours that waits for its answer.
type question struct {
	session, principal string
	answer             chan message // has room for one
}

// ask sends the caller a request of ours, as revisions up to 2025-11-25 allow, and reads the answer into result. It waits until
// ctx ends.
func (e *engine) ask(ctx context.Context, c *caller, method mcp.MCPMethod, params, result any) error {
	id := rand.Text()
	q := &question{c.id, c.principal, make(chan message, 1)}
	e.asked.Store(id, q)
	defer e.asked.Delete(id)
	body := encode(struct {
		Version string        `json:"jsonrpc"`
		ID      string        `json:"id"`
		Method  mcp.MCPMethod `json:"method"`
		Params  any           `json:"params,omitempty"`
	}{"2.0", id, method, params})
	if err := c.out(ctx, frame{body: body}); err != nil {
		return fmt.Errorf("ask the client for %s: %w", method, err)
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("the client did not answer %s: %w", method, context.Cause(ctx))
	case m := <-q.answer:
		return readAnswer(m, method, result)
	}
}

// readAnswer reads what a client answered.
func readAnswer(m message, method mcp.MCPMethod, result any) error {
	if m.fault != nil {
		var fault mcp.JSONRPCErrorDetails
		if err := json.Unmarshal(m.fault, &fault); err != nil {
			return fmt.Errorf("the client's error to %s: %w", method, err)
		}
		return fmt.Errorf("the client refuses %s: %s (%d)", method, fault.Message, fault.Code)
	}
	if err := json.Unmarshal(m.result, result); err != nil {
		return fmt.Errorf("the client's answer to %s: %w", method, err)
	}
	return nil
}

// answered gives an answer to who waits for it. One that nobody waits for, or of another session, is dropped.
func (e *engine) answered(c *caller, m message) {
	var id string
	if json.Unmarshal(m.id, &id) != nil {
		return // ours are strings
	}
	waiting, ok := e.asked.Load(id)
	if !ok {
		return
	}
	q := waiting.(*question)
	if q.session != c.id || q.principal != c.principal {
		e.cfg.Log.Warn().Msg("an answer came from another MCP session than the one that was asked")
		return
	}
	select {
	case q.answer <- m:
	default: // answered before
	}
}
