// Package mcp measures the MCP server beside mcp-go's own transports and a bare net/http handler.
// Servers and clients are in this process and speak over the loopback interface.
package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"toolnorm/mcpserver"
	"toolnorm/tools"
)

// schema is the schema of each tool. It has a usual size.
const schema = `{"type":"object","required":["city"],"properties":{"city":{"type":"string","description":"Name of the city, e.g. Lisbon"},"days":{"type":"integer","minimum":1,"maximum":14,"description":"How many days to look ahead"}}}`

// answer is the result of every tool.
const answer = "Sun over Lisbon for 3 days, with some clouds on the second."

// describe returns the name and the description of tool number n.
func describe(n int) (name, description string) {
	return fmt.Sprintf("get_weather_%d", n), fmt.Sprintf(
		"Get the weather forecast of a city, by the model number %d. The answer is a sentence in English.", n)
}

// face is a running server. The function end must be called before Close, because httptest's Close
// waits for open connections, such as streams.
type face struct {
	*httptest.Server
	end func()
}

// close closes the streams that are open, and then the server.
func (f *face) close() {
	f.end()
	f.CloseClientConnections()
	f.Close()
}

// ours starts toolnorm's MCP server with the given number of tools. It has no limit of calls per
// second, since the benchmark calls faster than clients may. It returns an error if a tool is
// refused.
func ours(count int) (*face, error) {
	all := make([]tools.Tool, count)
	for i := range all {
		name, description := describe(i)
		all[i] = tools.Tool{Name: name, Description: description, Schema: json.RawMessage(schema),
			Call: func(context.Context, json.RawMessage) (tools.Result, error) {
				return tools.TextOf(answer), nil
			}}
	}
	registry := tools.New(tools.Options{})
	if err := registry.Set("bench", all...); err != nil {
		return nil, err
	}
	s := mcpserver.New(mcpserver.Config{Registry: registry,
		Bounds: mcpserver.Bounds{Rate: -1, RateOfTool: -1, MaxStreams: 20_000}})
	mux := http.NewServeMux()
	s.Mount(mux)
	done, cancel := context.WithCancel(context.Background())
	cancel() // nothing is waited for
	return &face{httptest.NewServer(mux), func() { s.Close(done) }}, nil
}

// stock starts a server of the library mcp-go for comparison. It has the tools that the other
// servers here have, Streamable HTTP without sessions at /mcp, and the older SSE transport.
func stock(count int) *face {
	s := server.NewMCPServer("bench", "1", server.WithToolCapabilities(true))
	for i := range count {
		name, description := describe(i)
		s.AddTool(mcp.NewToolWithRawSchema(name, description, json.RawMessage(schema)),
			func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return mcp.NewToolResultText(answer), nil
			})
	}
	sse := server.NewSSEServer(s)
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.NewStreamableHTTPServer(s, server.WithStateLess(true)))
	mux.Handle("/", sse)
	return &face{httptest.NewServer(mux), func() {}}
}

// bare starts a server that reads every request and answers with the bytes in the parameter with.
// It shows the cost of net/http itself, below which no server can be.
func bare(with []byte) *face {
	return &face{httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(with)
	})), func() {}}
}
