// Command mcp-client uses the tools that toolnorm serves to MCP clients: it lists them and calls
// one, over Streamable HTTP and over legacy SSE. It uses nothing but a stock MCP client, and works
// as soon as toolnorm runs (make run; --sample=always has the tools below offered beside your own):
//
//	$ toolnorm --sample=always &
//	$ go run ./examples/mcp-client
//	Streamable HTTP at /mcp
//	  server: toolnorm, protocol 2026-07-28
//	  tools: search_docs, get_employee_info, get_all_employees, calculate_vacation_days
//	  result: {"success":true,"result":{"employee_id":"EMP001","year":2025,"total":19,"used":4.5,"remaining":14.5}}
//	SSE at /sse
//	  server: toolnorm, protocol 2026-07-28
//	  tools: search_docs, get_employee_info, get_all_employees, calculate_vacation_days
//	  result: {"success":true,"result":{"employee_id":"EMP001","year":2025,"total":19,"used":4.5,"remaining":14.5}}
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:11435", "where toolnorm serves")
	tool := flag.String("tool", "calculate_vacation_days", "the tool to call")
	args := flag.String("args", `{"employee_id": "EMP001", "year": 2025}`, "its arguments, as JSON")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Stdout, *url, *tool, *args); err != nil {
		fmt.Fprintln(os.Stderr, "mcp-client:", err)
		os.Exit(1)
	}
}

// run lists the tools and calls one, first over Streamable HTTP and then over SSE. It returns an
// error if either fails, or if args is not JSON.
func run(ctx context.Context, w io.Writer, url, tool, args string) error {
	if !json.Valid([]byte(args)) {
		return fmt.Errorf("the arguments are no JSON: %s", args)
	}
	http, err := client.NewStreamableHttpClient(url + "/mcp")
	if err != nil {
		return err
	}
	sse, err := client.NewSSEMCPClient(url + "/sse")
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "Streamable HTTP at /mcp")
	if err := use(ctx, w, http, tool, args); err != nil {
		return err
	}
	fmt.Fprintln(w, "SSE at /sse")
	return use(ctx, w, sse, tool, args)
}

// use lists the tools and calls one.
func use(ctx context.Context, w io.Writer, c *client.Client, tool, args string) error {
	if err := c.Start(ctx); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer c.Close()
	var hello mcp.InitializeRequest
	hello.Params.ClientInfo = mcp.Implementation{Name: "mcp-client", Version: "1.0.0"}
	server, err := c.Initialize(ctx, hello)
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	fmt.Fprintf(w, "  server: %s, protocol %s\n", server.ServerInfo.Name, server.ProtocolVersion)
	list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return fmt.Errorf("list the tools: %w", err)
	}
	var names []string
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	fmt.Fprintf(w, "  tools: %s\n", strings.Join(names, ", "))
	var call mcp.CallToolRequest
	call.Params.Name, call.Params.Arguments = tool, json.RawMessage(args)
	result, err := c.CallTool(ctx, call)
	if err != nil {
		return fmt.Errorf("call %s: %w", tool, err)
	}
	outcome := "result"
	if result.IsError {
		outcome = "failed"
	}
	for _, part := range result.Content {
		if text, ok := part.(mcp.TextContent); ok {
			fmt.Fprintf(w, "  %s: %s\n", outcome, text.Text)
		}
	}
	return nil
}
