package main

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// prompts adds a plain prompt, one with arguments, and two that hold more than text.
func prompts(s *server.MCPServer) {
	s.AddPrompt(mcp.NewPrompt("test_simple_prompt", mcp.WithPromptDescription(
		"A prompt without arguments.")),
		prompt("This is a simple prompt for testing."))
	s.AddPrompt(mcp.NewPrompt("test_prompt_with_arguments", mcp.WithPromptDescription(
		"A prompt with two arguments."),
		mcp.WithArgument("arg1", mcp.ArgumentDescription("The first one."), mcp.RequiredArgument()),
		mcp.WithArgument("arg2", mcp.ArgumentDescription("The second one."),
			mcp.RequiredArgument())),
		func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			text := fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'",
				r.Params.Arguments["arg1"], r.Params.Arguments["arg2"])
			return said(mcp.NewTextContent(text)), nil
		})
	s.AddPrompt(mcp.NewPrompt("test_prompt_with_embedded_resource", mcp.WithPromptDescription(
		"A prompt that holds a resource."),
		mcp.WithArgument("resourceUri", mcp.ArgumentDescription("The resource's address."),
			mcp.RequiredArgument())),
		func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			resource := mcp.TextResourceContents{URI: r.Params.Arguments["resourceUri"],
				MIMEType: "text/plain", Text: "Embedded resource content for testing."}
			return said(mcp.NewEmbeddedResource(resource), mcp.NewTextContent(
				"Please process the embedded resource above.")), nil
		})
	s.AddPrompt(mcp.NewPrompt("test_prompt_with_image", mcp.WithPromptDescription(
		"A prompt that holds a picture.")),
		func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return said(mcp.NewImageContent(pixelPNG, "image/png"), mcp.NewTextContent(
				"Please analyze the image above.")), nil
		})
}

// prompt returns a handler that answers with a prompt of one text.
func prompt(text string) server.PromptHandlerFunc {
	return func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return said(mcp.NewTextContent(text)), nil
	}
}

// said returns a prompt that has a message of the user for each content.
func said(contents ...mcp.Content) *mcp.GetPromptResult {
	result := &mcp.GetPromptResult{}
	for _, c := range contents {
		result.Messages = append(result.Messages, mcp.NewPromptMessage(mcp.RoleUser, c))
	}
	return result
}
