package mcpserver

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

// unsealed is a message as mcp-go's server is to see it: with the state that a handler gave out, not with the sealed one that the
// client carried. purpose is what a state of this message is good for.
func (e *engine) unsealed(c *caller, m message) (raw json.RawMessage, purpose string, fault *rpcError) {
	if !c.modern {
		return m.raw, "", nil
	}
	purpose = stateFor(c.principal, m.method, m.said.Name+m.said.URI)
	if m.said.State == nil {
		return m.raw, purpose, nil
	}
	state, fault := e.seal.openState(purpose, *m.said.State)
	if fault != nil {
		return nil, "", fault
	}
	raw, err := withState(m, state)
	if err != nil {
		return nil, "", fail(codeParams, "the parameters cannot be read")
	}
	return raw, purpose, nil
}

// withState is a message with another state.
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

// sealed is a result as the client is to see it. One that asks for something the client has not declared is an error.
func (e *engine) sealed(c *caller, purpose string, result any) (any, *rpcError) {
	if !c.modern {
		return result, nil
	}
	var rounds *mcp.MultiRoundTripResult
	switch r := result.(type) {
	case *mcp.CallToolResult:
		rounds = &r.MultiRoundTripResult
	case mcp.GetPromptResult:
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

// lacking names the capability that a client would need to answer a request of ours, and has not declared.
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
