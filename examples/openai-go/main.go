// Command openai-go asks a model for the weather, shows the tool call while it streams, runs the
// tool, and shows the answer. It uses nothing but a stock OpenAI client, and works as soon as
// toolnorm runs:
//
//	$ toolnorm &
//	$ go run ./examples/openai-go
//	I will use get_weather for this.
//
//	call: get_weather {"city": "Lisbon", "days": 3}
//	finish: tool_calls
//	result: Sun over Lisbon for 3 days.
//	The tool get_weather answered:
//
//	Sun over Lisbon for 3 days.
//
//	That is all I have to say.
//	finish: stop
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	openai "github.com/sashabaranov/go-openai"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:11435/v1", "where toolnorm serves")
	model := flag.String("model", "demo/hermes",
		"the model to ask; demo models need no model server")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *url, *model); err != nil {
		fmt.Fprintln(os.Stderr, "openai-go:", err)
		os.Exit(1)
	}
}

// weatherTool is what the model may call.
var weatherTool = openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
	Name:        "get_weather",
	Description: "Get the weather forecast of a city.",
	Parameters: json.RawMessage(`{"type":"object","required":["city","days"],"properties":{
		"city":{"type":"string"},"days":{"type":"integer"}}}`),
}}

// weather is the tool get_weather: it takes its arguments as JSON and returns its result. It
// returns an error if the arguments are invalid.
func weather(args string) (string, error) {
	var in struct {
		City string `json:"city"`
		Days int    `json:"days"`
	}
	if err := json.Unmarshal([]byte(args), &in); err != nil {
		return "", fmt.Errorf("arguments of get_weather: %w", err)
	}
	return fmt.Sprintf("Sun over %s for %d days.", in.City, in.Days), nil
}

// run asks the model a question, and answers its calls until a reply has none. It returns an error
// if a request fails or the arguments of a call are wrong.
func run(ctx context.Context, w io.Writer, url, model string) error {
	config := openai.DefaultConfig("no key needed")
	config.BaseURL = url
	client := openai.NewClientWithConfig(config)
	talk := []openai.ChatCompletionMessage{
		{Role: openai.ChatMessageRoleUser,
			Content: `What will the weather be in "Lisbon" for the next 3 days?`}}
	for {
		stream, err := client.CreateChatCompletionStream(ctx,
			openai.ChatCompletionRequest{Model: model, Messages: talk,
				Tools: []openai.Tool{weatherTool}})
		if err != nil {
			return err
		}
		reply, err := show(w, stream)
		if err != nil || len(reply.ToolCalls) == 0 {
			return err
		}
		talk = append(talk, reply)
		for _, call := range reply.ToolCalls {
			result, err := weather(call.Function.Arguments)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "result: %s\n", result)
			talk = append(talk, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool,
				ToolCallID: call.ID, Content: result})
		}
	}
}

// show prints a reply piece by piece, as it comes, and puts it together for the next turn.
func show(w io.Writer, stream *openai.ChatCompletionStream) (
	reply openai.ChatCompletionMessage, err error) {
	defer stream.Close()
	reply.Role = openai.ChatMessageRoleAssistant
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return reply, nil
		}
		if err != nil {
			return reply, err
		}
		choice := chunk.Choices[0]
		reply.Content += choice.Delta.Content
		fmt.Fprint(w, choice.Delta.Content)
		for _, piece := range choice.Delta.ToolCalls {
			if piece.ID != "" { // the first piece of a call
				reply.ToolCalls = append(reply.ToolCalls,
					openai.ToolCall{ID: piece.ID, Type: piece.Type})
				fmt.Fprintf(w, "\ncall: %s ", piece.Function.Name)
			}
			call := &reply.ToolCalls[*piece.Index]
			call.Function.Name += piece.Function.Name
			call.Function.Arguments += piece.Function.Arguments
			fmt.Fprint(w, piece.Function.Arguments)
		}
		if choice.FinishReason != "" {
			fmt.Fprintf(w, "\nfinish: %s\n", choice.FinishReason)
		}
	}
}
