package main

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// changes adds two tools that change what the server offers, so that clients are notified. Each of
// them takes back its change at once, so that every test finds the same lists.
func changes(s *server.MCPServer) {
	add(s, "test_trigger_tool_change", "Adds a tool and takes it away again.",
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			add(s, "test_passing_tool", "Is gone in a moment.",
				always(mcp.NewTextContent("still here")))
			s.DeleteTools("test_passing_tool")
			return mcp.NewToolResultText("The list of tools has changed."), nil
		})
	add(s, "test_trigger_prompt_change", "Adds a prompt and takes it away again.",
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.AddPrompt(mcp.NewPrompt("test_passing_prompt"), prompt("still here"))
			s.DeletePrompts("test_passing_prompt")
			return mcp.NewToolResultText("The list of prompts has changed."), nil
		})
}
