package main

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	nameForm  = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`
	colorForm = `{"type":"object","properties":{"color":{"type":"string"}},"required":["color"]}`
)

// rounds adds the tools whose calls take several rounds: the result is a question, and the client
// calls again with the answer and with the state that came with the question. The server library
// signs what a client carries, so a state that comes back is one that its tool has given out.
func rounds(s *server.MCPServer) {
	const prefix = "test_input_required_result_"
	add(s, prefix+"elicitation", "Asks for a name.",
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if answer := elicited(r.Params.InputResponses, "user_name"); answer != nil {
				return mcp.NewToolResultText(fmt.Sprintf("Hello, %s!", field(answer, "name"))), nil
			}
			return new(server.InputRequestBuilder).Elicit("user_name",
				elicit("What is your name?", nameForm)).ToolResult(), nil
		})
	add(s, prefix+"sampling", "Asks the client's model.",
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if answer := server.SamplingResponse(r.Params.InputResponses,
				"capital_question"); answer != nil {
				return mcp.NewToolResultText(sampled(answer)), nil
			}
			return new(server.InputRequestBuilder).Sample("capital_question", sample(
				"What is the capital of France?")).ToolResult(), nil
		})
	add(s, prefix+"list_roots", "Asks which folders the client works in.",
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if answer := server.RootsResponse(r.Params.InputResponses,
				"client_roots"); answer != nil {
				return mcp.NewToolResultText(fmt.Sprintf("The client works in %d folders: %v",
					len(answer.Roots), answer.Roots)), nil
			}
			return new(server.InputRequestBuilder).Roots("client_roots").ToolResult(), nil
		})
	for _, name := range []string{prefix + "request_state", prefix + "tampered_state"} {
		add(s, name, "Asks for a confirmation and wants its own state back.", confirmation)
	}
	add(s, prefix+"multiple_inputs", "Asks for three things at once.", several)
	add(s, prefix+"multi_round", "Asks twice.", twice)
	add(s, prefix+"capabilities", "Asks only for what the client can give.", whatItCan)
	s.AddPrompt(mcp.NewPrompt(prefix+"prompt",
		mcp.WithPromptDescription("A prompt that asks first.")), askingPrompt)
}

// confirmation is a tool that asks the client's user to confirm, and then answers "state-ok". Its
// question carries the state "asked", which the client must send back with the answer. If a client
// changes the state, the library rejects the request and does not call confirmation.
func confirmation(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if r.Params.RequestState == "asked" && elicited(r.Params.InputResponses, "confirm") != nil {
		return mcp.NewToolResultText("state-ok"), nil
	}
	return server.NewInputRequestBuilder("asked").Elicit("confirm",
		elicit("Please confirm", okForm)).ToolResult(), nil
}

// several asks for three things in one result: an answer of the user, a text of the client's model,
// and the client's folders. If r has all three answers, it returns a text with them.
func several(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	user := elicited(r.Params.InputResponses, "user_name")
	greeting := server.SamplingResponse(r.Params.InputResponses, "greeting")
	roots := server.RootsResponse(r.Params.InputResponses, "client_roots")
	if user == nil || greeting == nil || roots == nil {
		return server.NewInputRequestBuilder("asked").Elicit("user_name", elicit(
				"What is your name?", nameForm)).
				Sample("greeting", sample("Generate a greeting")).Roots(
				"client_roots").ToolResult(),
			nil
	}
	return mcp.NewToolResultText(fmt.Sprintf("%s %s (%d folders)", sampled(greeting),
		field(user, "name"), len(roots.Roots))), nil
}

// twice is a tool that asks the user for a name and, in a second round, for a colour. The client
// sends the name back as the state of the second round. The tool keeps nothing in memory, because
// the second round can reach another replica.
func twice(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	name, color := elicited(r.Params.InputResponses, "step1"),
		elicited(r.Params.InputResponses, "step2")
	switch {
	case color != nil:
		return mcp.NewToolResultText(fmt.Sprintf("%s likes %s.", r.Params.RequestState,
			field(color, "color"))), nil
	case name != nil:
		return server.NewInputRequestBuilder(field(name, "name")).Elicit("step2", elicit(
			"Step 2: What is your favorite color?", colorForm)).ToolResult(), nil
	}
	return server.NewInputRequestBuilder("nobody yet").Elicit("step1", elicit(
		"Step 1: What is your name?", nameForm)).ToolResult(), nil
}

// whatItCan is a tool that asks for a name, and for a text by the client's model. It asks only for
// what the client has declared that it can provide; anything else would be an error of the
// protocol.
func whatItCan(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if len(r.Params.InputResponses) > 0 {
		return mcp.NewToolResultText("Thank you."), nil
	}
	client, ask := can(ctx), new(server.InputRequestBuilder)
	if client.elicitation {
		ask.Elicit("user_name", elicit("What is your name?", nameForm))
	}
	if client.sampling {
		ask.Sample("greeting", sample("Generate a greeting"))
	}
	if !client.elicitation && !client.sampling {
		return mcp.NewToolResultText("There is nothing that this client could be asked for."), nil
	}
	return ask.ToolResult(), nil
}

// askingPrompt returns a prompt with a context that the user chooses. If r does not have the user's
// answer yet, it returns the question for it, which the client puts to its user.
func askingPrompt(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	if answer := elicited(r.Params.InputResponses, "user_context"); answer != nil {
		return said(mcp.NewTextContent("Keep this in mind: " + field(answer, "context"))), nil
	}
	question := elicit("What context should the prompt use?",
		`{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}`)
	return new(server.InputRequestBuilder).Elicit("user_context", question).PromptResult(), nil
}

// field returns what the user wrote into one field of a form.
func field(answer *mcp.ElicitationResult, name string) string {
	fields, _ := answer.Content.(map[string]any)
	text, _ := fields[name].(string)
	return text
}
