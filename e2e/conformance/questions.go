package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// questions adds the tools that ask the client for one thing before they answer. A tool asks by
// returning the question as its result. For revisions up to 2025-11-25, the library turns that into
// a request to the client; in later ones, the client calls again with the answer.
func questions(s *server.MCPServer) {
	addWith(s, "test_elicitation", "Asks the user what the caller wants to know.",
		`{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`,
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return form(r, "User response", r.GetString("message", ""),
				`{"type":"object","required":["username","email"],"properties":{
				"username":{"type":"string","description":"User's response"},
				"email":{"type":"string","description":"User's email address"}}}`)
		})
	add(s, "test_elicitation_sep1034_defaults", "Asks the user with a form that is filled in.",
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return form(r, "Elicitation completed", "Please look through your data.", defaultsForm)
		})
	add(s, "test_elicitation_sep1330_enums", "Asks the user to choose.",
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return form(r, "Elicitation completed", "Please choose.", enumsForm)
		})
	add(s, "test_streaming_elicitation", "Reports progress, then asks the user.",
		func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if err := progress(ctx, s, r, 50); err != nil {
				return nil, err
			}
			return form(r, "User response", "Shall this go on?", okForm)
		})
	addWith(s, "test_sampling", "Asks the client's model.",
		`{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`,
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if answer := server.SamplingResponse(r.Params.InputResponses, "answer"); answer != nil {
				return mcp.NewToolResultText("LLM response: " + sampled(answer)), nil
			}
			return new(server.InputRequestBuilder).Sample("answer",
				sample(r.GetString("prompt", ""))).ToolResult(), nil
		})
	add(s, "test_missing_capability", "Needs a client that has a model.",
		func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if !can(ctx).sampling {
				return nil, mcp.MissingRequiredClientCapabilityError{Capability: "sampling"}
			}
			return mcp.NewToolResultText("The client has a model."), nil
		})
}

// form asks the user to fill in a form. If r does not have the answer yet, form returns the
// question, and otherwise a text that says what the user did. The tool's handler runs once without
// the answer and once with it, so it must do nothing else before the answer has come.
func form(r mcp.CallToolRequest, outcome, message, schema string) (*mcp.CallToolResult, error) {
	answer := elicited(r.Params.InputResponses, "answer")
	if answer == nil {
		return new(server.InputRequestBuilder).Elicit("answer",
			elicit(message, schema)).ToolResult(), nil
	}
	content, err := json.Marshal(answer.Content)
	if err != nil {
		return nil, err
	}
	return mcp.NewToolResultText(fmt.Sprintf("%s: action=%s, content=%s", outcome, answer.Action,
		content)), nil
}

// elicit returns a form for the user; its fields are a JSON Schema.
func elicit(message, schema string) mcp.ElicitationParams {
	return mcp.ElicitationParams{Message: message, RequestedSchema: json.RawMessage(schema)}
}

// sample returns a request that asks the client to put the prompt to its model.
func sample(prompt string) mcp.CreateMessageParams {
	return mcp.CreateMessageParams{
		Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(prompt)}},
		MaxTokens: 100}
}

// elicited returns the user's answer with the given key, or nil if there is none that can be read.
func elicited(responses mcp.InputResponses, key string) *mcp.ElicitationResult {
	answer := server.ElicitationResponse(responses, key)
	if answer == nil || answer.Action == "" {
		return nil
	}
	return answer
}

// sampled returns what the client's model wrote.
func sampled(answer *mcp.CreateMessageResult) string {
	text, err := json.Marshal(answer.Content)
	if err != nil {
		return "nothing that can be shown"
	}
	var content mcp.TextContent
	if json.Unmarshal(text, &content) == nil && content.Text != "" {
		return content.Text
	}
	return string(text)
}

// abilities are what a client says it can do for the server.
type abilities struct{ sampling, elicitation bool }

// can returns the abilities that the client of a request has declared. In MCP's revision 2026-07-28
// it declares them with each request, and in earlier ones when its session begins (initialize).
func can(ctx context.Context) (a abilities) {
	var c mcp.ClientCapabilities
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil &&
		info.ClientCapabilities != nil {
		c = *info.ClientCapabilities
	} else {
		session := server.ClientSessionFromContext(ctx)
		if one, ok := session.(server.SessionWithClientInfo); ok {
			c = one.GetClientCapabilities()
		}
	}
	return abilities{sampling: c.Sampling != nil, elicitation: c.Elicitation != nil}
}

const okForm = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`

// defaultsForm has a default for each simple type.
const defaultsForm = `{"type":"object","properties":{
	"name":{"type":"string","default":"John Doe"},
	"age":{"type":"integer","default":30},
	"score":{"type":"number","default":95.5},
	"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},
	"verified":{"type":"boolean","default":true}}}`

// enumsForm has each way to offer a choice.
const enumsForm = `{"type":"object","properties":{
	"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
	"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"}]},
	"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
	"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
	"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"}]}}}}`
