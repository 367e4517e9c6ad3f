package e2e

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/internal/test/must"
)

// goAnswers answers what a server asks of the mcp-go client.
type goAnswers struct{}

// Elicit agrees.
func (goAnswers) Elicit(context.Context, mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	r := &mcp.ElicitationResult{}
	r.Action, r.Content = mcp.ElicitationResponseActionAccept, map[string]any{"name": "Ada", "check": true}
	return r, nil
}

// CreateMessage is a model that says one thing.
func (goAnswers) CreateMessage(context.Context, mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	r := &mcp.CreateMessageResult{Model: "stub", StopReason: "endTurn"}
	r.Role, r.Content = mcp.RoleAssistant, mcp.NewTextContent("sampled")
	return r, nil
}

// ListRoots has one folder.
func (goAnswers) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: "file:///tmp/a", Name: "A"}}}, nil
}

// TestServerEverythingIsTheSameForGo is the same comparison with another stock client, mcp-go's.
func TestServerEverythingIsTheSameForGo(t *testing.T) {
	l := openServers(t)
	_, url := l.everything(t)
	base := l.toolnorm(t, "--ollama", "127.0.0.1:1", "--sample=never", "--mcp-file", mcpFile(t, map[string]any{"everything": map[string]any{"url": url}}))
	awaitEverything(t, base)
	want := goSees(t, url, "")
	same(t, "mcp-go at /mcp", want, goSees(t, base+"/mcp", "everything."))
}

// changing is what differs from run to run: times.
var changing = regexp.MustCompile(`\d+:\d+:\d+ [AP]M`)

// goSees is what the mcp-go client sees of a server whose names have a prefix.
func goSees(t *testing.T, url, prefix string) (steps map[string]any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	//lint:ignore SA1019 the older revisions have no other stream
	way := must.Have(transport.NewStreamableHTTP(url, transport.WithContinuousListening()))(t)
	c := mcpclient.NewClient(way, mcpclient.WithElicitationHandler(goAnswers{}), mcpclient.WithSamplingHandler(goAnswers{}), mcpclient.WithRootsHandler(goAnswers{}))
	defer c.Close()
	var mu sync.Mutex
	var progress []any
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/progress" {
			mu.Lock()
			defer mu.Unlock()
			progress = append(progress, n.Params.AdditionalFields["progress"])
		}
	})
	must.OK(t, c.Start(ctx))
	init := mcp.InitializeRequest{Params: mcp.InitializeParams{ProtocolVersion: mcp.LATEST_LEGACY_PROTOCOL_VERSION, ClientInfo: mcp.Implementation{Name: "go", Version: "1"}}}
	must.Have(c.Initialize(ctx, init))(t)
	time.Sleep(800 * time.Millisecond) // the server asks for the roots a moment after
	steps = map[string]any{}
	note := func(name string, result any, err error) {
		if err != nil {
			result = "error: " + err.Error()
		}
		text, err := json.Marshal(result)
		if err != nil {
			t.Fatal(name, err)
		}
		steps[name] = changing.ReplaceAllString(strings.ReplaceAll(string(text), `"name":"`+prefix, `"name":"`), "TIME")
	}
	list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err == nil {
		slices.SortFunc(list.Tools, func(a, b mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	}
	note("tools", list, err)
	prompts, err := c.ListPrompts(ctx, mcp.ListPromptsRequest{})
	note("prompts", prompts, err)
	resources, err := c.ListResources(ctx, mcp.ListResourcesRequest{})
	note("resources", resources, err)
	templates, err := c.ListResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{})
	note("templates", templates, err)
	prompt, err := c.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: prefix + "args-prompt", Arguments: map[string]string{"city": "Oslo"}}})
	note("prompt", prompt, err)
	read, err := c.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: "demo://resource/dynamic/text/3"}})
	note("read", read, err)
	complete := mcp.CompleteRequest{Params: mcp.CompleteParams{Ref: mcp.PromptReference{Type: "ref/prompt", Name: prefix + "completable-prompt"}, Argument: mcp.CompleteArgument{Name: "department", Value: "S"}}}
	completed, err := c.Complete(ctx, complete)
	note("completion", completed, err)
	for name, args := range map[string]map[string]any{
		"echo": {"message": "hello"}, "get-resource-links": {"count": 3}, "get-annotated-message": {"messageType": "success", "includeImage": true},
		"get-structured-content": {"location": "Chicago"}, "get-roots-list": {}, "trigger-elicitation-request": {},
		"trigger-sampling-request": {"prompt": "say it"}, "trigger-long-running-operation": {"duration": 0.5, "steps": 5},
	} {
		call := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: prefix + name, Arguments: args, Meta: &mcp.Meta{ProgressToken: "p-" + name}}}
		result, err := c.CallTool(ctx, call)
		note("call "+name, result, err)
	}
	mu.Lock()
	defer mu.Unlock()
	note("progress", progress[:min(len(progress), 4)], nil) // the last report may come behind the answer
	return steps
}
