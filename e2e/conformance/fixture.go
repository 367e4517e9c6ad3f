package main

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// fixture adds to a server all tools, resources and prompts that the official conformance test of
// MCP asks for. Their names and addresses come from that test, which says in each scenario what it
// expects.
func fixture(s *server.MCPServer) {
	contents(s)
	reports(s)
	changes(s)
	questions(s)
	rounds(s)
	resources(s)
	prompts(s)
	waits(s)
	broken(s)
}

// toolFunc is what a tool does.
type toolFunc = server.ToolHandlerFunc

// add offers a tool that takes no arguments.
func add(s *server.MCPServer, name, description string, do toolFunc) {
	addWith(s, name, description, `{"type":"object","properties":{}}`, do)
}

// addWith adds a tool with an input schema to the server. The schema is sent exactly as it is
// written, because one of the conformance tests looks for its words.
func addWith(s *server.MCPServer, name, description, schema string, do toolFunc) {
	s.AddTool(mcp.NewToolWithRawSchema(name, description, json.RawMessage(schema)), do)
}

// always returns a tool that says the same each time.
func always(content ...mcp.Content) toolFunc {
	return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content}, nil
	}
}
