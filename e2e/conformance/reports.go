package main

import (
	"context"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// pause stands between the reports of a tool, so that a client sees them come one by one.
const pause = 50 * time.Millisecond

// reports adds the tools that send log messages or their progress while they work.
func reports(s *server.MCPServer) {
	add(s, "test_tool_with_logging", "Logs three lines while it works.",
		logging(s, "Tool with logging executed successfully"))
	add(s, "test_logging_tool", "Logs three lines, which only clients get that asked for them.",
		logging(s, "done"))
	add(s, "test_tool_with_progress", "Reports its progress three times.",
		func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for _, done := range []int{0, 50, 100} {
				if err := progress(ctx, s, r, done); err != nil {
					return nil, err
				}
				// after the last one, too: over SSE the TypeScript clients lose a report that comes
				// in one packet with the answer
				time.Sleep(pause)
			}
			return mcp.NewToolResultText("Tool with progress executed successfully"), nil
		})
}

// logging returns a tool that sends three log lines and then its answer. The lines go only to the
// client of the call, which the call's context identifies.
func logging(s *server.MCPServer, answer string) toolFunc {
	return func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i, line := range []string{"Tool execution started", "Tool processing data",
			"Tool execution completed"} {
			if i > 0 {
				time.Sleep(pause)
			}
			err := s.SendLogMessageToClient(ctx,
				mcp.NewLoggingMessageNotification(mcp.LoggingLevelInfo, "conformance", line))
			if err != nil {
				return nil, err
			}
		}
		return mcp.NewToolResultText(answer), nil
	}
}

// progress tells the client how many percent of its call are done, if the call has a progress token
// in _meta. A client sends the token to ask for such reports, and recognises them by it. Without a
// token nothing may be sent. It returns an error if sending fails.
func progress(ctx context.Context, s *server.MCPServer, r mcp.CallToolRequest, percent int) error {
	if r.Params.Meta == nil || r.Params.Meta.ProgressToken == nil {
		return nil
	}
	return s.SendNotificationToClient(ctx, string(mcp.MethodNotificationProgress), map[string]any{
		"progressToken": r.Params.Meta.ProgressToken, "progress": percent, "total": 100,
	})
}
