package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/rs/zerolog"
)

// question is a request of ours that waits for its answer.
type question struct {
	// the client that was asked: an answer from any other is dropped
	session, principal string
	answer             chan message // has room for one
}

// questions holds those that wait, by their ids.
type questions struct {
	sync.Map
	log zerolog.Logger
}

// ask sends the caller a request of ours, as revisions up to 2025-11-25 allow, and reads the answer
// into result. It waits until ctx ends. The id is a random text, so that no client can answer a
// question to another. Since 2026-07-28 servers send no requests; handlers return what they need to
// know instead (see sealed).
func (e *engine) ask(ctx context.Context, c *caller, method mcp.MCPMethod, params,
	result any) error {
	m, err := e.question(ctx, c, c.out, method, params)
	if err != nil {
		return err
	}
	return readAnswer(m, method, result)
}

// question sends the caller a request of ours through out, and returns the message that answers it.
func (e *engine) question(ctx context.Context, c *caller, out func(context.Context, frame) error,
	method mcp.MCPMethod, params any) (message, error) {
	id := e.others.id(forQuestion, nameOf(c.id))
	q := &question{c.id, c.principal, make(chan message, 1)}
	e.asked.Store(id, q)
	defer e.asked.Delete(id)
	body := encode(struct {
		Version string        `json:"jsonrpc"`
		ID      string        `json:"id"`
		Method  mcp.MCPMethod `json:"method"`
		Params  any           `json:"params,omitempty"`
	}{"2.0", id, method, params})
	// A client that takes no stream (errDeaf) fails here at once, instead of when ctx ends.
	if err := out(ctx, frame{body: body}); err != nil {
		return message{}, fmt.Errorf("ask the client for %s: %w", method, err)
	}
	select {
	case <-ctx.Done():
		return message{}, fmt.Errorf("the client did not answer %s: %w", method, context.Cause(ctx))
	case m := <-q.answer:
		return m, nil
	}
}

// readAnswer reads what a client answered. Its error is an error to the tool that asked, which may
// go on without the answer.
func readAnswer(m message, method mcp.MCPMethod, result any) error {
	if m.failure != nil {
		// Mostly the user has declined; the tool decides what that means.
		var details mcp.JSONRPCErrorDetails
		if err := json.Unmarshal(m.failure, &details); err != nil {
			return fmt.Errorf("the client's error to %s: %w", method, err)
		}
		return fmt.Errorf("the client refuses %s: %s (%d)", method, details.Message, details.Code)
	}
	if err := json.Unmarshal(m.result, result); err != nil {
		return fmt.Errorf("the client's answer to %s: %w", method, err)
	}
	return nil
}

// passedOn is a client's answer to a question of another replica's.
type passedOn struct {
	ID        string          `json:"id"`
	Session   string          `json:"session"` // as nameOf gives it
	Principal string          `json:"principal"`
	Message   json.RawMessage `json:"message"`
}

// answered passes an answer to the question that waits for it, which another replica may have
// asked. An answer to no question is dropped.
func (e *engine) answered(c *caller, m message) {
	var id string
	if json.Unmarshal(m.id, &id) != nil {
		return // ours are strings
	}
	session := nameOf(c.id)
	other, ok := e.others.having(forQuestion, id, session)
	if !ok {
		e.asked.deliver(id, session, c.principal, m)
		return
	}
	if err := e.cfg.Shared.Tell(other, aboutAnswer,
		passedOn{id, session, c.principal, m.raw}); err != nil {
		e.cfg.Log.Warn().Err(err).Msg(
			"cannot pass on an MCP client's answer to the replica that asked")
	}
}

// deliver passes an answer from a session, as nameOf gives it, to the question that waits for it
// here. An answer from another session is dropped. Without the check of the session a client could
// approve, in another user's name, what a tool asks that user.
func (q *questions) deliver(id, session, principal string, m message) {
	waiting, ok := q.Load(id)
	if !ok {
		return
	}
	one := waiting.(*question)
	if nameOf(one.session) != session || one.principal != principal {
		q.log.Warn().Msg("an answer came from another MCP session than the one that was asked")
		return
	}
	select {
	// The first answer counts: the channel has room for one, and a second is never read.
	case one.answer <- m:
	default: // answered before
	}
}

// unsealed returns a message as mcp-go's server is to see it: with the state that a handler gave
// out, not with the sealed state that the client carried. purpose is the purpose for which a state
// of this message must be sealed. Since the client holds the state, 2026-07-28 wants it signed and
// bound to the caller and the call; a wrong state is the error -32602.
func (e *engine) unsealed(c *caller, m message) (
	raw json.RawMessage, purpose string, rpcErr *rpcError) {
	if !c.modern {
		return m.raw, "", nil
	}
	// One of name and uri is empty: a tool and a prompt have names, a resource its address.
	purpose = stateFor(c.principal, m.method, m.said.Name+m.said.URI)
	if m.said.State == nil {
		return m.raw, purpose, nil
	}
	state, rpcErr := e.seal.openState(purpose, *m.said.State)
	if rpcErr != nil {
		return nil, "", rpcErr
	}
	raw, err := withState(m, state)
	if err != nil {
		return nil, "", fail(codeParams, "the parameters cannot be read")
	}
	return raw, purpose, nil
}

// withState returns a message with another state. Only the parameters are written anew; their
// values stay as the client wrote them.
func withState(m message, state string) (json.RawMessage, error) {
	var params map[string]json.RawMessage
	if err := json.Unmarshal(m.params, &params); err != nil {
		return nil, err
	}
	params["requestState"] = encode(state)
	return encode(struct {
		Version string                     `json:"jsonrpc"`
		ID      json.RawMessage            `json:"id"`
		Method  string                     `json:"method"`
		Params  map[string]json.RawMessage `json:"params"`
	}{"2.0", m.id, m.method, params}), nil
}

// sealed returns a result as the client is to see it. A result that asks for something that the
// client has not declared becomes the error -32021: a server must never ask for it, and a client
// without that capability could not go on.
func (e *engine) sealed(c *caller, purpose string, result any) (any, *rpcError) {
	if !c.modern {
		return result, nil
	}
	var rounds *mcp.MultiRoundTripResult
	switch r := result.(type) {
	case *mcp.CallToolResult:
		rounds = &r.MultiRoundTripResult
	case mcp.GetPromptResult:
		// A copy, so that what the handler holds is not sealed with it.
		rounds, result = &r.MultiRoundTripResult, &r
	case mcp.ReadResourceResult:
		rounds, result = &r.MultiRoundTripResult, &r
	default:
		return result, nil
	}
	for _, ask := range rounds.InputRequests {
		if lacks := lacking(c.meta.Capabilities, ask.Method); lacks != "" {
			return nil, missing(lacks)
		}
	}
	if rounds.RequestState != "" {
		rounds.RequestState = e.seal.closeState(purpose, rounds.RequestState)
	}
	return result, nil
}

// lacking names the capability that a client would need to answer a request of ours, and has not
// declared. Methods that it does not know need none.
func lacking(can *mcp.ClientCapabilities, method mcp.MCPMethod) string {
	if can == nil {
		can = &mcp.ClientCapabilities{}
	}
	switch {
	case method == mcp.MethodElicitationCreate && can.Elicitation == nil:
		return "elicitation"
	case method == mcp.MethodSamplingCreateMessage && can.Sampling == nil:
		return "sampling"
	case method == mcp.MethodListRoots && can.Roots == nil:
		return "roots"
	}
	return ""
}
