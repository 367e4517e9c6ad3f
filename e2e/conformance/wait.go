package main

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// waits adds the tools of our own lane: one that goes on for a minute unless it is stopped, and one
// that returns how many of these calls still run. They show that a call ends when its client
// cancels it or leaves: the second tool must soon return 0.
func waits(s *server.MCPServer) {
	var running atomic.Int64
	add(s, "wait", "Takes a minute.", func(ctx context.Context, _ mcp.CallToolRequest) (
		*mcp.CallToolResult, error) {
		running.Add(1)
		defer running.Add(-1)
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(time.Minute):
			return mcp.NewToolResultText("a minute later"), nil
		}
	})
	add(s, "waiting", "Says how many calls of wait still run.",
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(strconv.FormatInt(running.Load(), 10)), nil
		})
}
