package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"toolnorm/tools"
)

// slow is how long a tool works before it answers or asks: long enough to be a task on a busy
// machine.
const slow = 2 * time.Second

// tasked returns tools that a client can or must call as an MCP task, and one that it cannot. They
// are called through toolnorm's registry, because mcp-go's own server knows tools that must be
// called as tasks only in MCP's revision 2025-11-25.
func tasked() []tools.Tool {
	const optional, required = `{"execution":{"taskSupport":"optional"}}`,
		`{"execution":{"taskSupport":"required"}}`
	add := func(name, description, schema, more string,
		do func(ctx context.Context, args map[string]any) (tools.Result, error)) tools.Tool {
		return tools.Tool{Name: name, Description: description, Schema: json.RawMessage(schema),
			More: json.RawMessage(more), Timeout: 2 * time.Minute,
			Call: func(ctx context.Context, text json.RawMessage) (tools.Result, error) {
				var args map[string]any
				if err := json.Unmarshal(text, &args); err != nil {
					return tools.Result{}, err
				}
				return do(ctx, args)
			}}
	}
	const nothing = `{"type":"object","properties":{}}`
	return []tools.Tool{
		add("greet", "Says hello at once.", nameForm, "",
			func(_ context.Context, args map[string]any) (tools.Result, error) {
				return tools.TextOf(fmt.Sprintf("Hello, %v!", args["name"])), nil
			}),
		add("slow_compute", "Takes some seconds.",
			`{"type":"object","properties":{"seconds":{"type":"number"},"label":{"type":"string"}}}`, optional,
			func(ctx context.Context, args map[string]any) (tools.Result, error) {
				seconds, _ := args["seconds"].(float64)
				if seconds > 0 {
					rest(ctx, slow+time.Duration(seconds)*time.Second)
				}
				return tools.TextOf(fmt.Sprintf("%v: done", args["label"])), ctx.Err()
			}),
		add("failing_job", "Fails after a while.", nothing, required,
			func(ctx context.Context, _ map[string]any) (tools.Result, error) {
				rest(ctx, slow)
				return tools.Result{}, errors.New("the job failed")
			}),
		add("confirm_delete", "Asks the user after a while.",
			`{"type":"object","properties":{"filename":{"type":"string"}}}`, required, asks(
				"confirm")),
		add("multi_input", "Asks the user two things after a while.", nothing, required, asks(
			"first", "second")),
		add("test_tool_with_task", "Asks for a name at once, and then takes its time.", nothing,
			required, func(ctx context.Context, _ map[string]any) (tools.Result, error) {
				answers := answersOf(ctx)
				if len(answers) == 0 {
					return question("user_name"), nil
				}
				rest(ctx, slow)
				return tools.TextOf(
						fmt.Sprintf("Hello, %v!", answers["user_name"].Content["name"])),
					nil
			}),
	}
}

// broken adds the tool that ends with an error of the protocol, which only tools of mcp-go's server
// can return.
func broken(s *server.MCPServer) {
	t := mcp.NewTool("protocol_error_job", mcp.WithDescription(
		"Ends with an error of the protocol after a while."),
		mcp.WithTaskSupport(mcp.TaskSupportOptional))
	s.AddTool(t, func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		rest(ctx, slow)
		return nil, errors.New("the job broke down")
	})
}

// asks returns a tool function that asks the user a question for each key. Called without answers,
// it waits a while and returns the questions; called with answers, it returns how many there are.
func asks(keys ...string) func(context.Context, map[string]any) (tools.Result, error) {
	return func(ctx context.Context, _ map[string]any) (tools.Result, error) {
		answers := answersOf(ctx)
		if len(answers) == 0 {
			rest(ctx, slow)
			return question(keys...), nil
		}
		return tools.TextOf(fmt.Sprintf("%d answers", len(answers))), nil
	}
}

// question returns a result that asks the client's user one question for each key. The answers come
// back under these keys.
func question(keys ...string) tools.Result {
	asked := map[string]any{}
	for _, key := range keys {
		asked[key] = map[string]any{"method": "elicitation/create",
			"params": map[string]any{"mode": "form", "message": "Please say " + key,
				"requestedSchema": json.RawMessage(nameForm)}}
	}
	// it is JSON
	text, _ := json.Marshal(map[string]any{"resultType": "input_required", "inputRequests": asked})
	return tools.Result{Raw: text}
}

// answersOf returns the answers that a call carries, by their keys.
func answersOf(ctx context.Context) map[string]struct{ Content map[string]any } {
	var p struct {
		Answers map[string]struct{ Content map[string]any } `json:"inputResponses"`
	}
	if peer := tools.PeerOf(ctx); peer != nil {
		_ = json.Unmarshal(peer.Params, &p) // without any there are none
	}
	return p.Answers
}

// rest waits, at most until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
