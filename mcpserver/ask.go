package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/rs/zerolog"

	"toolnorm/tools"
)

// question is a request from this server to a client, for which an answer is awaited.
type question struct {
	// the client that was asked; an answer from any other is dropped
	session, principal string
	answer             chan message // has a buffer of one
}

// questions stores the open questions by their ids.
type questions struct {
	sync.Map
	log zerolog.Logger
}

// ask sends the caller a request, as revisions up to 2025-11-25 allow, and stores the client's
// answer in result. It returns an error if the client cannot be asked, refuses, or has not answered
// when ctx ends. The tool that asked may then go on without an answer. In 2026-07-28 servers send
// no requests; a handler returns its questions to the client in its result (see sealed).
func (e *engine) ask(ctx context.Context, c *caller, method mcp.MCPMethod, params,
	result any) error {
	raw, err := e.question(ctx, c, c.out, method, params)
	if refused, ok := errors.AsType[*tools.RPCError](err); ok {
		// Mostly the user has declined; the tool decides what that means.
		return fmt.Errorf("the client refuses %s: %s (%d)", method, refused.Message, refused.Code)
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("the client's answer to %s: %w", method, err)
	}
	return nil
}

// question sends the caller a request through the function out, and returns the result with which
// the client answers. The id is a random text, so that no client can answer a question to another.
// It returns an error if the request cannot be sent, or if ctx ends first, and a *tools.RPCError if
// the client answers with an error.
func (e *engine) question(ctx context.Context, c *caller, out func(context.Context, frame) error,
	method mcp.MCPMethod, params any) (json.RawMessage, error) {
	id := e.others.id(forQuestion, nameOf(c.id))
	q := &question{c.id, c.principal, make(chan message, 1)}
	e.asked.Store(id, q)
	defer e.asked.Delete(id)
	// A client that takes no stream (errDeaf) fails here at once, instead of when ctx ends.
	if err := out(ctx, frame{body: request(id, string(method), params)}); err != nil {
		return nil, fmt.Errorf("ask the client for %s: %w", method, err)
	}
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("the client did not answer %s: %w", method, context.Cause(ctx))
	case m := <-q.answer:
		if m.failure == nil {
			return m.result, nil
		}
		refused := &tools.RPCError{}
		if err := json.Unmarshal(m.failure, refused); err != nil {
			return nil, fmt.Errorf("the client's error to %s: %w", method, err)
		}
		return nil, refused
	}
}

// passedOn is a client's answer to a question that another replica has asked.
type passedOn struct {
	ID        string          `json:"id"`
	Session   string          `json:"session"` // as nameOf returns it
	Principal string          `json:"principal"`
	Message   json.RawMessage `json:"message"`
}

// answered passes an answer on to the question that waits for it, at this replica or at the one
// that asked the question. An answer to no question is dropped.
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

// deliver passes an answer on to the question with this id that waits at this replica. The
// parameter session is the hash of the session's id (see nameOf). An answer from another session is
// dropped, because otherwise a client could approve, in another user's name, what a tool asks that
// user.
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

// unsealed returns a message for mcp-go's server. In a repeated call, the client sends back a
// signed text that contains the handler's state. unsealed checks the signature and puts the state
// itself into the message. It also returns the purpose for which the next state of this call must
// be signed. A state must be signed for one caller and one call, as 2026-07-28 requires, because
// the client stores it. If the signed text is wrong, the error is -32602.
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

// withState returns the message m with another state. Only the parameters are encoded anew; their
// values stay as the client wrote them. It returns an error if the parameters are no object.
func withState(m message, state string) (json.RawMessage, error) {
	var params map[string]json.RawMessage
	if err := json.Unmarshal(m.params, &params); err != nil {
		return nil, err
	}
	params["requestState"] = encode(state)
	return request(m.id, m.method, params), nil
}

// sealed returns a result for the client, in which the handler's state is signed. If the result
// asks the client for something that the client has not declared, it returns the error -32021,
// because a server must never ask for that and such a client could not go on.
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

// lacking returns the name of the capability that a client needs to answer this method but has not
// declared. It returns "" if the client lacks none. Unknown methods need none.
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
