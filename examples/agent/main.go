// Command agent is an MCP server to try the agent of toolnorm with: it pretends to speak texts. The
// walk-through needs no model: the demo writes the steps of the contract as well.
//
//	$ toolnorm &
//	$ go run ./examples/agent &
//	$ curl -s -X POST http://127.0.0.1:11435/mcp/add -d '{"name": "tts", "url": "http://127.0.0.1:23016/sse"}'
//	{"name":"tts","url":"http://127.0.0.1:23016/sse","message":"registered"}
//	$ curl -s http://127.0.0.1:11435/mcp/list
//	{"servers":[{"name":"tts","url":"http://127.0.0.1:23016/sse"}]}
//	$ curl -s http://127.0.0.1:11435/generate_with_mcp -d '{"jsonrpc": "2.0", "method": "generate_content", "id": 1, "params": {"model": "demo/hermes", "messages": [{"role": "user", "content": "Use generate_speech: \"안녕하세요\""}], "max_iterations": 5}}'
//	{"jsonrpc":"2.0","result":{"text":"The tool tts.generate_speech answered:\n\nSuccess: 5 letters are said\n\nThat is all I have to say.","model":"demo/hermes","iterations":2,"stop_reason":"final","tool_calls":[{"name":"tts.generate_speech","arguments":{"text":"안녕하세요"},"ok":true,"ms":1}],"usage":{"prompt_tokens":354,"completion_tokens":55,"total_tokens":409},"queue_ms":0,"warnings":[]},"id":1}
//	$ curl -s -X DELETE http://127.0.0.1:11435/mcp/remove -d '{"name": "tts"}'
//	{"name":"tts","message":"removed"}
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func main() {
	addr := flag.String("listen", "127.0.0.1:23016", "where to serve")
	flag.Parse()
	if err := http.ListenAndServe(*addr, speech()); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// speech serves one tool over the older transport, at /sse.
func speech() http.Handler {
	s := server.NewMCPServer("tts", "1")
	s.AddTool(mcp.NewTool("generate_speech", mcp.WithDescription("Says a text aloud."),
		mcp.WithString("text", mcp.Required(), mcp.Description("what to say"))),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text, err := r.RequireString("text")
			if err != nil {
				return mcp.NewToolResultError(err.Error()), nil
			}
			return mcp.NewToolResultText(fmt.Sprintf("Success: %d letters are said",
				utf8.RuneCountInString(text))), nil
		})
	return server.NewSSEServer(s)
}
