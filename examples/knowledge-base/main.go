// Command knowledge-base asks a knowledge base that was made of a folder of documents: by toolrun,
// as an MCP client, and in a chat whose model chooses the tool. Nothing but toolnorm is needed;
// with an embedding model the search is by meaning (docs/knowledge-base.md):
//
//	$ toolnorm kb create Handbook --id 5a8f3b7e-2f4c-4d52-9c62-0d5b1f6a7c11
//	5a8f3b7e-2f4c-4d52-9c62-0d5b1f6a7c11
//	$ toolnorm kb import Handbook examples/knowledge-base/documents
//	leave.html: imported, 2 passages
//	pay.txt: imported, 1 passages
//	remote-work.md: imported, 2 passages
//	3 imported, 0 unchanged, 0 removed, 0 failed; 5 passages, 0 embedded
//	$ toolnorm &
//	$ go run ./examples/knowledge-base
//	toolrun: リモートワーク手当は月に5,000円で、給与と一緒に支払われます。
//	MCP:     A doctor's note is needed from the third day on.
//	chat:    급여는 매달 25일에 지급됩니다. 25일이 휴일이면 그 전날 지급됩니다.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:11435", "where toolnorm serves")
	base := flag.String("kb", "5a8f3b7e-2f4c-4d52-9c62-0d5b1f6a7c11", "the knowledge base")
	runner := flag.String("toolrun", "toolrun", "the program that runs a tool")
	flag.Parse()
	byCommand := func(ctx context.Context, args string) ([]byte, error) {
		return exec.CommandContext(ctx, *runner, "search_documents", args).Output()
	}
	if err := run(context.Background(), os.Stdout, *url, *base, byCommand); err != nil {
		fmt.Fprintln(os.Stderr, "knowledge-base:", err)
		os.Exit(1)
	}
}

// found is the result of a search. It has only the part that this example prints.
type found struct {
	Results []struct{ Content string }
}

// best returns one line of the best passage that was found: the last one, which is the most
// specific in these documents. It returns an error if no passage was found.
func (f found) best() (string, error) {
	if len(f.Results) == 0 {
		return "", errors.New("nothing was found")
	}
	lines := strings.Split(f.Results[0].Content, "\n")
	return lines[len(lines)-1], nil
}

// arguments returns the arguments of a search for one passage. The threshold is low, because a
// search by words alone gives lower scores than one with an embedding model.
func arguments(base, query string) map[string]any {
	return map[string]any{"knowledge_base_id": base, "query": query, "max_results": 1,
		"threshold": 0.3}
}

// run asks the same question by the command toolrun, by an MCP client and in a chat, and prints the
// answers. The function byCommand runs toolrun with the given arguments and returns its output. run
// returns an error if one of the three fails.
func run(ctx context.Context, w io.Writer, url, base string,
	byCommand func(context.Context, string) ([]byte, error)) error {
	args, err := json.Marshal(arguments(base, "リモートワーク手当の金額は？"))
	if err != nil {
		return err
	}
	out, err := byCommand(ctx, string(args))
	if err != nil {
		return fmt.Errorf("toolrun: %w", err)
	}
	var outcome struct{ Result found }
	if err := json.Unmarshal(bytes.TrimSpace(out), &outcome); err != nil {
		return fmt.Errorf("toolrun printed %s", out)
	}
	if err := show(w, "toolrun", outcome.Result); err != nil {
		return err
	}
	byClient, err := byMCP(ctx, url, base)
	if err != nil {
		return fmt.Errorf("MCP: %w", err)
	}
	if err := show(w, "MCP", byClient); err != nil {
		return err
	}
	inChat, err := byChat(ctx, url, base)
	if err != nil {
		return fmt.Errorf("chat: %w", err)
	}
	return show(w, "chat", inChat)
}

// show prints the best passage of f, after the name of the way in which it was found. It returns an
// error if no passage was found.
func show(w io.Writer, way string, f found) error {
	text, err := f.best()
	if err != nil {
		return fmt.Errorf("%s: %w", way, err)
	}
	_, err = fmt.Fprintf(w, "%-8s %s\n", way+":", text)
	return err
}

// byMCP searches the knowledge base as a client of MCP does, with a call of search_documents. It
// returns an error if the call fails.
func byMCP(ctx context.Context, url, base string) (out found, err error) {
	c, err := client.NewStreamableHttpClient(url + "/mcp")
	if err != nil {
		return out, err
	}
	defer c.Close()
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "knowledge-base", Version: "1"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return out, err
	}
	var call mcp.CallToolRequest
	call.Params.Name = "search_documents"
	call.Params.Arguments = arguments(base, "When is a doctor's note needed for sick leave?")
	res, err := c.CallTool(ctx, call)
	if err != nil {
		return out, err
	}
	text, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(text, &out)
}

// byChat asks the agent about the knowledge base. The demo, which is not a model, answers by
// quoting what the tool found.
func byChat(ctx context.Context, url, base string) (out found, err error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1,
		"method": "generate_content", "params": map[string]any{
			"model": "demo/hermes", "knowledge_base_id": base, "force_tool": "search_documents",
			"messages": []map[string]string{{"role": "user", "content": "급여는 매달 며칠에 지급됩니까?"}},
		}})
	if err != nil {
		return out, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/generate_with_mcp",
		bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	var answer struct {
		Result struct{ Text string }
		Error  struct{ Message string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return out, err
	}
	quoted := answer.Result.Text[max(0, strings.IndexByte(answer.Result.Text, '{')):]
	if err := json.NewDecoder(strings.NewReader(quoted)).Decode(&out); err != nil {
		return out, fmt.Errorf("the answer is %q, %s", answer.Result.Text, answer.Error.Message)
	}
	return out, nil
}
