package main

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// waits adds two tools that show that a call ends when its client cancels it or leaves. The first
// goes on for a minute unless it is stopped. The second returns how many calls of the first still
// run, and must soon return 0.
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
