// Package mcpserver serves the tool registry to MCP clients over legacy SSE, Streamable HTTP and stdio.
//
// It is empty as yet: it comes with milestone 7, "The MCP server", on top of the registry of milestone 6.
package mcpserver
