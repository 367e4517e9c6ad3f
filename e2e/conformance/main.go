// Command conformance serves the tools, prompts and resources that the official conformance tool of
// the Model Context Protocol asks for, on the same server library that toolnorm serves its own
// tools with. Start it, and in another terminal run the tool from its npm package (it needs Node
// 22), once for each revision and each address:
//
//	$ go run ./e2e/conformance
//	serving http://127.0.0.1:3000/mcp and http://127.0.0.1:3000/sse
//
//	$ npx @modelcontextprotocol/conformance@0.2.0-alpha.12 server --url http://127.0.0.1:3000/mcp --requirements 2026-07-28
//
// What it serves, in fixture.go: contents.go (each kind of content), reports.go (progress and log
// lines), questions.go and rounds.go (what is asked of the client, at once and over several
// rounds), changes.go (lists that change), prompts.go, resources.go, tasks.go (calls that go on
// behind their answer), and wait.go (calls that go on until they are stopped). Here in main.go is
// how it is started.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"toolnorm/internal/auth"
	"toolnorm/mcpserver"
	"toolnorm/tools"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:3000", "where to serve")
	flag.Parse()
	if err := run(*listen); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// run serves until the process ends.
func run(listen string) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Printf("serving http://%s/mcp and http://%[1]s/sse\n", l.Addr())
	h, err := handler()
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	return srv.Serve(l)
}

// handler returns a handler with the server that is tested, at /mcp and /sse. It has the same
// auth.Guard as toolnorm's own MCP server, so the rules for hosts and origins are tested as well.
func handler() (http.Handler, error) {
	s := server.NewMCPServer("conformance", "1.0.0", server.WithToolCapabilities(true),
		server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(true), server.WithCompletions(), server.WithLogging(),
		server.WithElicitation(), server.WithRoots())
	s.EnableSampling()
	fixture(s)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	registry := tools.New(tools.Options{})
	if err := registry.Set("tasks", tasked()...); err != nil {
		return nil, err
	}
	mcpserver.New(mcpserver.Config{Extra: s, Registry: registry}).Mount(mux)
	return new(auth.Guard).Wrap(mux), nil
}
