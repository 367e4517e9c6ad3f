// Command data-tools finds the columns that a question is about, in three ways: by toolrun, as an
// MCP client, and in a chat whose model calls the tool. Nothing but toolnorm is needed; with an
// embedding model the search is by meaning (docs/data-tools.md):
//
//	$ toolnorm docs import examples/data-tools/columns.csv
//	$ toolnorm &
//	$ go run ./examples/data-tools
//	toolrun: table: users, column: created_at, type: TIMESTAMP, description: 계정 생성 일시
//	MCP:     table: users, column: created_at, type: TIMESTAMP, description: 계정 생성 일시
//	chat:    toolrun search_similar_documents '{"query_list":["created_at"]}'
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	openai "github.com/sashabaranov/go-openai"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:11435", "where toolnorm serves")
	runner := flag.String("toolrun", "toolrun", "the program that runs a tool")
	flag.Parse()
	byCommand := func(ctx context.Context, args string) ([]byte, error) {
		return exec.CommandContext(ctx, *runner, "search_similar_documents", args).Output()
	}
	if err := run(context.Background(), os.Stdout, *url, byCommand); err != nil {
		fmt.Fprintln(os.Stderr, "data-tools:", err)
		os.Exit(1)
	}
}

// found is the result of a search.
type found struct{ Documents [][]string }

// run makes the same search by the command toolrun, by an MCP client and in a chat, and prints the
// results. It returns an error if one of the three fails.
func run(ctx context.Context, w io.Writer, url string,
	byCommand func(context.Context, string) ([]byte, error)) error {
	out, err := byCommand(ctx, `{"query_list": ["created_at"], "n_results": 1}`)
	if err != nil {
		return fmt.Errorf("toolrun: %w", err)
	}
	var outcome struct{ Result found }
	if err := json.Unmarshal(bytes.TrimSpace(out), &outcome); err != nil ||
		len(outcome.Result.Documents) == 0 {
		return fmt.Errorf("toolrun printed %s", out)
	}
	fmt.Fprintln(w, "toolrun:", strings.Join(outcome.Result.Documents[0], "; "))
	documents, err := byMCP(ctx, url)
	if err != nil {
		return fmt.Errorf("MCP: %w", err)
	}
	fmt.Fprintln(w, "MCP:    ", strings.Join(documents, "; "))
	command, err := byChat(ctx, url)
	if err != nil {
		return fmt.Errorf("chat: %w", err)
	}
	fmt.Fprintln(w, "chat:   ", command)
	return nil
}

// byMCP calls the tool over MCP, and returns the documents that the tool finds. It returns an error
// if the call fails or the tool finds none.
func byMCP(ctx context.Context, url string) ([]string, error) {
	c, err := client.NewStreamableHttpClient(url + "/mcp")
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "data-tools", Version: "1"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return nil, err
	}
	var call mcp.CallToolRequest
	call.Params.Name = "search_similar_documents"
	call.Params.Arguments = map[string]any{"query_list": []string{"created_at"}, "n_results": 1}
	res, err := c.CallTool(ctx, call)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return nil, err
	}
	var out found
	if err := json.Unmarshal(text, &out); err != nil || len(out.Documents) == 0 {
		return nil, fmt.Errorf("the tool answered %s", text)
	}
	return out.Documents[0], nil
}

// byChat makes a demo model call a tool in a chat, and returns the shell command, toolrun and its
// arguments, in which toolnorm writes the call. It returns an error if there is none.
func byChat(ctx context.Context, url string) (string, error) {
	config := openai.DefaultConfig("no key needed")
	config.BaseURL = url + "/v1"
	reply, err := openai.NewClientWithConfig(config).CreateChatCompletion(ctx,
		openai.ChatCompletionRequest{
			Model: "demo/hermes@shell",
			Messages: []openai.ChatCompletionMessage{
				{Role: openai.ChatMessageRoleUser,
					Content: `Call search_similar_documents for "created_at".`}},
		})
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(reply.Choices[0].Message.Content) {
		if strings.HasPrefix(line, "toolrun ") {
			return strings.TrimSpace(line), nil
		}
	}
	return "", fmt.Errorf("the model called nothing: %s", reply.Choices[0].Message.Content)
}
